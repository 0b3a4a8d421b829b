// The forms in which a case asks for the same thing: a Mutex, a writer, a reader, permits of a
// semaphore. Of each form there is who is in the way, who is tried, and who can only come in when
// neither is inside any more.
//
//   class C02 : public OnEveryForm {};
//   TEST_P(C02, …) { auto b = make_lock(*client, "job", form(), Part::tried, {.ttl = 60s}); … }
//   CASE_ON_EVERY_FORM(C02);
#pragma once

#include <holdfast/holdfast.hpp>

#include "tests/chaos/test_store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::chaos {

enum class Form : std::uint8_t { mutex, writer, reader, permits };
enum class Part : std::uint8_t { in_the_way, tried, alone };

inline constexpr Form every_form[] = {Form::mutex, Form::writer, Form::reader, Form::permits};
const char* form_word(Form form);

// One form of asking, with the face of Mutex.
class AnyLock {
 public:
  AnyLock() = default;
  AnyLock(const AnyLock&) = delete;
  AnyLock& operator=(const AnyLock&) = delete;
  virtual ~AnyLock() = default;

  virtual Lease acquire(const Wait& wait, std::error_code& ec) = 0;
  virtual std::optional<Lease> try_acquire(std::error_code& ec) = 0;
  virtual Operation start_acquire(const Wait& wait, LeaseHandler handler) = 0;

  Lease acquire(const Wait& wait = {}) {
    std::error_code ec;
    Lease lease = acquire(wait, ec);
    if (ec) {
      throw Error{ec, "acquire"};
    }
    return lease;
  }
};

std::unique_ptr<AnyLock> make_lock(Client& client, const std::string& name, Form form, Part part,
                                   const LeaseOptions& options);

// Parameters are "redis_mutex", "redis_reader", …
class OnEveryForm : public OnEveryStore {
 protected:
  Form form() const;
};

std::vector<std::string> store_forms(std::string_view suite);

}  // namespace holdfast::chaos

#define CASE_ON_EVERY_FORM(suite)                                                                \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(::holdfast::chaos::store_forms(#suite)), \
                           ::holdfast::chaos::kind_name)
