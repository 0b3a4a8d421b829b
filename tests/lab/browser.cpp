#include "tests/lab/browser.hpp"

#include "tests/support/process.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <stdexcept>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace holdfast::test {

namespace {

using Json = nlohmann::json;

constexpr int patience_ms = 30'000;

std::string quoted(const std::string& text) { return Json(text).dump(); }

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error{"no pipe for the browser"};
    }
  }
  std::array<int, 2> ends{};
};

}  // namespace

bool Browser::installed() { return is_in_path("chromium"); }

Browser::Browser() {
  const Pipe commands;
  const Pipe answers;
  std::vector<std::string> arguments{"chromium",
                                     "--headless",
                                     "--no-sandbox",
                                     "--disable-gpu",
                                     "--no-first-run",
                                     "--hide-scrollbars",
                                     "--remote-debugging-pipe",
                                     "--user-data-dir=" + profile_.path().string()};
  std::vector<char*> raw;
  for (std::string& argument : arguments) {
    raw.push_back(argument.data());
  }
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  // Above 4 first: the ends may be 3 and 4 themselves, the other way round.
  constexpr int spare = 20;
  posix_spawn_file_actions_adddup2(&actions, commands.ends[0], spare);
  posix_spawn_file_actions_adddup2(&actions, answers.ends[1], spare + 1);
  posix_spawn_file_actions_adddup2(&actions, spare, 3);
  posix_spawn_file_actions_adddup2(&actions, spare + 1, 4);
  posix_spawnattr_t attributes{};
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int failed = posix_spawnp(&pid_, "chromium", &actions, &attributes, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(commands.ends[0]);
  close(answers.ends[1]);
  to_ = commands.ends[1];
  from_ = answers.ends[0];
  if (failed != 0) {
    throw std::runtime_error{"chromium cannot be started"};
  }
  const Json target = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget",
                  {{"targetId", target["targetId"]}, {"flatten", true}})["sessionId"];
  for (const char* const domain : {"Page", "Runtime", "Log"}) {
    call(std::string{domain} + ".enable", Json::object());
  }
  resize(1280, 1000);
}

Browser::~Browser() {
  close(to_);
  close(from_);
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

Json Browser::next_message() {
  std::size_t end = 0;
  while ((end = received_.find('\0')) == std::string::npos) {
    pollfd ready{.fd = from_, .events = POLLIN, .revents = 0};
    std::array<char, 65'536> buffer{};
    const ssize_t got =
        poll(&ready, 1, patience_ms) == 1 ? read(from_, buffer.data(), buffer.size()) : 0;
    if (got <= 0) {
      throw std::runtime_error{"the browser does not answer"};
    }
    received_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  Json message = Json::parse(received_.substr(0, end));
  received_.erase(0, end + 1);
  return message;
}

void Browser::note(const Json& event) {
  const std::string method = event.value("method", "");
  if (method == "Runtime.exceptionThrown") {
    complaints_.push_back(event["params"]["exceptionDetails"].dump());
  } else if (method == "Log.entryAdded" && event["params"]["entry"]["level"] == "error") {
    const std::string text = event["params"]["entry"]["text"];
    if (text.find("status of 400") == std::string::npos) {
      complaints_.push_back(text);
    }
  }
}

Json Browser::call(const std::string& method, Json parameters) {
  const int id = ++last_id_;
  Json message{{"id", id}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) {
    message["sessionId"] = session_;
  }
  const std::string bytes = message.dump() + '\0';
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t wrote = write(to_, bytes.data() + sent, bytes.size() - sent);
    if (wrote <= 0) {
      throw std::runtime_error{"the browser is gone"};
    }
    sent += static_cast<std::size_t>(wrote);
  }
  for (;;) {
    Json answer = next_message();
    if (answer.value("id", 0) != id) {
      note(answer);
    } else if (answer.contains("error")) {
      throw std::runtime_error{method + ": " + answer["error"].dump()};
    } else {
      return answer["result"];
    }
  }
}

void Browser::open(const std::string& url) {
  call("Page.navigate", {{"url", url}});
  value(
      "new Promise(done => document.readyState === 'complete' ? done() : "
      "addEventListener('load', () => done()))");
}

void Browser::resize(int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

Json Browser::value(const std::string& expression) {
  const Json result =
      call("Runtime.evaluate",
           {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  if (result.contains("exceptionDetails")) {
    throw std::runtime_error{expression + ": " + result["exceptionDetails"].dump()};
  }
  return result["result"].value("value", Json{});
}

std::string Browser::text(const std::string& selector) {
  return value("document.querySelector(" + quoted(selector) + ").textContent.trim()");
}

void Browser::click(const std::string& selector) {
  value("document.querySelector(" + quoted(selector) +
        ").dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))");
}

void Browser::press(const std::string& key, bool shift) {
  for (const char* const type : {"keyDown", "keyUp"}) {
    Json parameters{{"type", type}, {"key", key}, {"modifiers", shift ? 8 : 0}};
    if (key.size() == 1 && std::string{type} == "keyDown") {
      parameters["text"] = key;
    }
    call("Input.dispatchKeyEvent", parameters);
  }
}

}  // namespace holdfast::test
