#include <holdfast/client.hpp>

#include "engine/client_core.hpp"

namespace holdfast {

namespace {

template <class Value, class Reply>
Value value_of(Reply reply) {
  if (auto* failed = std::get_if<Failed>(&reply)) {
    throw Error{failed->code, failed->detail};
  }
  return std::get<Value>(std::move(reply));
}

void require_name(const std::string& name) {
  if (const std::string why = why_invalid_name(name); !why.empty()) {
    throw Error{errc::invalid_name, "the name " + why};
  }
}

}  // namespace

Client::Client(std::shared_ptr<StoreFactory> stores, std::shared_ptr<Host> host,
               ClientOptions options)
    : core_(std::make_shared<detail::ClientCore>(std::move(stores), std::move(host),
                                                 std::move(options))) {}

Client::~Client() { close(); }

Capabilities Client::capabilities() const { return core_->capabilities(); }

Counters Client::counters() const { return core_->counters(); }

std::string Client::url() const { return core_->stores().url(); }

NameView Client::inspect(const std::string& name) {
  require_name(name);
  return value_of<NameView>(core_->ask_store<InspectReply>(
      [&](Store& store, auto done) { store.inspect(name, std::move(done)); }));
}

Page Client::list(const std::string& prefix, const std::string& cursor) {
  return value_of<Page>(core_->ask_store<ListReply>(
      [&](Store& store, auto done) { store.list(prefix, cursor, std::move(done)); }));
}

BreakDone Client::break_name(const std::string& name, BreakMode mode) {
  require_name(name);
  return value_of<BreakDone>(core_->ask_store<BreakReply>(
      [&](Store& store, auto done) { store.break_name(name, mode, std::move(done)); }));
}

std::vector<Finding> Client::diagnose() {
  return core_->ask_store<std::vector<Finding>>(
      [](Store& store, auto done) { store.diagnose(std::move(done)); });
}

void Client::close() noexcept { core_->close(); }

}  // namespace holdfast
