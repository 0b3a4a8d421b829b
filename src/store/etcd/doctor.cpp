#include "store/etcd/doctor.hpp"

#include <holdfast/error.hpp>

#include "store/etcd/errors.hpp"

#include <array>
#include <charconv>
#include <memory>

namespace holdfast::etcd {

namespace {

using Level = Finding::Level;

struct Version {
  std::array<int, 3> parts{};
  auto operator<=>(const Version&) const = default;
};

Version version_of(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (int& part : version.parts) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc{}) {
      break;
    }
    at = next != end && *next == '.' ? next + 1 : next;
  }
  return version;
}

struct Examination {
  std::vector<Finding> findings{};
  std::size_t left = 0;
  UniqueFunction<void(std::vector<Finding>)> done{};

  void add(Level level, std::string what, std::string advice = {}) {
    findings.push_back({level, std::move(what), std::move(advice)});
  }
  void one_done() {
    if (--left == 0) {
      done(std::move(findings));
    }
  }
};

void add_alarms(Examination& examination, const rpc::AlarmResponse& answer) {
  for (const rpc::AlarmMember& alarm : answer.alarms()) {
    if (alarm.alarm() == rpc::NOSPACE) {
      examination.add(Level::failure, "alarm NOSPACE: no lock can be taken",
                      "compact, defragment, then etcdctl alarm disarm");
    } else if (alarm.alarm() == rpc::CORRUPT) {
      examination.add(Level::failure, "alarm CORRUPT: a member's data differ from the others'",
                      "replace that member before anything else");
    }
  }
}

}  // namespace

Finding finding_of_version(const std::string& place, const std::string& version) {
  const Version seen = version_of(version);
  const bool mended = seen >= Version{{3, 6, 0}} ||
                      (seen >= Version{{3, 5, 13}} && seen < Version{{3, 6, 0}}) ||
                      (seen >= Version{{3, 4, 31}} && seen < Version{{3, 5, 0}});
  const std::string what = place + ": etcd " + version;
  if (mended) {
    return {Level::good, what, {}};
  }
  return {Level::warning,
          what +
              ": a leader that stalls and is replaced can end leases that are alive "
              "(etcd issue 15247)",
          "upgrade to 3.4.31, 3.5.13 or later; until then guard what the lock protects"};
}

void examine(Session& session, const Settings& settings, Instant by,
             UniqueFunction<void(std::vector<Finding>)> done) {
  auto examination = std::make_shared<Examination>();
  examination->left = settings.endpoints.size() + 1;
  examination->done = std::move(done);
  for (std::size_t i = 0; i < settings.endpoints.size(); ++i) {
    session.status(i, by,
                   [examination, place = settings.endpoints[i]](const grpc::Status& status,
                                                                const rpc::StatusResponse& answer) {
                     if (!status.ok()) {
                       examination->add(Level::failure, why_failed(place, status).detail,
                                        "see whether it runs; the other members carry on");
                     } else {
                       examination->findings.push_back(finding_of_version(place, answer.version()));
                       if (answer.leader() == 0) {
                         examination->add(Level::failure, place + ": it knows no leader",
                                          "see whether a majority of the members runs");
                       }
                     }
                     examination->one_done();
                   });
  }
  session.alarms(by, [examination, place = settings.place](const grpc::Status& status,
                                                           const rpc::AlarmResponse& answer) {
    if (status.ok()) {
      add_alarms(*examination, answer);
    } else if (why_failed(place, status).code == errc::access_denied) {
      examination->add(Level::note, "alarms are shown to root only");
    }
    examination->one_done();
  });
}

}  // namespace holdfast::etcd
