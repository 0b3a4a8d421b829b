// Which store is meant, and with which password.
#include "client/default_store.hpp"
#include "client/password.hpp"
#include "client/stores.hpp"

#include "tests/support/temp_dir.hpp"

#include <holdfast/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

namespace holdfast {

namespace {

// Puts variables back as they were.
class Variables : public ::testing::Test {
 protected:
  Variables() {
    for (const char* name : {"HOLDFAST_STORE", "XDG_STATE_HOME", "HOME", "HOLDFAST_PASSWORD",
                             "HOLDFAST_PASSWORD_FILE"}) {
      const char* const value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>{value};
      unsetenv(name);
    }
  }
  ~Variables() override {
    for (const auto& [name, value] : before_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }
  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
  std::string file(const char* name, const std::string& content) const {
    const std::string path = (folder_ / name).string();
    std::ofstream{path} << content;
    return path;
  }
  const test::TempDir& folder() const { return folder_; }

 private:
  std::map<std::string, std::optional<std::string>> before_{};
  test::TempDir folder_{};
};

class DefaultStore : public Variables {};
class Password : public Variables {
 protected:
  StoreUrl plain = StoreUrl::parse("redis://h");
};

TEST_F(DefaultStore, IsAFileOfThisUser) {
  set("HOLDFAST_STORE", "redis://h");
  EXPECT_EQ(default_store_url(), "redis://h");
  unsetenv("HOLDFAST_STORE");
  set("XDG_STATE_HOME", "/state of mine");
  EXPECT_EQ(default_store_file(), "/state of mine/holdfast/locks.db");
  EXPECT_EQ(default_store_url(), "sqlite:///state%20of%20mine/holdfast/locks.db");
  set("XDG_STATE_HOME", "relative");
  set("HOME", "/home/me");
  EXPECT_EQ(default_store_file(), geteuid() == 0 ? "/var/lib/holdfast/locks.db"
                                                 : "/home/me/.local/state/holdfast/locks.db");
}

TEST_F(DefaultStore, MakesItsFolderForThisUserOnly) {
  set("XDG_STATE_HOME", (folder() / "a/b").string());
  make_default_store_folder();
  make_default_store_folder();
  struct stat status {};
  ASSERT_EQ(stat((folder() / "a/b/holdfast").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  set("XDG_STATE_HOME", file("plain", ""));
  EXPECT_THROW(make_default_store_folder(), Error);
}

TEST_F(Password, ComesFromTheMostSpecificPlace) {
  EXPECT_EQ(password_for(plain, ""), "");
  set("HOLDFAST_PASSWORD_FILE", file("pw", "from a file\r\nmore"));
  EXPECT_EQ(password_for(plain, ""), "from a file");
  set("HOLDFAST_PASSWORD", "from a variable");
  EXPECT_EQ(password_for(plain, ""), "from a variable");
  const std::string other = file("other", "from the url's file");
  EXPECT_EQ(password_for(StoreUrl::parse("redis://h?password_file=" + other), ""),
            "from the url's file");
  EXPECT_EQ(password_for(StoreUrl::parse("redis://u:inside@h?password_file=" + other), ""),
            "inside");
  EXPECT_EQ(password_for(StoreUrl::parse("redis://u:inside@h"), "given"), "given");
}

TEST_F(Password, NamesAFileThatCannotBeRead) {
  for (const std::string& path : {std::string{"/nonexistent/pw"}, file("empty", "")}) {
    set("HOLDFAST_PASSWORD_FILE", path);
    try {
      password_for(plain, "");
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_options);
      EXPECT_NE(error.detail().find(path), std::string::npos) << error.detail();
    }
  }
}

TEST(StoreFactories, RefuseWhatThisBuildDoesNotKnow) {
  for (const char* url : {"nosuch://h", "consul://h", "memory:a?x=y", "redis", "://", "sqlite:"}) {
    try {
      make_store_factory(url, "");
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_url) << url;
    }
  }
}

TEST(StoreFactories, KnowEveryKindThatIsBuilt) {
  for (const StoreKind& kind : store_kinds()) {
    if (kind.missing.empty()) {
      EXPECT_NE(make_store_factory(kind.example, ""), nullptr) << kind.scheme;
    } else {
      EXPECT_THROW(make_store_factory(kind.example, ""), Error) << kind.scheme;
    }
  }
}

}  // namespace

}  // namespace holdfast
