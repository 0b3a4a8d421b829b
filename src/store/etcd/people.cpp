// What people ask: who holds a name, which names there are, take it away, is the cluster well.
#include <holdfast/error.hpp>

#include "store/etcd/attempt.hpp"
#include "store/etcd/doctor.hpp"
#include "store/etcd/people_clock.hpp"

#include <algorithm>
#include <map>

namespace holdfast::etcd {

namespace {

constexpr std::int64_t page_size = 500;  // keys

NameView view_of(const std::string& name, std::vector<Contender> contenders) {
  std::ranges::sort(contenders, {}, &Contender::create_revision);
  NameView view;
  view.name = name;
  const std::int64_t now_ms = unix_ms();
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (i == 0) {
      view.holders.push_back(holder_of(contenders[i], now_ms));
      view.last_fence = view.holders.front().fence;
    } else {
      view.waiters.push_back(waiter_of(contenders[i], now_ms));
    }
  }
  return view;
}

Page page_of(const rpc::RangeResponse& answer, const Keys& keys) {
  std::map<std::string, std::vector<Contender>> names;
  std::string last;
  for (const rpc::KeyValue& entry : answer.kvs()) {
    if (const auto name = keys.name_of(entry.key())) {
      names[*name].push_back(contender_of(entry));
      last = *name;
    }
  }
  Page page;
  if (answer.more()) {
    page.next_cursor = answer.kvs(answer.kvs_size() - 1).key() + '\0';
    if (names.size() > 1) {  // the last one may go on behind the page: it comes with the next
      page.next_cursor = keys.folder(last);
      names.erase(last);
    }
  }
  for (auto& [name, contenders] : names) {
    page.names.push_back(view_of(name, std::move(contenders)));
  }
  return page;
}

}  // namespace

void EtcdStore::inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) {
  const Instant by = deadline();
  session_->range(
      all_in(settings_->keys.folder(name)), by,
      [this, name, by, done = std::move(done)](const grpc::Status& status,
                                               const rpc::RangeResponse& answer) mutable {
        if (!status.ok()) {
          done(failed(status));
          return;
        }
        std::vector<Contender> contenders;
        for (const rpc::KeyValue& entry : answer.kvs()) {
          if (settings_->keys.name_of(entry.key())) {
            contenders.push_back(contender_of(entry));
          }
        }
        NameView view = view_of(name, contenders);
        if (view.holders.empty()) {
          done(std::move(view));
          return;
        }
        const std::int64_t lease =
            std::ranges::min_element(contenders, {}, &Contender::create_revision)->lease;
        session_->time_to_live(lease, by,
                               [view = std::move(view), done = std::move(done)](
                                   const grpc::Status& why, const auto& left) mutable {
                                 if (why.ok()) {
                                   view.holders.front().ttl_left =
                                       std::chrono::seconds{std::max<std::int64_t>(0, left.ttl())};
                                 }
                                 done(std::move(view));
                               });
      });
}

void EtcdStore::list(const std::string& prefix, const std::string& cursor,
                     UniqueFunction<void(ListReply)> done) {
  const std::string start = settings_->keys.start_of(prefix);
  rpc::RangeRequest request;
  request.set_key(cursor.empty() ? (start.empty() ? std::string(1, '\0') : start) : cursor);
  request.set_range_end(end_of(start));
  request.set_limit(page_size);
  session_->range(std::move(request), deadline(),
                  [this, done = std::move(done)](const grpc::Status& status,
                                                 const rpc::RangeResponse& answer) mutable {
                    if (status.ok()) {
                      done(page_of(answer, settings_->keys));
                    } else {
                      done(failed(status));
                    }
                  });
}

void EtcdStore::break_name(const std::string& name, BreakMode mode,
                           UniqueFunction<void(BreakReply)> done) {
  const Instant by = deadline();
  session_->range(
      first_in(settings_->keys.folder(name)), by,
      [this, mode, by, done = std::move(done)](const grpc::Status& status,
                                               const rpc::RangeResponse& answer) mutable {
        if (!status.ok()) {
          done(failed(status));
          return;
        }
        if (answer.kvs().empty()) {
          done(BreakDone{});
          return;
        }
        Contender first = contender_of(answer.kvs(0));
        if (mode == BreakMode::ask_holder && !first.record) {
          done(Failed{errc::unsupported, false,
                      "another program of etcd's lock format holds it and cannot be asked; take it "
                      "away at once, or end that program"});
          return;
        }
        rpc::TxnRequest request;
        *request.add_compare() = unchanged_since(first.key, first.mod_revision);
        if (mode == BreakMode::now) {
          *request.add_success() = remove(first.key);
        } else {
          first.record->state = Record::State::broken;
          *request.add_success() = put_again(first.key, *first.record);
        }
        session_->txn(std::move(request), by,
                      [this, first, done = std::move(done)](const grpc::Status& why,
                                                            const rpc::TxnResponse& hit) mutable {
                        if (!why.ok()) {
                          done(failed(why));
                        } else if (!hit.succeeded()) {
                          done(Failed{errc::store_unavailable, false,
                                      "the holder changed meanwhile; look again"});
                        } else {
                          done(BreakDone{{holder_of(first, unix_ms())}});
                        }
                      });
      });
}

void EtcdStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  examine(*session_, *settings_, deadline(), std::move(done));
}

}  // namespace holdfast::etcd
