#include "store/memory/memory_store.hpp"

#include "store/memory/lock_table.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast {

namespace {

constexpr std::size_t page_size = 200;

// Where the listening stores of a place are told. A store that is gone is not told.
struct Ear {
  Runtime* runtime = nullptr;
  UniqueFunction<void(const StoreEvent&)> listener{};
};

// What the stores of one memory:NAME share. Thread-safe.
class MemoryPlace {
 public:
  template <class Step>
  auto run(Step step) {
    const std::lock_guard lock{mutex_};
    LockTable::Notices notices;
    auto result = step(table_, reading(), notices);
    for (const StoreEvent& notice : notices) {
      tell(notice);
    }
    return result;
  }

  void add(const std::shared_ptr<Ear>& ear) {
    const std::lock_guard lock{mutex_};
    ears_.push_back(ear);
  }
  void remove(const std::shared_ptr<Ear>& ear) {
    const std::lock_guard lock{mutex_};
    std::erase(ears_, ear);
  }

 private:
  static LockTable::Reading reading() {
    using std::chrono::duration_cast;
    const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
    return {BootClock::now(), duration_cast<std::chrono::microseconds>(unix_time).count()};
  }

  // An ear's runtime outlives the ear's place in the list, so posting to it is safe here.
  void tell(const StoreEvent& notice) {
    for (const std::shared_ptr<Ear>& ear : ears_) {
      ear->runtime->post([weak = std::weak_ptr{ear}, notice] {
        if (const auto alive = weak.lock()) {
          alive->listener(notice);
        }
      });
    }
  }

  std::mutex mutex_{};
  LockTable table_{};
  std::vector<std::shared_ptr<Ear>> ears_{};
};

class MemoryStore final : public Store {
 public:
  MemoryStore(Runtime& runtime, std::shared_ptr<MemoryPlace> place)
      : runtime_(runtime), place_(std::move(place)) {}
  ~MemoryStore() override { close(); }
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  Capabilities capabilities() const override {
    return {.queue = true,
            .wake_ups = true,
            .shared = true,
            .permits = true,
            .at_once = true,
            .runs = true,
            .values = true};
  }

  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override {
    answer(std::move(done), place_->run([&](LockTable& table, auto at, auto& notices) {
      return table.acquire(claim, queueing, at, notices);
    }));
  }

  void acquire_all(std::span<const Claim> claims,
                   UniqueFunction<void(AcquireAllReply)> done) override {
    answer(std::move(done), place_->run([&](LockTable& table, auto at, auto& notices) {
      return table.acquire_all(claims, at, notices);
    }));
  }

  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override {
    answer(std::move(done), place_->run([&](LockTable& table, auto at, auto& notices) {
      std::vector<RenewReply> replies;
      for (const Claim& claim : claims) {
        replies.push_back(table.renew(claim, at, notices));
      }
      return replies;
    }));
  }

  void amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) override {
    answer(std::move(done), place_->run([&](LockTable& table, auto at, auto& notices) {
      return table.amend(claim, at, notices);
    }));
  }

  void withdraw(const Claim& claim, WithdrawOptions options,
                UniqueFunction<void(WithdrawReply)> done) override {
    answer(std::move(done), place_->run([&](LockTable& table, auto at, auto& notices) {
      return table.withdraw(claim, options, at, notices);
    }));
  }

  void listen(UniqueFunction<void(const StoreEvent&)> listener) override {
    ear_ = std::make_shared<Ear>(Ear{&runtime_, std::move(listener)});
    place_->add(ear_);
  }

  void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) override {
    answer<InspectReply>(std::move(done), place_->run([&](LockTable& table, auto at, auto&) {
      return table.inspect(name, at);
    }));
  }

  void list(const std::string& prefix, const std::string& cursor,
            UniqueFunction<void(ListReply)> done) override {
    answer<ListReply>(std::move(done), place_->run([&](LockTable& table, auto at, auto&) {
      return table.list(prefix, cursor, page_size, at);
    }));
  }

  void break_name(const std::string& name, BreakMode mode,
                  UniqueFunction<void(BreakReply)> done) override {
    answer<BreakReply>(std::move(done), place_->run([&](LockTable& table, auto at, auto& notices) {
      return table.break_name(name, mode, at, notices);
    }));
  }

  void diagnose(UniqueFunction<void(std::vector<Finding>)> done) override {
    answer(std::move(done),
           std::vector<Finding>{{Finding::Level::note, "memory: locks within this process only",
                                 "use sqlite:// for one host, redis:// across hosts"}});
  }

  void close() noexcept override {
    if (ear_) {
      place_->remove(std::exchange(ear_, nullptr));
    }
    alive_.reset();
  }

 private:
  template <class Reply>
  void answer(UniqueFunction<void(Reply)> done, Reply reply) {
    runtime_.post([weak = std::weak_ptr{alive_}, handler = std::move(done),
                   value = std::move(reply)]() mutable {
      if (weak.lock()) {
        handler(std::move(value));
      }
    });
  }

  Runtime& runtime_;
  std::shared_ptr<MemoryPlace> place_;
  std::shared_ptr<Ear> ear_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

class MemoryFactory final : public StoreFactory {
 public:
  MemoryFactory(std::string name, std::shared_ptr<MemoryPlace> place)
      : name_(std::move(name)), place_(std::move(place)) {}
  std::unique_ptr<Store> open(Runtime& runtime) override {
    return std::make_unique<MemoryStore>(runtime, place_);
  }
  std::string url() const override { return "memory:" + name_; }

 private:
  std::string name_;
  std::shared_ptr<MemoryPlace> place_;
};

// A named place lives as long as somebody uses it.
std::shared_ptr<MemoryPlace> place_named(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<MemoryPlace>> places;
  const std::lock_guard lock{mutex};
  std::weak_ptr<MemoryPlace>& known = places[name];
  std::shared_ptr<MemoryPlace> place = known.lock();
  if (!place) {
    place = std::make_shared<MemoryPlace>();
    known = place;
  }
  return place;
}

}  // namespace

std::shared_ptr<StoreFactory> make_memory_factory(const std::string& name) {
  return std::make_shared<MemoryFactory>(
      name, name.empty() ? std::make_shared<MemoryPlace>() : place_named(name));
}

}  // namespace holdfast
