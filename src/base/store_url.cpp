#include "base/store_url.hpp"

#include "base/percent.hpp"

#include <holdfast/error.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace holdfast {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(errc::invalid_url, why); }

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// `part` is what a message calls it. Its text is not shown: it may be a password.
std::string decode(std::string_view text, const char* part) {
  const auto bytes = percent_decode(text);
  if (!bytes) refuse(std::string("a \"%\" in the ") + part + " is not followed by two hex digits");
  if (bytes->find('\0') != std::string::npos) {
    refuse(std::string("the ") + part + " holds a zero byte");
  }
  return *bytes;
}

bool is_ipv6(const std::string& text) noexcept {
  in6_addr address{};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

std::uint16_t parse_port(std::string_view text, std::string_view host) {
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end || value == 0 || value > 65535) {
    // Shown only when it cannot be a password with a forgotten "@host" behind it.
    const bool digits = std::all_of(text.begin(), text.end(), is_digit);
    refuse("port " + (digits ? quoted(text) + " " : std::string{}) + "of host " + quoted(host) +
           " is not a number from 1 to 65535");
  }
  return static_cast<std::uint16_t>(value);
}

// The inside of the brackets. RFC 6874 writes the zone's "%" as "%25"; people write "%".
std::string parse_bracketed(std::string_view inside) {
  const std::size_t percent = inside.find('%');
  const std::string address(inside.substr(0, percent));
  if (!is_ipv6(address)) refuse(quoted(inside) + " in brackets is not an IPv6 address");
  if (percent == std::string_view::npos) return address;
  std::string_view zone = inside.substr(percent + 1);
  if (zone.size() > 2 && zone.starts_with("25")) zone.remove_prefix(2);
  if (zone.empty()) refuse("the zone of the IPv6 address " + quoted(inside) + " is empty");
  return address + "%" + std::string(zone);
}

StoreUrl::Host parse_bare_ipv6(std::string_view text) {
  const std::string address(text);
  const std::size_t percent = text.find('%');
  if (!is_ipv6(address.substr(0, percent))) {
    refuse("host " + quoted(text) + " has too many colons; write an IPv6 address as [::1]:6379");
  }
  // "::1:6379" is an address too, but nearly always meant as a port.
  const std::string_view last = text.substr(text.rfind(':') + 1);
  const bool like_a_port = last.size() >= 3 && std::all_of(last.begin(), last.end(), is_digit);
  if (like_a_port && is_ipv6(address.substr(0, text.rfind(':')))) {
    refuse("host " + quoted(text) + " could mean two things; write [address] or [address]:port");
  }
  return {.name = percent == std::string_view::npos ? address : parse_bracketed(text), .port = {}};
}

void check_host_name(std::string_view name) {
  if (name.empty()) refuse("a host is empty");
  if (name.size() > 253) refuse("a host name is longer than 253 bytes");
  const auto plain = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  };
  if (!std::all_of(name.begin(), name.end(), plain)) {
    refuse("host " + quoted(name) + " holds a character that no host name has");
  }
  const bool numeric =
      std::all_of(name.begin(), name.end(), [](char c) { return is_digit(c) || c == '.'; });
  in_addr address{};
  if (numeric && inet_pton(AF_INET, std::string(name).c_str(), &address) != 1) {
    refuse("host " + quoted(name) + " is not an IPv4 address of four numbers from 0 to 255");
  }
}

StoreUrl::Host parse_host(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) refuse("host " + quoted(text) + " has no closing bracket");
    StoreUrl::Host host{.name = parse_bracketed(text.substr(1, close - 1)), .port = {}};
    const std::string_view rest = text.substr(close + 1);
    if (rest.empty()) return host;
    if (rest.front() != ':') refuse(quoted(rest) + " follows the brackets of host " + quoted(text));
    host.port = parse_port(rest.substr(1), host.name);
    return host;
  }
  if (std::count(text.begin(), text.end(), ':') > 1) return parse_bare_ipv6(text);
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  check_host_name(name);
  if (colon == std::string_view::npos) return {.name = std::string(name), .port = {}};
  return {.name = std::string(name), .port = parse_port(text.substr(colon + 1), name)};
}

std::vector<StoreUrl::Host> parse_hosts(std::string_view list) {
  std::vector<StoreUrl::Host> hosts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    hosts.push_back(parse_host(list.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
    if (list.empty()) refuse("the list of hosts ends with a comma");
  }
  return hosts;
}

// A "/" in a password cuts the authority short; saying what follows would tell the password.
[[noreturn]] void refuse_cut_authority() {
  refuse(
      "an \"@\" comes after the first \"/\" or \"?\"; in a password write \"/\" as %2F, \"?\" as "
      "%3F "
      "and \"#\" as %23, elsewhere write \"@\" as %40");
}

void parse_authority(StoreUrl& url, std::string_view authority, std::string_view rest) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) {
    try {
      url.hosts = parse_hosts(authority);
    } catch (const Error&) {
      if (rest.find('@') == std::string_view::npos) throw;
      refuse_cut_authority();
    }
    // "user:123/word@host": what looks like a port is the start of a password.
    const std::string_view path = rest.substr(0, rest.find('?'));
    if (!url.hosts.empty() && path.find('@') != std::string_view::npos) refuse_cut_authority();
    return;
  }
  const std::string_view user_info = authority.substr(0, at);
  const std::size_t colon = user_info.find(':');
  url.user = decode(user_info.substr(0, colon), "user");
  if (colon != std::string_view::npos) {
    url.password = decode(user_info.substr(colon + 1), "password");
  }
  url.hosts = parse_hosts(authority.substr(at + 1));
}

void parse_query(StoreUrl& url, std::string_view query) {
  while (!query.empty()) {
    const std::size_t ampersand = query.find('&');
    const std::string_view pair = query.substr(0, ampersand);
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals).find('@') != std::string_view::npos) refuse_cut_authority();
    const std::string key = decode(pair.substr(0, equals), "query");
    if (key.empty() || equals == std::string_view::npos) {
      refuse("option " + quoted(key) + " after the \"?\" is not of the form key=value");
    }
    if (url.option(key) != nullptr) refuse("option " + quoted(key) + " is given twice");
    url.query.emplace_back(key, decode(pair.substr(equals + 1), "query"));
    if (ampersand == std::string_view::npos) break;
    query.remove_prefix(ampersand + 1);
  }
}

std::string parse_scheme(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    refuse("there is no scheme; a store is named like sqlite:///path or redis://host:6379");
  }
  const std::string_view scheme = text.substr(0, colon);
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '+' || c == '-' || c == '.';
  };
  if (scheme.empty() || !std::all_of(scheme.begin(), scheme.end(), allowed) ||
      is_digit(scheme.front())) {
    refuse("the scheme before the first \":\" is not a word in small letters");
  }
  return std::string(scheme);
}

std::string host_text(const StoreUrl::Host& host) {
  const bool brackets = host.name.find(':') != std::string::npos;
  std::string text = brackets ? "[" + host.name + "]" : host.name;
  if (host.port) text += ":" + std::to_string(*host.port);
  return text;
}

}  // namespace

StoreUrl StoreUrl::parse(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') {
      refuse("it holds a space or a control character");
    }
  }
  StoreUrl url;
  url.scheme = parse_scheme(text);
  std::string_view rest = text.substr(url.scheme.size() + 1);
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    rest.remove_prefix(authority.size());
    parse_authority(url, authority, rest);
  }
  if (rest.find('#') != std::string_view::npos) {
    refuse("it holds a \"#\"; where one belongs to a name, write %23");
  }
  const std::size_t question = rest.find('?');
  url.path = decode(rest.substr(0, question), "path");
  if (question != std::string_view::npos) parse_query(url, rest.substr(question + 1));
  return url;
}

const std::string* StoreUrl::option(std::string_view key) const noexcept {
  const auto found = std::find_if(query.begin(), query.end(),
                                  [key](const auto& pair) { return pair.first == key; });
  return found == query.end() ? nullptr : &found->second;
}

std::string StoreUrl::text_without_password() const {
  std::string text = scheme + ":";
  const bool authority = !hosts.empty() || !user.empty() || path.starts_with('/');
  if (authority) text += "//";
  if (!user.empty()) text += percent_encode(user, "!$&'()*+,;=") + "@";
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    text += (i == 0 ? "" : ",") + host_text(hosts[i]);
  }
  text += percent_encode(path, "/!$&'()*+,;=:@");
  for (std::size_t i = 0; i < query.size(); ++i) {
    const auto& [key, value] = query[i];
    if (key == "password") continue;  // no such option, but people try
    text += text.find('?') == std::string::npos ? '?' : '&';
    text += percent_encode(key, "+:@/") + "=" + percent_encode(value, "/+,:@*[]()!");
  }
  return text;
}

}  // namespace holdfast
