#include "tests/chaos/taker.hpp"

#include "test_paths.hpp"
#include "tests/support/eventually.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

namespace holdfast::chaos {

Taker::Taker(const std::string& url, std::vector<std::string> arguments, TakerOptions options) {
  const std::string orders = (dir_ / "orders").string();
  if (mkfifo(orders.c_str(), 0600) != 0) {
    throw std::runtime_error{"cannot make " + orders};
  }
  orders_ = open(orders.c_str(), O_RDWR | O_CLOEXEC);
  test::ProcessOptions process;
  process.args = std::move(options.before);
  process.args.push_back(HOLDFAST_LOCK_TAKER);
  process.args.insert(process.args.end(), {"--store", url, "--orders", orders});
  process.args.insert(process.args.end(), arguments.begin(), arguments.end());
  process.env = std::move(options.env);
  process.own_group = true;
  process_ = std::make_unique<test::Process>(std::move(process));
}

Taker::~Taker() { close(orders_); }

void Taker::order(const std::string& line) {
  const std::string text = line + "\n";
  if (write(orders_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error{"cannot give an order"};
  }
}

bool Taker::await(const std::string& word, std::chrono::nanoseconds patience) {
  const auto found = [&] {
    const std::string out = process_->out();
    for (std::size_t end = out.find('\n', seen_); end != std::string::npos;
         end = out.find('\n', seen_)) {
      const std::string line = out.substr(seen_, end - seen_);
      seen_ = end + 1;
      if (line.starts_with(word)) {
        last_ = line;
        return true;
      }
    }
    return false;
  };
  return test::eventually(found, patience);
}

std::int64_t Taker::fence() const {
  std::istringstream words{last_};
  std::string granted;
  std::int64_t number = 0;
  words >> granted >> number;
  return number;
}

std::string Taker::owner() const { return last_.substr(last_.rfind(' ') + 1); }

}  // namespace holdfast::chaos
