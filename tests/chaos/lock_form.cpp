#include "tests/chaos/lock_form.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace holdfast::chaos {

namespace {

// A Mutex, or a SharedMutex as a writer.
template <class Lock>
class Exclusive final : public AnyLock {
 public:
  Exclusive(Client& client, const std::string& name, const LeaseOptions& options)
      : lock_(client, name, options) {}
  Lease acquire(const Wait& wait, std::error_code& ec) override { return lock_.acquire(wait, ec); }
  std::optional<Lease> try_acquire(std::error_code& ec) override { return lock_.try_acquire(ec); }
  Operation start_acquire(const Wait& wait, LeaseHandler handler) override {
    return lock_.start_acquire(wait, std::move(handler));
  }

 private:
  Lock lock_;
};
using Writer = Exclusive<SharedMutex>;

class Reader final : public AnyLock {
 public:
  Reader(Client& client, const std::string& name, const LeaseOptions& options)
      : mutex_(client, name, options) {}
  Lease acquire(const Wait& wait, std::error_code& ec) override {
    return mutex_.acquire_shared(wait, ec);
  }
  std::optional<Lease> try_acquire(std::error_code& ec) override {
    return mutex_.try_acquire_shared(ec);
  }
  Operation start_acquire(const Wait& wait, LeaseHandler handler) override {
    return mutex_.start_acquire_shared(wait, std::move(handler));
  }

 private:
  SharedMutex mutex_;
};

class Permits final : public AnyLock {
 public:
  Permits(Client& client, const std::string& name, const LeaseOptions& options,
          std::uint32_t permits)
      : semaphore_(client, name, 3, options), permits_(permits) {}
  Lease acquire(const Wait& wait, std::error_code& ec) override {
    return semaphore_.acquire(wait, ec, permits_);
  }
  std::optional<Lease> try_acquire(std::error_code& ec) override {
    return semaphore_.try_acquire(ec, permits_);
  }
  Operation start_acquire(const Wait& wait, LeaseHandler handler) override {
    return semaphore_.start_acquire(wait, std::move(handler), permits_);
  }

 private:
  Semaphore semaphore_;
  std::uint32_t permits_;
};

}  // namespace

const char* form_word(Form form) {
  constexpr const char* words[] = {"mutex", "writer", "reader", "permits"};
  return words[static_cast<std::size_t>(form)];
}

std::unique_ptr<AnyLock> make_lock(Client& client, const std::string& name, Form form, Part part,
                                   const LeaseOptions& options) {
  switch (form) {
    case Form::mutex:
      return std::make_unique<Exclusive<Mutex>>(client, name, options);
    case Form::writer:  // behind a reader
      if (part == Part::in_the_way) {
        return std::make_unique<Reader>(client, name, options);
      }
      return std::make_unique<Writer>(client, name, options);
    case Form::reader:  // behind a writer; another reader could come in beside it
      if (part == Part::tried) {
        return std::make_unique<Reader>(client, name, options);
      }
      return std::make_unique<Writer>(client, name, options);
    case Form::permits:
      return std::make_unique<Permits>(client, name, options, part == Part::alone ? 3 : 2);
  }
  throw std::logic_error{"no such form"};
}

Form OnEveryForm::form() const {
  const std::string word = GetParam().substr(GetParam().find('_') + 1);
  return *std::ranges::find_if(every_form, [&](Form form) { return word == form_word(form); });
}

std::vector<std::string> store_forms(std::string_view suite) {
  std::vector<std::string> all;
  for (const std::string& kind : store_kinds(suite)) {
    for (const Form form : every_form) {
      all.push_back(kind + "_" + form_word(form));
    }
  }
  return all;
}

}  // namespace holdfast::chaos
