// The Redis protocol (RESP2): commands out, replies in. hiredis' reader does the parsing; this
// wraps it so that nothing a server sends can make us crash or use memory without bound.
//
//   std::string out = encode({"SET", "key", "value"});
//   RespReader reader;
//   reader.feed(bytes);
//   while (auto reply = reader.next()) { … }
//   if (reader.violated()) { close the connection }
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct redisReader;
struct redisReply;

namespace holdfast::redis {

// Appends "*count" and "$size bytes": a command is one start and `count` arguments.
void append_start(std::string& out, std::size_t count);
void append_argument(std::string& out, std::string_view argument);
std::string encode(std::initializer_list<std::string_view> command);

// One reply. Looking at it as something that it is not gives an empty value, never an error:
// callers check the shape once, with is_array() and size().
class Reply {
 public:
  Reply() = default;
  explicit Reply(redisReply* owned) : reply_(owned), view_(owned) {}

  bool is_error() const noexcept { return error_of(view_) != nullptr; }
  bool is_array() const noexcept;
  bool is_integer() const noexcept;
  bool is_text() const noexcept;  // a bulk or a status string

  // The error, also when it is nested in an array.
  std::string_view error() const noexcept;
  std::int64_t integer() const noexcept;
  std::string_view text() const noexcept;
  // An integer, or text that is one; 0 otherwise.
  std::int64_t number() const noexcept;

  std::size_t size() const noexcept;           // elements of an array
  Reply at(std::size_t index) const noexcept;  // a view: must not outlive this reply

 private:
  struct Free {
    void operator()(redisReply* reply) const noexcept;
  };
  struct ViewTag {};
  Reply(ViewTag, const redisReply* view) : view_(view) {}
  static const redisReply* error_of(const redisReply* reply) noexcept;

  std::unique_ptr<redisReply, Free> reply_{};
  const redisReply* view_ = nullptr;
};

class RespReader {
 public:
  static constexpr int elements_max = 65'536;  // of one reply, nested ones included
  static constexpr std::size_t unparsed_max = 1'048'576;

  RespReader();
  RespReader(const RespReader&) = delete;
  RespReader& operator=(const RespReader&) = delete;
  ~RespReader();

  void feed(std::string_view bytes);

  // The next complete reply; nullopt: more bytes are needed, or the protocol was violated.
  std::optional<Reply> next();

  // The peer does not speak RESP2 or goes beyond the bounds. Nothing more can be read from it.
  bool violated() const noexcept { return violated_; }
  const std::string& why() const noexcept { return why_; }

 private:
  void violate(std::string why);

  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };
  std::unique_ptr<redisReader, Free> reader_;
  int elements_left_ = elements_max;  // of the reply being read
  bool violated_ = false;
  std::string why_{};
};

}  // namespace holdfast::redis
