// C09 in the command: times as text, and a renewal that is sent far too often.
#include "tests/chaos/command_test.hpp"
#include "tests/chaos/soak.hpp"

#include "client/stores.hpp"
#include "runtime/host.hpp"

#include <holdfast/holdfast.hpp>

namespace holdfast::test {
namespace {

class C09Run : public CommandTest {};

TEST_P(C09Run, TextFormsAreTakenOrRefused) {
  for (const auto& [ttl, code] :
       std::vector<std::pair<std::string, int>>{{"1.5s", 0},
                                                {"100ms", 0},
                                                {"2h", 0},
                                                {"7d", 0},
                                                {"0s", 64},
                                                {"0", 64},
                                                {"-1s", 64},
                                                {"10", 64},
                                                {"abc", 64},
                                                {"", 64},
                                                {"1s1", 64},
                                                {"1ns", 64},
                                                {"99ms", 64},
                                                {"999us", 64},
                                                {"1e3s", 64},
                                                {"inf", 64},
                                                {"nan", 64},
                                                {"99999999999d", 64},
                                                {"9007199254740992ms", 64}}) {
    Process child{run({"-q", "--ttl", ttl}, {"true"})};
    EXPECT_EQ(child.wait(), code) << "--ttl '" << ttl << "': " << child.err();
    if (code == 64) {
      EXPECT_NE(child.err(), "") << ttl;
    }
  }
  for (const auto& [wait, code] : std::vector<std::pair<std::string, int>>{{"0", 0},
                                                                           {"1000ms", 0},
                                                                           {"30d", 0},
                                                                           {"forever", 0},
                                                                           {"-1", 64},
                                                                           {"soon", 64},
                                                                           {"10", 64}}) {
    Process child{run({"-q", "--wait", wait}, {"true"})};
    EXPECT_EQ(child.wait(), code) << "--wait '" << wait << "': " << child.err();
  }
}

TEST_P(C09Run, WhatIsRefusedWroteNothing) {
  for (const std::string ttl : {"0s", "10", "abc"}) {
    Process child{run({"-q", "--ttl", ttl}, {"true"})};
    EXPECT_EQ(child.wait(), 64);
  }
  Process list{command({"ls", "--json"})};
  EXPECT_EQ(list.wait(), 0) << list.err();
  EXPECT_EQ(list.out().find("\"n\""), std::string::npos) << list.out();
}

// Twenty renewals of one TTL within a second leave one TTL, not twenty.
TEST_P(C09Run, RenewalsDoNotAddUp) {
  const Duration ttl = chaos::short_or_full<Duration>(2s, 10s);
  const auto stores = make_store_factory(url(), "");
  const auto host = make_host();
  Claim claim;
  claim.name = "n";
  claim.owner.bytes.fill(9);
  claim.ttl = ttl;
  claim.liveness = std::min<Duration>(ttl, 5s);
  Instant last{};
  {
    const auto lane = host->make_lane();
    const auto store = stores->open(*lane);
    bool granted = false;
    int renewed = 0;
    store->acquire(claim, Store::Queueing::no, [&](const AcquireReply& reply) {
      granted = std::holds_alternative<Granted>(reply);
    });
    lane->run_until([&] { return granted; });
    for (int i = 1; i <= 20; ++i) {
      store->renew({&claim, 1}, [&](const std::vector<RenewReply>& replies) {
        renewed += std::holds_alternative<Renewed>(replies.at(0)) ? 1 : 0;
      });
      lane->run_until([&] { return renewed == i; });
      last = BootClock::now();
    }
    store->close();
  }  // nobody renews or releases it any more
  Client client{url()};
  const Lease next = Mutex{client, "n"}.acquire({.timeout = 30s});
  const Duration took = BootClock::now() - last;
  EXPECT_LE(took, ttl + 500ms);
  EXPECT_GE(took, ttl - 250ms);
  chaos::figure("C09 ", GetParam(), ": free_after_ms=", chaos::ms(took));
}

INSTANTIATE_TEST_SUITE_P(Stores, C09Run, command_stores, store_name);

}  // namespace
}  // namespace holdfast::test
