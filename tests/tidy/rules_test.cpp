// Each rule is shown to fail on what it is there for, and to leave its neighbour alone.
#include "tests/tidy/rules.hpp"

#include <gtest/gtest.h>

namespace holdfast::tidy {
namespace {

bool refuses(const std::vector<Finding>& findings) { return !findings.empty(); }

std::vector<Finding> arrows(const std::string& path, const std::string& include) {
  return check_arrows({path, "// x\n#include " + include + "\n"});
}

TEST(Arrows, CoreSeesOnlyBaseAndValueHeaders) {
  EXPECT_FALSE(refuses(arrows("src/core/a.cpp", "\"base/hex.hpp\"")));
  EXPECT_FALSE(refuses(arrows("src/core/a.cpp", "<holdfast/claim.hpp>")));
  EXPECT_FALSE(refuses(arrows("src/core/a.cpp", "<vector>")));
  EXPECT_TRUE(refuses(arrows("src/core/a.cpp", "\"engine/x.hpp\"")));
  EXPECT_TRUE(refuses(arrows("src/core/a.cpp", "<holdfast/store.hpp>")));
  EXPECT_TRUE(refuses(arrows("src/core/a.cpp", "<unistd.h>")));
  EXPECT_TRUE(refuses(arrows("src/core/a.cpp", "<asio.hpp>")));
}

TEST(Arrows, StoresNeverSeeTheEngineNorOneAnother) {
  EXPECT_FALSE(refuses(arrows("src/store/redis/a.cpp", "\"net/stream.hpp\"")));
  EXPECT_FALSE(refuses(arrows("src/store/redis/a.cpp", "<holdfast/store.hpp>")));
  EXPECT_TRUE(refuses(arrows("src/store/redis/a.cpp", "\"engine/x.hpp\"")));
  EXPECT_TRUE(refuses(arrows("src/store/redis/a.cpp", "\"core/trust.hpp\"")));
  EXPECT_TRUE(refuses(arrows("src/store/redis/a.cpp", "\"store/sqlite/x.hpp\"")));
  EXPECT_TRUE(refuses(arrows("src/store/redis/a.cpp", "<sqlite3.h>")));
  EXPECT_TRUE(refuses(arrows("src/store/redis/a.cpp", "<holdfast/client.hpp>")));
}

TEST(Arrows, OnlyTheCommandSeesTheSimulator) {
  EXPECT_FALSE(refuses(arrows("src/cli/sim.cpp", "\"sim/world.hpp\"")));
  EXPECT_TRUE(refuses(arrows("src/client/a.cpp", "\"sim/world.hpp\"")));
  EXPECT_TRUE(refuses(arrows("src/engine/a.cpp", "\"sim/world.hpp\"")));
}

TEST(Arrows, PublicHeadersUseTheStandardLibraryOnly) {
  EXPECT_TRUE(refuses(arrows("include/holdfast/a.hpp", "<sqlite3.h>")));
  EXPECT_TRUE(refuses(arrows("include/holdfast/a.hpp", "\"base/hex.hpp\"")));
  EXPECT_FALSE(refuses(arrows("include/holdfast/guard/sqlite.hpp", "<sqlite3.h>")));
}

TEST(Arrows, AFolderOutsideEveryLayerIsRefused) {
  EXPECT_TRUE(refuses(arrows("src/misc/a.cpp", "<vector>")));
}

bool banned(const std::string& path, const std::string& code) {
  return refuses(check_banned({path, code + "\n"}));
}

TEST(Banned, EachCallInItsPlace) {
  EXPECT_TRUE(banned("src/engine/a.cpp", "std::this_thread::sleep_for(1s);"));
  EXPECT_TRUE(banned("src/cli/a.cpp", "usleep(5);"));
  EXPECT_TRUE(banned("src/core/a.cpp", "auto t = std::chrono::system_clock::now();"));
  EXPECT_TRUE(banned("src/core/a.cpp", "const Instant t = BootClock::now();"));
  EXPECT_TRUE(banned("src/core/a.hpp", "std::mutex mutex_{};"));
  EXPECT_TRUE(banned("src/runtime/a.cpp", "thread.detach();"));
  EXPECT_TRUE(banned("src/net/a.cpp", "auto* x = new Thing(1);"));
  EXPECT_TRUE(banned("src/net/a.cpp", "delete thing;"));
  EXPECT_TRUE(banned("src/net/a.cpp", "delete[] things;"));
  EXPECT_TRUE(banned("src/net/a.cpp", "co_await read();"));
  EXPECT_TRUE(banned("src/net/a.cpp", "getaddrinfo(h, p, &hints, &out);"));
  EXPECT_TRUE(banned("src/base/a.cpp", "int x = rand();"));
  EXPECT_TRUE(banned("src/base/a.cpp", "std::cout << 1;"));
  EXPECT_TRUE(banned("src/engine/a.cpp", "auto t = std::chrono::steady_clock::now();"));
  EXPECT_TRUE(banned("include/holdfast/a.hpp", "using namespace std;"));
}

TEST(Banned, LeavesNeighboursAlone) {
  EXPECT_FALSE(banned("src/core/a.cpp", "Thing(const Thing&) = delete;"));
  EXPECT_FALSE(banned("src/core/a.cpp", "Thing& operator=(const Thing&) = delete;"));
  EXPECT_FALSE(banned("src/core/a.cpp", "// never call new Thing or sleep_for()"));
  EXPECT_FALSE(banned("src/core/a.cpp", "const char* word = \"new Thing, delete it\";"));
  EXPECT_FALSE(banned("src/core/a.cpp", "const bool new_owner = is_new(owner);"));
  EXPECT_FALSE(banned("src/core/a.cpp", "operand(1);"));
  EXPECT_FALSE(banned("src/cli/a.cpp", "std::cout << 1;"));
  EXPECT_FALSE(banned("tests/unit/a.cpp", "const auto now = BootClock::now();"));
}

std::vector<Finding> shape(const std::string& path, const std::string& text) {
  return check_shape({path, text});
}

TEST(Shape, ALineHas100Columns) {
  EXPECT_FALSE(refuses(shape("src/a.cpp", std::string(100, 'x') + "\n")));
  EXPECT_TRUE(refuses(shape("src/a.cpp", std::string(101, 'x') + "\n")));
  std::string wide;
  for (int i = 0; i < 100; ++i) {
    wide += "\u00e4";  // two bytes, one column
  }
  EXPECT_FALSE(refuses(shape("src/a.cpp", wide + "\n")));
}

TEST(Shape, WhiteSpaceAtTheEnd) {
  EXPECT_TRUE(refuses(shape("src/a.cpp", "int a; \n")));
  EXPECT_TRUE(refuses(shape("src/a.cpp", "int a;")));
}

TEST(Shape, AHeaderHasABannerAndAGuard) {
  EXPECT_FALSE(refuses(shape("src/a.hpp", "// What it is.\n#pragma once\n")));
  EXPECT_TRUE(refuses(shape("src/a.hpp", "#pragma once\n")));
  EXPECT_TRUE(refuses(shape("src/a.hpp", "// What it is.\nint a;\n")));
}

std::string repeated(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += line;
  }
  return text;
}

TEST(Shape, AFileHas400Lines) {
  EXPECT_FALSE(refuses(shape("src/a.cpp", repeated("\n", 400))));
  EXPECT_TRUE(refuses(shape("src/a.cpp", repeated("\n", 401))));
}

TEST(Shape, AFunctionHas70Lines) {
  EXPECT_FALSE(refuses(shape("src/a.cpp", "void f() {\n" + repeated("  g();\n", 70) + "}\n")));
  EXPECT_TRUE(refuses(shape("src/a.cpp", "void f() {\n" + repeated("  g();\n", 71) + "}\n")));
  EXPECT_TRUE(refuses(
      shape("src/a.cpp", "void f(int a,\n       int b) {\n" + repeated("  g();\n", 71) + "}\n")));
  EXPECT_FALSE(
      refuses(shape("src/a.cpp", "class F {\n  F() {\n" + repeated("  int a;\n", 80) + "};\n")));
}

TEST(Words, UnfinishedWorkAndForeignPlaces) {
  EXPECT_TRUE(refuses(check_words({"a.md", std::string{"TO"} + "DO: later\n"})));
  EXPECT_TRUE(refuses(check_words({"a.cpp", std::string{"TEST(A, DIS"} + "ABLED_b) {}\n"})));
  EXPECT_TRUE(refuses(check_words({"a.sh", std::string{"cd /wo"} + "rk/main\n"})));
  EXPECT_FALSE(refuses(check_words({"a.md", "to do something; path/work\n"})));
}

TEST(DeadHeaders, AreFound) {
  const std::vector<File> files = {{"src/core/a.hpp", ""},
                                   {"src/core/b.hpp", ""},
                                   {"sim/c.hpp", ""},
                                   {"src/core/a.cpp", "#include \"core/a.hpp\"\n"}};
  const std::vector<Finding> findings = check_dead_headers(files);
  ASSERT_EQ(findings.size(), 2U) << to_text(findings);
  EXPECT_EQ(findings[0].path, "src/core/b.hpp");
  EXPECT_EQ(findings[1].path, "sim/c.hpp");
}

TEST(Snippets, MustBeInAnExample) {
  const std::vector<File> examples = {{"examples/a.cpp", "int main() {\n  lock();\n}\n"}};
  EXPECT_FALSE(refuses(check_snippets({"a.md", "```cpp\nlock();\n```\nfree();\n"}, examples)));
  EXPECT_TRUE(refuses(check_snippets({"a.md", "```cpp\nfree();\n```\n"}, examples)));
  EXPECT_FALSE(refuses(check_snippets({"a.md", "```sh\nfree\n```\n"}, examples)));
}

TEST(Links, MustLeadSomewhere) {
  const std::vector<std::string> paths = {"docs/a/x.md", "docs/b/y.md", "README.md"};
  EXPECT_FALSE(refuses(check_links({"docs/a/x.md", "see [y](../b/y.md#part)"}, paths)));
  EXPECT_FALSE(refuses(check_links({"README.md", "[b](docs/b/) [c](https://a.example/b)"}, paths)));
  EXPECT_TRUE(refuses(check_links({"docs/a/x.md", "see [y](y.md)"}, paths)));
}

TEST(SourceText, CodeOnlyBlanksCommentsAndLiterals) {
  EXPECT_EQ(code_only("a; // b\nc"), "a;     \nc");
  EXPECT_EQ(code_only("a /* b\n */ c"), "a     \n    c");
  EXPECT_EQ(code_only("f(\"x\\\"y\");"), "f(\"    \");");
  EXPECT_EQ(code_only("int a = 1'000; char b = 'c';"), "int a = 1'000; char b = ' ';");
  EXPECT_EQ(code_only("g(R\"(new x)\");"), "g(          );");
}

TEST(ApiListing, ShowsDeclarationsAndHidesTheRest) {
  const std::string header = R"(// banner
#pragma once
#include <a>
namespace holdfast {
namespace detail {
struct Hidden {
  int x;
};
}  // namespace detail
enum class E : int { a = 1, b };
struct S {
  int n = 0;  // a comment
  std::string text{};
  bool ok() const { return n > 0; }
};
class C {
  int private_by_default;

 public:
  explicit C(int n) : n_(n) {}
  int n() const noexcept;
  template <class T>
  T as() {
    if (n_ > 0) {
      return T{n_};
    }
    return {};
  }

 private:
  int n_;
};
inline constexpr int limit = 3;
}  // namespace holdfast
)";
  EXPECT_EQ(api_listing({{"include/holdfast/x.hpp", header}}), R"(<holdfast/x.hpp>
namespace holdfast
  enum class E : int
    a = 1, b
  struct S
    int n = 0;
    std::string text{};
    bool ok() const;
  class C
    explicit C(int n);
    int n() const noexcept;
    template <class T> T as();
  inline constexpr int limit = 3;

)");
}

}  // namespace
}  // namespace holdfast::tidy
