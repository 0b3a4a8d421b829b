// What an operator should know about an etcd cluster that keeps locks.
#pragma once

#include <holdfast/claim.hpp>

#include "store/etcd/session.hpp"

#include <string>
#include <vector>

namespace holdfast::etcd {

// Of a version such as "3.4.23": a fault that ends leases, or nothing to say. Pure.
Finding finding_of_version(const std::string& place, const std::string& version);

// Asks every endpoint; `session` must live until `done` is called or it is closed.
void examine(Session& session, const Settings& settings, Instant by,
             UniqueFunction<void(std::vector<Finding>)> done);

}  // namespace holdfast::etcd
