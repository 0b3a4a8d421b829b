// The pure parts of the etcd store: keys, records, whose turn it is, which endpoint, which version.
#include "base/store_url.hpp"
#include "store/etcd/doctor.hpp"
#include "store/etcd/endpoints.hpp"
#include "store/etcd/errors.hpp"
#include "store/etcd/requests.hpp"
#include "store/etcd/settings.hpp"

#include <holdfast/error.hpp>

#include <gtest/gtest.h>

#include <set>

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

OwnerId owner_of(std::uint8_t first, std::uint8_t second = 7) {
  OwnerId owner;
  owner.bytes.fill(second);
  owner.bytes[0] = first;
  return owner;
}

TEST(EtcdKeys, AreThoseOfEtcdctl) {
  const Keys keys{"p/"};
  EXPECT_EQ(keys.contender("job", 0x694d5765fc71500b), "p/job/694d5765fc71500b");
  EXPECT_EQ(keys.contender("job", 0x4d), "p/job/4d");
  EXPECT_EQ(keys.name_of("p/job/4d"), "job");
}

TEST(EtcdKeys, NoNameIsAFolderOfAnother) {
  const Keys keys{""};
  const std::vector<std::string> names{"a", "a/b", "a/b/c", "a%2Fb", "%", "%withdrawn", "a/"};
  std::set<std::string> folders;
  for (const std::string& name : names) {
    const std::string folder = keys.folder(name);
    EXPECT_TRUE(folders.insert(folder).second) << name;
    EXPECT_EQ(keys.name_of(keys.contender(name, 5)), name);
    for (const std::string& other : names) {
      const std::string key = keys.contender(other, 5);
      EXPECT_EQ(key >= folder && key < end_of(folder), name == other) << name << " " << other;
    }
    EXPECT_FALSE(keys.tombstone(owner_of(1)).starts_with(folder));
  }
}

TEST(EtcdKeys, OtherKeysAreNoContenders) {
  const Keys keys{"p/"};
  for (const char* key : {"job/4d", "p/job", "p/job/", "p/job/xyz", "p/a/b/4d", "p//4d",
                          "p/job/11112222333344445", "p/%withdrawn/4d"}) {
    EXPECT_FALSE(keys.name_of(key)) << key;
  }
}

TEST(EtcdKeys, EveryOwnerHasTwoLeases) {
  const OwnerId owner = owner_of(1, 2);
  EXPECT_GT(waiting_lease(owner), 0);
  EXPECT_GT(holding_lease(owner), 0);
  EXPECT_NE(waiting_lease(owner), holding_lease(owner));
  EXPECT_GT(waiting_lease(owner_of(0xFF, 0xFF)), 0);
  EXPECT_EQ(waiting_lease(OwnerId{}), 1) << "0 would let etcd choose";
}

TEST(EtcdKeys, SecondsRoundUp) {
  EXPECT_EQ(whole_seconds(1ms), 1);
  EXPECT_EQ(whole_seconds(2s), 2);
  EXPECT_EQ(whole_seconds(2s + 1ns), 3);
  EXPECT_EQ(end_of("a\xFF"), "b");
}

TEST(EtcdRecord, SaysTheSameWhenReadBack) {
  Record record;
  record.owner = owner_of(3);
  record.state = Record::State::broken;
  record.ttl_ms = 30000;
  record.since_ms = 1;
  record.who = {"h\nost", 42, "nightly % run"};
  record.value = "a\nb\0c";
  EXPECT_EQ(Record::parse(record.text()), record);
  EXPECT_FALSE(Record::parse(""));
  EXPECT_FALSE(Record::parse("holdfast 2\n"));
  EXPECT_FALSE(Record::parse(record.text().substr(0, 60)));
}

Contender contender(const OwnerId& owner, std::int64_t turn, Record::State state,
                    std::int64_t lease) {
  Contender made{"k", turn, turn, lease, Record{}};
  made.record->owner = owner;
  made.record->state = state;
  return made;
}

TEST(EtcdStanding, AGrantNeedsOurTurnOurKeyAndOurLease) {
  const OwnerId us = owner_of(1);
  const OwnerId them = owner_of(2);
  const auto held = Record::State::held;
  const auto waits = Record::State::waiting;
  const Contender ours = contender(us, 5, held, holding_lease(us));
  EXPECT_EQ(standing_of({ours, ours, {}, false}, us), Standing::holds);
  EXPECT_EQ(standing_of({ours, ours, {}, true}, us), Standing::withdrawn);
  EXPECT_EQ(standing_of({}, us), Standing::absent);
  const Contender before = contender(them, 4, held, 1);
  EXPECT_EQ(standing_of({before, ours, {}, false}, us), Standing::behind);
  EXPECT_EQ(standing_of({before, before, {}, false}, us), Standing::absent) << "not our key";
  const Contender foreign{"k", 5, 5, 1, std::nullopt};
  EXPECT_EQ(standing_of({foreign, foreign, {}, false}, us), Standing::absent);
  const Contender other_lease = contender(us, 5, held, waiting_lease(us));
  EXPECT_EQ(standing_of({other_lease, {}, other_lease, false}, us), Standing::first);
  const Contender waiter = contender(us, 5, waits, waiting_lease(us));
  EXPECT_EQ(standing_of({waiter, {}, waiter, false}, us), Standing::first);
  EXPECT_EQ(standing_of({before, {}, waiter, false}, us), Standing::behind);
  const Contender broken = contender(us, 5, Record::State::broken, holding_lease(us));
  EXPECT_EQ(standing_of({broken, broken, {}, false}, us), Standing::broken);
}

TEST(EtcdEndpoints, LeavesOneThatFailsAndNoOther) {
  Endpoints endpoints{3};
  EXPECT_TRUE(endpoints.failed(0));
  EXPECT_EQ(endpoints.current(), 1U);
  EXPECT_FALSE(endpoints.failed(0)) << "late words of the first";
  EXPECT_TRUE(endpoints.failed(1));
  EXPECT_TRUE(endpoints.failed(2));
  EXPECT_EQ(endpoints.current(), 0U);
  Endpoints single{1};
  EXPECT_FALSE(single.failed(0));
  EXPECT_EQ(single.current(), 0U);
}

TEST(EtcdDoctor, NamesVersionsWhoseOldLeaderEndsLeases) {
  for (const char* bad : {"3.4.23", "3.4.30", "3.5.0", "3.5.12", "3.3.27"}) {
    EXPECT_EQ(finding_of_version("n1", bad).level, Finding::Level::warning) << bad;
  }
  for (const char* good : {"3.4.31", "3.5.13", "3.6.0", "4.0.0"}) {
    EXPECT_EQ(finding_of_version("n1", good).level, Finding::Level::good) << good;
  }
}

TEST(EtcdErrors, SayWhetherThereMayHaveBeenAnEffect) {
  using grpc::StatusCode;
  const auto of = [](StatusCode code, const char* words) {
    return why_failed("etcd at h:1", grpc::Status{code, words});
  };
  EXPECT_FALSE(of(StatusCode::UNAVAILABLE, "failed to connect to all addresses")
                   .may_have_had_effect);
  EXPECT_TRUE(of(StatusCode::UNAVAILABLE, "etcdserver: leader changed").may_have_had_effect);
  EXPECT_TRUE(of(StatusCode::DEADLINE_EXCEEDED, "").may_have_had_effect);
  EXPECT_EQ(of(StatusCode::INVALID_ARGUMENT, "etcdserver: authentication failed").code,
            make_error_code(errc::access_denied));
  EXPECT_EQ(of(StatusCode::RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded").code,
            make_error_code(errc::store_unavailable));
}

TEST(EtcdSettings, ReadsHostsAndRefusesTheRest) {
  const Settings settings{StoreUrl::parse("etcd://u@n1,[::1]:1?prefix=p/&op_timeout=1s"), "pw"};
  EXPECT_EQ(settings.endpoints, (std::vector<std::string>{"n1:2379", "[::1]:1"}));
  EXPECT_FALSE(settings.tls);
  EXPECT_TRUE((Settings{StoreUrl::parse("etcd://n1?tls=on"), ""}).tls);
  for (const char* bad : {"etcd://n1/path", "etcd://n1?x=1", "etcd://n1?tls=maybe",
                          "etcd://n1?tls_ca=/no/such", "etcd://n1?op_timeout=1ms",
                          "etcd://u@n1", "etcd://n1?prefix=a%20b"}) {
    EXPECT_THROW((Settings{StoreUrl::parse(bad), ""}), Error) << bad;
  }
}

}  // namespace
}  // namespace holdfast::etcd
