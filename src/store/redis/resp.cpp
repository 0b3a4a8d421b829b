#include "store/redis/resp.hpp"

#include <hiredis/hiredis.h>

#include <array>
#include <charconv>
#include <iterator>
#include <new>
#include <utility>

namespace holdfast::redis {

namespace {

void append_number(std::string& out, char kind, std::size_t number) {
  std::array<char, 24> digits{};
  const char* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  out.append(1, kind).append(digits.cbegin(), end).append("\r\n", 2);
}

// hiredis 0.14 allocates whatever a reply announces, and its size computation can overflow
// (CVE-2021-32765): refuse what no reply of ours needs before it gets there.
redisReplyObjectFunctions* guarded_functions() {
  static const redisReplyObjectFunctions original = [] {
    redisReader* reader = redisReaderCreate();
    if (reader == nullptr) {
      throw std::bad_alloc{};
    }
    const redisReplyObjectFunctions functions = *reader->fn;
    redisReaderFree(reader);
    return functions;
  }();
  static redisReplyObjectFunctions guarded = [] {
    redisReplyObjectFunctions functions = original;
    functions.createArray = [](const redisReadTask* task, int elements) -> void* {
      int& left = *static_cast<int*>(task->privdata);
      if (elements < 0 || elements > left) {
        return nullptr;  // the reader reports it as an error
      }
      left -= elements;  // counted over the whole reply: nested arrays multiply
      return original.createArray(task, elements);
    };
    return functions;
  }();
  return &guarded;
}

}  // namespace

void append_start(std::string& out, std::size_t count) { append_number(out, '*', count); }

void append_argument(std::string& out, std::string_view argument) {
  append_number(out, '$', argument.size());
  out.append(argument).append("\r\n", 2);
}

std::string encode(std::initializer_list<std::string_view> command) {
  std::string out;
  append_start(out, command.size());
  for (const std::string_view argument : command) {
    append_argument(out, argument);
  }
  return out;
}

// ---- Reply -------------------------------------------------------------------------------------

void Reply::Free::operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }

const redisReply* Reply::error_of(const redisReply* reply) noexcept {
  if (reply == nullptr) {
    return nullptr;
  }
  if (reply->type == REDIS_REPLY_ERROR) {
    return reply;
  }
  if (reply->type == REDIS_REPLY_ARRAY) {
    for (std::size_t i = 0; i < reply->elements; ++i) {
      if (const redisReply* nested = error_of(reply->element[i])) {
        return nested;
      }
    }
  }
  return nullptr;
}

bool Reply::is_array() const noexcept {
  return view_ != nullptr && view_->type == REDIS_REPLY_ARRAY;
}

bool Reply::is_integer() const noexcept {
  return view_ != nullptr && view_->type == REDIS_REPLY_INTEGER;
}

bool Reply::is_text() const noexcept {
  return view_ != nullptr &&
         (view_->type == REDIS_REPLY_STRING || view_->type == REDIS_REPLY_STATUS);
}

std::string_view Reply::error() const noexcept {
  const redisReply* error = error_of(view_);
  return error == nullptr ? std::string_view{} : std::string_view{error->str, error->len};
}

std::int64_t Reply::integer() const noexcept { return is_integer() ? view_->integer : 0; }

std::string_view Reply::text() const noexcept {
  return is_text() ? std::string_view{view_->str, view_->len} : std::string_view{};
}

std::int64_t Reply::number() const noexcept {
  if (is_integer()) {
    return view_->integer;
  }
  std::int64_t value = 0;
  const std::string_view digits = text();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size() ? value : 0;
}

std::size_t Reply::size() const noexcept { return is_array() ? view_->elements : 0; }

Reply Reply::at(std::size_t index) const noexcept {
  return {ViewTag{}, index < size() ? view_->element[index] : nullptr};
}

// ---- RespReader --------------------------------------------------------------------------------

void RespReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

RespReader::RespReader() : reader_(redisReaderCreateWithFunctions(guarded_functions())) {
  if (!reader_) {
    throw std::bad_alloc{};
  }
  reader_->privdata = &elements_left_;
}

RespReader::~RespReader() = default;

void RespReader::feed(std::string_view bytes) {
  if (!violated_ && redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    violate(std::data(reader_->errstr));
  }
}

std::optional<Reply> RespReader::next() {
  if (violated_) {
    return std::nullopt;
  }
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    violate(reader_->err == REDIS_ERR_OOM ? "a reply of impossible size"
                                          : std::data(reader_->errstr));
    return std::nullopt;
  }
  if (reply == nullptr) {
    if (reader_->len - reader_->pos > unparsed_max) {
      violate("a reply longer than 1 MiB");
    }
    return std::nullopt;
  }
  elements_left_ = elements_max;
  return Reply{static_cast<redisReply*>(reply)};
}

void RespReader::violate(std::string why) {
  violated_ = true;
  why_ = std::move(why);
}

}  // namespace holdfast::redis
