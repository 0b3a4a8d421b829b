#include "tests/tidy/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

namespace holdfast::tidy {

namespace {

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Walks over a text once and copies what is code.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), out_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      step();
    }
    return std::move(out_);
  }

 private:
  bool next_is(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  void step() {
    if (next_is("//")) {
      blank_until(text_.find('\n', at_));
    } else if (next_is("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      blank_until(end == std::string_view::npos ? end : end + 2);
    } else if (next_is("R\"") && (at_ == 0 || !word_char(text_[at_ - 1]))) {
      raw_string();
    } else if (text_[at_] == '"' || (text_[at_] == '\'' && !digit_separator())) {
      literal(text_[at_]);
    } else {
      ++at_;
    }
  }

  bool digit_separator() const {
    return at_ > 0 && std::isxdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  void literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    ++at_;
    blank_until(end);
    ++at_;
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = text_.find(close, open);
    blank_until(end == std::string_view::npos ? end : end + close.size());
  }

  void blank_until(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (out_[at_] != '\n') {
        out_[at_] = ' ';
      }
    }
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_text(const std::vector<Finding>& findings) {
  std::ostringstream out;
  for (const Finding& finding : findings) {
    out << "\n  " << finding.path << ':' << finding.line << ": " << finding.what;
  }
  return out.str();
}

std::string code_only(std::string_view text) { return Blanker{text}.run(); }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) >> 6U) != 2U;
  }));
}

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.starts_with(prefix); });
}

std::vector<Include> includes_of(std::string_view text) {
  static const std::regex pattern{R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])"};
  std::vector<Include> includes;
  std::size_t number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, pattern)) {
      includes.push_back({number, match[2].str(), match[1].str() == "\""});
    }
  }
  return includes;
}

}  // namespace holdfast::tidy
