// What others get: an installed tree, find_package, pkg-config, add_subdirectory, Debian packages.
// Tests named Full* take minutes and run in `./dev check`.
#include "test_paths.hpp"
#include "tests/package/scratch.hpp"

#include <gtest/gtest.h>

namespace holdfast::package {
namespace {

const std::string source = HOLDFAST_SOURCE_DIR;
const std::string build = HOLDFAST_BUILD_DIR;
// Builds inside these tests are cached, too, if there is a cache.
const std::string with_cache =
    " -DCMAKE_CXX_COMPILER_LAUNCHER=\"$(command -v ccache)\" -DCMAKE_CXX_FLAGS=-g0";

#ifdef HOLDFAST_WITH_POSTGRES
const std::string with_postgres = " -DWITH_POSTGRES=ON";
#else
const std::string with_postgres;
#endif

#define ASSERT_RUNS(scratch, command)                                  \
  do {                                                                 \
    const Scratch::Result result = (scratch).run(command);             \
    ASSERT_EQ(result.status, 0) << (command) << '\n' << result.output; \
  } while (false)

// The consumer prints the version and a fence, which is positive.
void expect_version_and_fence(const Scratch::Result& result) {
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(result.output.find("0."), 0U) << result.output;
  EXPECT_NE(result.output.find_first_of("123456789", result.output.find(' ')), std::string::npos)
      << result.output;
}

// Every kind of consumer against the tree that lies in `scratch`/root.
void expect_consumers_work(const Scratch& scratch) {
  const std::string root = scratch / "root";
  ASSERT_RUNS(scratch, "cmake -S '" + source + "/tests/package/consumer' -B consumer -G Ninja" +
                           " -DCMAKE_PREFIX_PATH='" + root + "'" + with_postgres +
                           " && cmake --build consumer");
#ifdef HOLDFAST_WITH_POSTGRES
  ASSERT_RUNS(scratch, "consumer/guard_consumer");
#endif
  expect_version_and_fence(scratch.run("consumer/consumer memory:"));
#ifdef HOLDFAST_WITH_SQLITE
  expect_version_and_fence(scratch.run("consumer/consumer sqlite://" + (scratch / "locks.db")));
#endif
  ASSERT_RUNS(scratch,
              "export PKG_CONFIG_PATH=$(dirname $(find root -name holdfast.pc)) && "
              "g++ -std=c++20 -o by_pkg_config '" +
                  source +
                  "/tests/package/consumer/main.cpp' "
                  "$(pkg-config --cflags --libs holdfast)");
  expect_version_and_fence(scratch.run(
      "LD_LIBRARY_PATH=$(dirname $(find root -name 'libholdfast.*' | head -n 1)) ./by_pkg_config"));
}

TEST(Package, InstallsWhatIsPromised) {
  const Scratch scratch{"install"};
  ASSERT_RUNS(scratch, "cmake --install '" + build + "' --prefix root");
  for (const char* file :
       {"bin/holdfast", "include/holdfast/holdfast.hpp", "include/holdfast/version.hpp",
        "share/man/man1/holdfast.1", "share/bash-completion/completions/holdfast",
        "share/zsh/site-functions/_holdfast", "share/fish/vendor_completions.d/holdfast.fish"}) {
    EXPECT_TRUE(std::filesystem::exists(scratch / ("root/" + std::string{file}))) << file;
  }
  const Scratch::Result version = scratch.run("root/bin/holdfast --version");
  EXPECT_EQ(version.status, 0) << version.output;
  EXPECT_NE(version.output.find("0."), std::string::npos) << version.output;
#ifdef HOLDFAST_WITH_POSTGRES
  // The module is found and opened: what fails is the server that is not there.
  const Scratch::Result guard =
      scratch.run("root/bin/holdfast guard install 'postgres:///x?host=/nowhere'; [ $? = 69 ]");
  EXPECT_EQ(guard.status, 0) << guard.output;
  EXPECT_NE(guard.output.find("/nowhere"), std::string::npos) << guard.output;
#endif
  const Scratch::Result syntax = scratch.run("bash -n root/share/bash-completion/completions/*");
  EXPECT_EQ(syntax.status, 0) << syntax.output;
  expect_consumers_work(scratch);
}

TEST(Package, LinksAsASubprojectWithEveryStoreOff) {
  const Scratch scratch{"subproject"};
  ASSERT_RUNS(scratch, "cmake -S '" + source + "/tests/package/subproject' -B build -G Ninja" +
                           " -DHOLDFAST_SOURCE='" + source +
                           "' -DCMAKE_BUILD_TYPE=Debug -DHOLDFAST_BUILD_CLI=ON" + with_cache +
                           " && cmake --build build -j 2");
  expect_version_and_fence(scratch.run("$(find build -name consumer -type f) memory:"));
  const Scratch::Result stores = scratch.run("$(find build -name holdfast -type f) stores");
  EXPECT_EQ(stores.status, 0) << stores.output;
}

TEST(FullPackage, SharedLibraryWorksToo) {
  const Scratch scratch{"shared"};
  ASSERT_RUNS(scratch, "cmake -S '" + source + "' -B build -G Ninja -DBUILD_SHARED_LIBS=ON" +
                           " -DHOLDFAST_BUILD_TESTS=OFF -DHOLDFAST_BUILD_EXAMPLES=OFF"
                           " -DCMAKE_BUILD_TYPE=Release" +
                           with_cache +
                           " && cmake --build build -j 2 && "
                           "cmake --install build --prefix root");
  const Scratch::Result version = scratch.run("root/bin/holdfast --version");
  EXPECT_EQ(version.status, 0) << version.output;
  expect_consumers_work(scratch);
}

TEST(FullPackage, DebianPackagesHoldTheirParts) {
  const Scratch scratch{"deb"};
  ASSERT_RUNS(scratch, "cpack --config '" + build + "/CPackConfig.cmake' -G DEB -B .");
  ASSERT_RUNS(scratch, "dpkg-deb -x holdfast_*.deb root && dpkg-deb -x libholdfast-dev_*.deb root");
  ASSERT_RUNS(scratch, "dpkg-deb -f holdfast_*.deb Depends | grep libc6");
#ifdef HOLDFAST_WITH_POSTGRES
  ASSERT_RUNS(scratch, "! dpkg-deb -f holdfast_*.deb Depends | grep libpq");
  ASSERT_RUNS(scratch, "dpkg-deb -f holdfast-postgres_*.deb Depends | grep libpq5");
#endif
  ASSERT_RUNS(scratch, "root/usr/bin/holdfast --version && test -s root/usr/share/man/man1/*.1*");
  ASSERT_RUNS(scratch,
              "find root -name holdfastConfig.cmake | grep . && "
              "find root -name libholdfast.a | grep .");
}

}  // namespace
}  // namespace holdfast::package
