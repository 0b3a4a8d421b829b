// Where a name stands in etcd's key space, and which leases an attempt at it has. Pure.
//
//   Keys keys{"prod/"};
//   keys.contender("job", lease_id);  // "prod/job/694d5765fc71500b", as `etcdctl lock` writes it
//
// `etcdctl lock NAME` and the Go concurrency package take every key under "NAME/" for a contender,
// so no name of ours may stand under another's: a slash in a name is written %2F, a percent sign
// %25. All other names are the same for those programs. What is no contender stands under "%",
// where no name can.
#pragma once

#include <holdfast/claim.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::etcd {

class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string contender(const std::string& name, std::int64_t lease) const;
  std::string folder(const std::string& name) const;  // the start of all its contenders
  std::string tombstone(const OwnerId& owner) const;
  std::string start_of(const std::string& name_prefix) const;  // of all names that begin so
  // The name whose contender this is; nothing if it is none, as with keys of other programs.
  std::optional<std::string> name_of(std::string_view key) const;

 private:
  std::string prefix_;
};

// The end of the range of all keys that start with `start`, in etcd's sense.
std::string end_of(std::string start);

// The lease of an attempt while it waits and the one while it holds: chosen by us, out of the
// random owner, so that a request that is sent twice has its effect once. Positive.
std::int64_t waiting_lease(const OwnerId& owner);
std::int64_t holding_lease(const OwnerId& owner);

// etcd counts leases in whole seconds, at most 9 000 000 000.
std::int64_t whole_seconds(Duration time);

}  // namespace holdfast::etcd
