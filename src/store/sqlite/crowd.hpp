// What the stores of one factory share: the file they all mean, whom wake-ups concern, and which
// of the stores listens for them. Thread-safe.
#pragma once

#include "store/sqlite/lock_file.hpp"

#include <holdfast/runtime.hpp>
#include <holdfast/types.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace holdfast::sqlite {

// A store that delivers events. Called on its runtime's thread.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  virtual void start_listening() = 0;
};

class Crowd {
 public:
  // The file that was used first; whoever comes later must meet the same, or it was replaced.
  struct Known {
    FileId place{};
    std::string file_id{};  // an inode number can be used again, this cannot
    bool operator==(const Known&) const = default;
  };
  std::optional<Known> known_file() const;
  // False if another one is known.
  bool agrees_on(const Known& file);

  void note_waiter(const OwnerId& owner);
  void note_holder(const OwnerId& owner);
  void forget(const OwnerId& owner);
  void forget_holder(const OwnerId& owner);  // not if it waits
  bool concerns(const OwnerId& owner) const;
  bool has_waiters() const;

  // `runtime` must be valid until drop_listener().
  void set_listener(Runtime& runtime, std::weak_ptr<Listener> listener);
  void drop_listener(const Runtime& runtime);
  // Makes the listening store look for wake-ups from now on. True if there is one.
  bool rouse_listener();

 private:
  mutable std::mutex mutex_{};
  std::optional<Known> file_{};
  std::unordered_map<OwnerId, bool> owners_{};  // true: it waits
  std::size_t waiters_ = 0;
  Runtime* runtime_ = nullptr;
  std::weak_ptr<Listener> listener_{};
};

}  // namespace holdfast::sqlite
