// holdfast/function.hpp: a move-only std::function. std::move_only_function is C++23; this is the
// small part of it that holdfast needs.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace holdfast {

template <class Signature>
class UniqueFunction;

// Calling an empty UniqueFunction is undefined; test it first where it may be empty.
template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() noexcept = default;

  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, UniqueFunction> &&
           std::is_invocable_r_v<R, F&, Args...>)
      UniqueFunction(F target)  // implicit, as std::function is
      : target_(std::make_unique<Model<F>>(std::move(target))) {}

  R operator()(Args... args) { return target_->call(std::forward<Args>(args)...); }
  explicit operator bool() const noexcept { return target_ != nullptr; }

 private:
  struct Concept {
    Concept() = default;
    Concept(const Concept&) = delete;
    Concept& operator=(const Concept&) = delete;
    virtual ~Concept() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct Model final : Concept {
    explicit Model(F target) : function(std::move(target)) {}
    R call(Args... args) override { return std::invoke(function, std::forward<Args>(args)...); }
    F function;
  };
  std::unique_ptr<Concept> target_{};
};

}  // namespace holdfast
