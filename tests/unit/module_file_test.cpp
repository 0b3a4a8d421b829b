// A store that lives in a module which this installation lacks says so in one line.
#include "client/module_file.hpp"

#include <holdfast/error.hpp>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

constexpr ModuleName absent{"holdfast-absent.so", "absent", "holdfast-absent"};

TEST(ModuleFile, IsNowhereIfItIsNotInstalled) { EXPECT_EQ(find_module(absent), ""); }

TEST(ModuleFile, SaysWhichPackageHasIt) {
  try {
    module_symbol(absent, "holdfast_store_module");
    FAIL() << "there is no such module";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::unsupported);
    EXPECT_NE(error.detail().find("holdfast-absent.so (Debian: the package holdfast-absent)"),
              std::string::npos)
        << error.detail();
  }
}

}  // namespace
}  // namespace holdfast
