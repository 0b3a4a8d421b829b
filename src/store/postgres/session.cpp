#include "store/postgres/session.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "runtime/event_loop.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/schema_sql.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace holdfast::postgres {

namespace {

// A pooler has process ids of its own. prosrc is "SELECT 1" for version 1: reading it needs no
// right to call it.
constexpr const char* probe_sql =
    "SELECT pg_backend_pid(), pg_is_in_recovery(), "
    "CASE WHEN to_regnamespace('holdfast') IS NULL THEN 0 "
    "WHEN NOT has_schema_privilege('holdfast', 'USAGE') THEN -1 ELSE 1 END, "
    "(SELECT split_part(p.prosrc, ' ', 2) FROM pg_proc AS p JOIN pg_namespace AS n "
    "ON n.oid = p.pronamespace WHERE n.nspname = 'holdfast' AND p.proname = 'lock_version')";

constexpr Duration attempt_min = std::chrono::milliseconds{250};

// Two installed at once, in transactions that see an older state of things (REPEATABLE READ).
bool somebody_was_faster(const Trouble& trouble) {
  return trouble.sqlstate == "42P06" || trouble.sqlstate == "42P07" ||
         trouble.sqlstate == "42710" || trouble.sqlstate == "42723" ||
         trouble.sqlstate == "23505" || is_collision(trouble);
}

std::string numeric(const net::SocketAddress& address) {
  std::array<char, NI_MAXHOST> text{};
  const int failed = getnameinfo(address.data(), address.size(), text.data(), text.size(), nullptr,
                                 0, NI_NUMERICHOST);
  return failed == 0 ? text.data() : "";
}

}  // namespace

std::shared_ptr<Session> Session::start(EventLoop& loop, const Plan& plan, Events events) {
  auto session = std::make_shared<Session>(ByStart{}, loop, plan, std::move(events));
  loop.post([weak = std::weak_ptr(session)] {
    if (const auto self = weak.lock(); self && !self->closed_) {
      self->resolve_next();
    }
  });
  return session;
}

Session::Session(ByStart, EventLoop& loop, const Plan& plan, Events events)
    : loop_(loop),
      plan_(plan),
      events_(std::move(events)),
      give_up_at_(loop.now() + plan.timeout) {}

Session::~Session() { close(); }

void Session::close() noexcept {
  closed_ = true;
  ready_ = false;
  loop_.cancel(std::exchange(timer_, 0));
  resolver_.reset();
  descriptor_.reset();
  done_ = {};
  if (connection_ && !made_here_) {
    // A forked child must not say good-bye on a socket that is its parent's too.
    struct Kept {
      std::unique_ptr<PGconn, Finish> connection;
      Kept* next_abandoned = nullptr;
    };
    abandon(std::make_unique<Kept>(std::move(connection_)));
  }
  connection_.reset();
}

int Session::server_version() const { return PQserverVersion(connection_.get()); }

// ---- connecting --------------------------------------------------------------------------------

void Session::resolve_next() {
  const auto& hosts = plan_.target->hosts;
  while (resolved_ < hosts.size() &&
         (hosts[resolved_].is_socket() || net::is_ip_literal(hosts[resolved_].name))) {
    const Target::Host& host = hosts[resolved_++];
    candidates_.push_back({host, host.is_socket() ? "" : host.name});
  }
  if (resolved_ == hosts.size()) {
    try_next();
    return;
  }
  const Target::Host& host = hosts[resolved_++];
  loop_.cancel(std::exchange(timer_, 0));
  timer_ = loop_.call_at(give_up_at_, [self = shared_from_this()] {
    self->timer_ = 0;
    self->resolver_.reset();
    self->try_next();
  });
  resolver_ = std::make_unique<net::Resolver>(loop_, "");
  resolver_->resolve(host.name, host.port,
                     [self = shared_from_this(), host](const net::StreamError& error,
                                                       const net::Addresses& addresses) {
                       for (const net::SocketAddress& address : addresses) {
                         self->candidates_.push_back({host, numeric(address)});
                       }
                       if (addresses.empty()) {
                         self->last_failure_ =
                             Failed{errc::store_unavailable, false,
                                    self->plan_.target->text() + ": " + error.detail};
                       }
                       self->loop_.post([self] {
                         if (!self->closed_) {
                           self->resolver_.reset();
                           self->resolve_next();
                         }
                       });
                     });
}

void Session::try_next() {
  loop_.cancel(std::exchange(timer_, 0));
  descriptor_.reset();
  connection_.reset();
  const Instant now = loop_.now();
  if (tried_ == candidates_.size() || now >= give_up_at_) {
    fail(last_failure_.value_or(
        Failed{errc::store_unavailable, false,
               plan_.target->text() + ": no connection within " + duration_text(plan_.timeout)}));
    return;
  }
  const auto left = static_cast<std::int64_t>(candidates_.size() - tried_);
  const Candidate& candidate = candidates_[tried_++];
  address_ = candidate.host.is_socket()
                 ? "local socket " + candidate.host.name
                 : candidate.host.name + ":" + std::to_string(candidate.host.port);
  const std::string port = std::to_string(candidate.host.port);
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  const auto add = [&](const char* keyword, const std::string& value) {
    keywords.push_back(keyword);
    values.push_back(value.c_str());
  };
  if (!candidate.host.name.empty()) {
    add("host", candidate.host.name);
    add("port", port);
  }
  if (!candidate.address.empty()) {
    add("hostaddr", candidate.address);
  }
  for (const auto& [keyword, value] : plan_.target->settings) {
    add(keyword.c_str(), value);
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  timer_ = loop_.call_at(
      now + std::max((give_up_at_ - now) / left, attempt_min), [self = shared_from_this()] {
        self->timer_ = 0;
        self->last_failure_ = Failed{
            errc::store_unavailable, false,
            "PostgreSQL at " + self->address_ + " does not answer: check that it runs there"};
        self->try_next();
      });
  connection_.reset(PQconnectStartParams(keywords.data(), values.data(), 0));
  if (!connection_ || PQstatus(connection_.get()) == CONNECTION_BAD) {
    give_up_candidate();
    return;
  }
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  watch(PGRES_POLLING_WRITING);
}

void Session::give_up_candidate() {
  last_failure_ = why_refused("PostgreSQL at " + address_, PQerrorMessage(connection_.get()));
  try_next();
}

// libpq may have taken another socket, under the same number even.
void Session::watch(PostgresPollingStatusType wants) {
  descriptor_ = std::make_unique<Descriptor>(loop_, PQsocket(connection_.get()),
                                             Descriptor::Closing::callers);
  descriptor_->on_readable([this] { poll(); });
  descriptor_->on_writable([this] { poll(); });
  if (wants == PGRES_POLLING_READING) {
    descriptor_->await_readable();
  } else {
    descriptor_->await_writable();
  }
}

void Session::poll() {
  const auto self = shared_from_this();
  descriptor_.reset();
  const PostgresPollingStatusType wants = PQconnectPoll(connection_.get());
  if (wants == PGRES_POLLING_FAILED) {
    give_up_candidate();
  } else if (wants == PGRES_POLLING_OK) {
    PQsetnonblocking(connection_.get(), 1);
    descriptor_ = std::make_unique<Descriptor>(loop_, PQsocket(connection_.get()),
                                               Descriptor::Closing::callers);
    descriptor_->on_readable([this] { on_readable(); });
    descriptor_->on_writable([this] { flush(); });
    descriptor_->await_readable();
    probe();
  } else {
    watch(wants);
  }
}

void Session::probe() {
  ready_ = true;  // for run()
  const bool sent =
      run({probe_sql, {}, false}, [this](Outcome outcome) { on_probed(std::move(outcome)); });
  ready_ = false;
  if (!sent) {
    give_up_candidate();
  }
}

void Session::on_probed(Outcome outcome) {
  ready_ = false;
  if (const auto* trouble = std::get_if<Trouble>(&outcome)) {
    last_failure_ = why_failed("PostgreSQL at " + address_, *trouble);
    last_failure_->code = last_failure_->code == errc::outcome_unknown ? errc::store_unavailable
                                                                       : last_failure_->code;
    last_failure_->may_have_had_effect = false;
    try_next();
    return;
  }
  const Table& table = std::get<Table>(outcome);
  pooled_ = table.integer(0, 0) != PQbackendPID(connection_.get());
  if (table.text(0, 1) == "t") {
    last_failure_ =
        Failed{errc::store_unavailable, false,
               "PostgreSQL at " + address_ +
                   " is a standby, which cannot lock: name the primary, or all of them"};
    try_next();
    return;
  }
  if (pooled_ && plan_.refuse_poolers) {
    fail(
        {errc::unsupported, false,
         "PostgreSQL at " + address_ +
             ": a pooler (PgBouncer) stands between and hands statements to sessions of its "
             "choice, so mode=advisory cannot hold a lock there: connect to the server itself, use "
             "mode=lease, or say pooler=session if it pools whole sessions"});
    return;
  }
  const std::int64_t version = table.integer(0, 3);
  if (!plan_.install || (table.integer(0, 2) > 0 && version == schema_version)) {
    set_up();
  } else {
    install();  // it also says what stands in its way
  }
}

void Session::install() {
  ready_ = true;
  run({install_sql(), {}, true}, [this](Outcome outcome) {
    ready_ = false;
    const auto* trouble = std::get_if<Trouble>(&outcome);
    if (trouble == nullptr) {
      set_up();
    } else if (somebody_was_faster(*trouble)) {
      probe();
    } else {
      last_failure_ = why_failed("PostgreSQL at " + address_, *trouble);
      last_failure_->may_have_had_effect = false;
      fail(*last_failure_);
    }
  });
  ready_ = false;
}

void Session::set_up() {
  if (plan_.setup == nullptr) {
    become_ready();
    return;
  }
  ready_ = true;
  run({plan_.setup, {}, true}, [this](Outcome outcome) {
    ready_ = false;
    if (const auto* trouble = std::get_if<Trouble>(&outcome)) {
      fail(why_failed("PostgreSQL at " + address_, *trouble));
      return;
    }
    become_ready();
  });
  ready_ = false;
}

void Session::become_ready() {
  loop_.cancel(std::exchange(timer_, 0));
  ready_ = true;
  events_.ready();
}

void Session::fail(Failed why) {
  const auto self = shared_from_this();
  close();
  if (events_.failed) {
    auto failed = std::move(events_.failed);
    failed(why);
  }
}

}  // namespace holdfast::postgres
