#include "cli/messages.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

// A reader that has stopped reading must not stop the renewals: then the line is dropped.
constexpr int reader_patience_ms = 100;

void write_line(std::string line) noexcept {
  line.push_back('\n');
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  if (poll(&writable, 1, reader_patience_ms) == 0) {
    return;
  }
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(STDERR_FILENO, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) {
      return;  // nobody reads it; the lock goes on
    }
    written += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

}  // namespace

void print_error_line(const std::string& text) noexcept {
  std::string line = "holdfast: " + text;
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      letter = ' ';
    }
  }
  write_line(std::move(line));
}

void Messages::say(const char* event, const std::string& text) const noexcept {
  say(event, text, Fields::object());
}

void Messages::say(const char* event, const std::string& text, const Fields& fields) const noexcept
    try {
  if (options_.quiet) {
    return;
  }
  if (!options_.json) {
    return print_error_line(text);
  }
  Fields line{{"event", event}, {"message", text}};
  line.update(fields);
  write_line(line.dump(-1, ' ', false, Fields::error_handler_t::replace));
} catch (...) {
  // Out of memory: a message is not worth the lock.
}

void Messages::detail(const char* event, const std::string& text,
                      const Fields& fields) const noexcept {
  if (options_.verbose || options_.json) {
    say(event, text, fields);
  }
}

}  // namespace holdfast::cli
