// What went wrong at etcd, in the words and codes of the store.
#pragma once

#include <holdfast/claim.hpp>

#include <grpcpp/support/status.h>

#include <string>

namespace holdfast::etcd {

Failed why_failed(const std::string& place, const grpc::Status& status);

}  // namespace holdfast::etcd
