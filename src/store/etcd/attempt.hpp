// One acquire under way.
#pragma once

#include "store/etcd/etcd_store.hpp"

#include <utility>

namespace holdfast::etcd {

struct EtcdStore::Attempt {
  Attempt(Claim its_claim, Queueing how, Instant until, UniqueFunction<void(AcquireReply)> handler)
      : claim(std::move(its_claim)), queueing(how), by(until), done(std::move(handler)) {}

  Claim claim;
  Queueing queueing;
  Instant by;
  UniqueFunction<void(AcquireReply)> done;
  std::int64_t seconds = 0;  // of the holding lease, as etcd granted it; 0: there is none yet
};

// How long etcd keeps the record without a word.
Duration kept_for(const Claim& claim);

}  // namespace holdfast::etcd
