#include "tests/tidy/rules.hpp"

#include <cctype>
#include <regex>

namespace holdfast::tidy {

namespace {

// Reads the declarations of one header, statement by statement. Bodies of functions, private
// members and namespace detail are left out: they are not promised to anybody.
class Lister {
 public:
  explicit Lister(std::string text) : text_(std::move(text)) {}

  std::string run() {
    scope(0, true);
    return std::move(out_);
  }

 private:
  static std::string squeezed(const std::string& raw) {
    static const std::regex spaces{R"(\s+)"};
    std::string text = std::regex_replace(raw, spaces, " ");
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  static bool opens_scope(const std::string& head) {
    static const std::regex pattern{
        R"(^(inline )?(template ?<.*> )?(namespace|class|struct|union|enum)\b)"};
    return std::regex_search(head, pattern);
  }

  void print(std::size_t depth, const std::string& line) {
    out_ += std::string(2 * depth, ' ') + line + "\n";
  }

  // From behind a '{' to behind its '}'.
  void skip_body() {
    for (std::size_t open = 1; open > 0 && at_ < text_.size(); ++at_) {
      open += text_[at_] == '{' ? 1U : 0U;
      open -= text_[at_] == '}' ? 1U : 0U;
    }
  }

  // Cuts the initialisers off the head of a constructor's definition.
  static std::string without_initialisers(const std::string& head) {
    static const std::regex pattern{R"(^(.*\)( noexcept)?) : .*$)"};
    return std::regex_replace(head, pattern, "$1");
  }

  // From behind an opening '{' (or the start of the text) to behind the closing one.
  void scope(std::size_t depth, bool shown) {
    std::string head;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '}') {
        if (shown && !squeezed(head).empty()) {
          print(depth, squeezed(head));  // the last enumerators have no semicolon
        }
        return;
      }
      if (c == ';') {
        if (shown && !squeezed(head).empty()) {
          print(depth, squeezed(head) + ";");
        }
        head.clear();
      } else if (c == '{') {
        brace(depth, shown, head);
      } else {
        head += c;
        shown = access(head, shown);
      }
    }
  }

  // Follows `public:` and `private:`; `head` is what stands before them.
  static bool access(std::string& head, bool shown) {
    const std::string text = head.ends_with(':') ? squeezed(head) : "";
    if (text == "public:" || text == "private:" || text == "protected:") {
      head.clear();
      return text == "public:";
    }
    return shown;
  }

  void brace(std::size_t depth, bool shown, std::string& head) {
    const std::string text = squeezed(head);
    if (opens_scope(text)) {
      const bool hidden = text.find("namespace detail") != std::string::npos;
      const bool is_class = text.find("class ") != std::string::npos && !text.starts_with("enum");
      if (shown && !hidden) {
        print(depth, text);
      }
      const bool members_shown = shown && !hidden && !is_class;
      class_scope(depth + 1, members_shown, shown && !hidden);
      head.clear();
    } else if (text.find('(') != std::string::npos && !text.ends_with("=")) {
      skip_body();
      if (shown) {
        print(depth, without_initialisers(text) + ";");
      }
      head.clear();
    } else {  // the initialiser of a variable: up to the ';' it belongs to the declaration
      const std::size_t start = at_;
      skip_body();
      head += "{" + text_.substr(start, at_ - start);
    }
  }

  // A scope that starts hidden may turn visible at `public:`, but only if it itself is visible.
  void class_scope(std::size_t depth, bool members_shown, bool visible) {
    const std::size_t before = out_.size();
    scope(depth, members_shown);
    if (!visible) {
      out_.resize(before);
    }
  }

  std::string text_;
  std::string out_{};
  std::size_t at_ = 0;
};

}  // namespace

std::string api_listing(const std::vector<File>& public_headers) {
  static const std::regex directive{R"((^|\n)#[^\n]*)"};
  std::string listing;
  for (const File& header : public_headers) {
    const std::string code = std::regex_replace(code_only(header.text), directive, "$1");
    listing += "<" + header.path.substr(std::string{"include/"}.size()) + ">\n";
    listing += Lister{code}.run() + "\n";
  }
  return listing;
}

}  // namespace holdfast::tidy
