#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::tidy {

namespace {

struct Layer {
  std::string folder{};
  std::vector<std::string> sees{};            // prefixes of quoted includes
  std::vector<std::string> public_headers{};  // of <holdfast/...>; empty: any
  std::vector<std::string> libraries{};       // prefixes of other includes with a slash or .h
};

const std::vector<std::string> value_headers = {"holdfast/types.hpp",    "holdfast/error.hpp",
                                                "holdfast/claim.hpp",    "holdfast/options.hpp",
                                                "holdfast/function.hpp", "holdfast/version.hpp"};

std::vector<std::string> values_and(std::vector<std::string> more) {
  more.insert(more.end(), value_headers.begin(), value_headers.end());
  return more;
}

// System headers, for layers that talk to the kernel.
const std::vector<std::string> kernel = {
    "sys/",     "linux/", "arpa/",   "netinet/",  "net/if",    "unistd.h", "fcntl.h",  "poll.h",
    "signal.h", "time.h", "errno.h", "pthread.h", "termios.h", "sched.h",  "limits.h", "netdb.h",
    "mntent.h", "pwd.h",  "stdio.h", "stdlib.h",  "string.h",  "spawn.h",  "dirent.h", "grp.h"};

std::vector<std::string> kernel_and(std::vector<std::string> more) {
  more.insert(more.end(), kernel.begin(), kernel.end());
  return more;
}

// The longest folder that matches decides.
const std::vector<Layer>& layers() {
  static const std::vector<std::string> store_api =
      values_and({"holdfast/store.hpp", "holdfast/runtime.hpp"});
  static const std::vector<Layer> table = {
      {"include/holdfast/", {}, {}, {}},
      {"include/holdfast/asio.hpp", {}, {}, {"asio/"}},
      {"include/holdfast/guard/", {}, {}, {"sqlite3.h", "hiredis/", "pqxx/"}},
      {"src/base/", {"base/"}, values_and({"holdfast/observer.hpp"}), kernel},
      {"src/core/", {"core/", "base/"}, value_headers, {}},
      {"src/engine/", {"engine/", "core/", "base/"}, {}, {"pthread.h", "unistd.h"}},
      {"src/runtime/",
       {"runtime/", "base/"},
       values_and({"holdfast/runtime.hpp"}),
       kernel_and({"asio"})},
      {"src/net/",
       {"net/", "runtime/", "base/"},
       values_and({"holdfast/runtime.hpp"}),
       kernel_and({"asio", "openssl/", "ares.h"})},
      {"src/store/memory/", {"store/memory/", "base/"}, store_api, {}},
      {"src/store/redlock/", {"store/redlock/", "base/"}, store_api, {}},
      {"src/store/sqlite/",
       {"store/sqlite/", "runtime/", "base/"},
       store_api,
       kernel_and({"sqlite3.h"})},
      {"src/store/redis/",
       {"store/redis/", "net/", "runtime/", "base/"},
       store_api,
       kernel_and({"hiredis/"})},
      {"src/store/cluster/",
       {"store/cluster/", "store/redis/", "net/", "runtime/", "base/"},
       store_api,
       kernel},
      {"src/guard/", {"guard/"}, values_and({"holdfast/guard"}), {"sqlite3.h", "hiredis/"}},
      {"src/guard/libpq/", {}, values_and({"holdfast/guard"}), {"libpq-fe.h"}},
      {"src/store/etcd/",
       {"store/etcd/", "net/", "runtime/", "base/"},
       store_api,
       kernel_and({"grpc", "google/protobuf/"})},
      {"src/store/postgres/",
       {"store/postgres/", "net/", "runtime/", "base/"},
       store_api,
       kernel_and({"libpq-fe.h"})},
      {"src/module/",
       {"module/", "store/", "base/"},
       values_and({"holdfast/guard", "holdfast/store.hpp"}),
       {"libpq-fe.h"}},
      {"src/client/",
       {"client/", "engine/", "core/", "store/", "module/", "net/", "runtime/", "base/"},
       {},
       kernel_and({"dlfcn.h"})},
      {"src/cli/",
       {"cli/", "lab/", "sim/", "client/", "engine/", "core/", "store/", "net/", "runtime/",
        "guard/", "module/", "base/"},
       {},
       kernel_and({"CLI/", "nlohmann/", "sqlite3.h", "dlfcn.h"})},
      {"src/lab/", {"lab/", "sim/", "base/"}, {}, kernel_and({"nlohmann/", "httplib.h"})},
      {"sim/", {"sim/", "engine/", "core/", "store/memory/", "base/"}, {}, {}},
  };
  return table;
}

const Layer* layer_of(const std::string& path) {
  const Layer* best = nullptr;
  for (const Layer& layer : layers()) {
    if (path.starts_with(layer.folder) &&
        (best == nullptr || layer.folder.size() > best->folder.size())) {
      best = &layer;
    }
  }
  return best;
}

std::string refusal(const Layer& layer, const Include& include) {
  const std::string& path = include.path;
  if (include.quoted) {
    return starts_with_any(path, layer.sees) ? "" : layer.folder + " must not see \"" + path + "\"";
  }
  if (path.starts_with("holdfast/")) {
    const bool allowed =
        layer.public_headers.empty() || starts_with_any(path, layer.public_headers);
    return allowed ? "" : layer.folder + " must not see <" + path + ">";
  }
  const bool foreign = path.find('/') != std::string::npos || path.find('.') != std::string::npos;
  if (foreign && !starts_with_any(path, layer.libraries)) {
    return layer.folder + " must not use <" + path + ">";
  }
  return "";
}

}  // namespace

std::vector<Finding> check_arrows(const File& file) {
  const Layer* layer = layer_of(file.path);
  if (layer == nullptr) {
    if (file.path.starts_with("src/")) {
      return {{file.path, 0, "is in no known layer"}};
    }
    return {};
  }
  std::vector<Finding> findings;
  for (const Include& include : includes_of(file.text)) {
    const std::string why = refusal(*layer, include);
    if (!why.empty()) {
      findings.push_back({file.path, include.line, why});
    }
  }
  return findings;
}

std::vector<Finding> check_dead_headers(const std::vector<File>& files) {
  std::vector<std::string> used;
  for (const File& file : files) {
    for (const Include& include : includes_of(file.text)) {
      used.push_back(include.path);
    }
  }
  std::vector<Finding> findings;
  for (const File& file : files) {
    const bool header = file.path.ends_with(".hpp");
    if (!header || !starts_with_any(file.path, {"src/", "sim/", "tests/", "bench/"})) {
      continue;
    }
    const std::string seen_as = file.path.starts_with("src/") ? file.path.substr(4) : file.path;
    if (std::find(used.begin(), used.end(), seen_as) == used.end()) {
      findings.push_back({file.path, 0, "no file includes this header"});
    }
  }
  return findings;
}

}  // namespace holdfast::tidy
