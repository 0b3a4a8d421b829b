#include "lab/svg.hpp"

#include <array>
#include <charconv>

namespace holdfast::lab {

std::string escape_xml(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string number(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, 1);
  std::string text{digits.data(), end.ptr};
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text;
}

void SvgWriter::tag(std::string_view name, Attributes attributes) {
  text_.append("<").append(name);
  for (const auto& [key, value] : attributes) {
    text_.append(" ").append(key).append("=\"").append(escape_xml(value)).append("\"");
  }
}

SvgWriter& SvgWriter::open(std::string_view name, Attributes attributes) {
  tag(name, attributes);
  text_.append(">\n");
  return *this;
}

SvgWriter& SvgWriter::close(std::string_view name) {
  text_.append("</").append(name).append(">\n");
  return *this;
}

SvgWriter& SvgWriter::element(std::string_view name, Attributes attributes) {
  tag(name, attributes);
  text_.append("/>\n");
  return *this;
}

SvgWriter& SvgWriter::element(std::string_view name, Attributes attributes,
                              std::string_view inner) {
  tag(name, attributes);
  text_.append(">").append(escape_xml(inner));
  return close(name);
}

}  // namespace holdfast::lab
