#include "store/redis/sentinel_news.hpp"

#include <charconv>
#include <vector>

namespace holdfast::redis {

namespace {

std::optional<Address> address_of(std::string_view host, std::string_view port) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || error != std::errc{} || end != port.data() + port.size() || number == 0) {
    return std::nullopt;
  }
  return Address{std::string(host), number};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto space = text.find(' ');
    words.push_back(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return words;
}

}  // namespace

std::optional<SentinelWord> parse_word(const Reply& address, const Reply& master) {
  if (address.size() != 2) {
    return std::nullopt;
  }
  const auto found = address_of(address.at(0).text(), address.at(1).text());
  if (!found) {
    return std::nullopt;
  }
  SentinelWord word{.primary = *found};
  for (std::size_t i = 0; i + 1 < master.size(); i += 2) {
    const std::string_view field = master.at(i).text();
    if (field == "config-epoch") {
      word.epoch = static_cast<std::uint64_t>(master.at(i + 1).number());
    } else if (field == "num-slaves") {
      word.replicas = static_cast<std::uint32_t>(master.at(i + 1).number());
    } else if (field == "num-other-sentinels") {
      word.sentinels = 1 + static_cast<std::uint32_t>(master.at(i + 1).number());
    } else if (field == "quorum") {
      word.quorum = static_cast<std::uint32_t>(master.at(i + 1).number());
    }
  }
  return word;
}

std::optional<SentinelNews> parse_news(std::string_view channel, std::string_view payload,
                                       std::string_view name) {
  const std::vector<std::string_view> words = words_of(payload);
  if (channel == switch_channel && words.size() == 5 && words[0] == name) {
    // name, the old host and port, the new ones
    if (const auto address = address_of(words[3], words[4])) {
      return SentinelNews{SentinelNews::Kind::switched, *address};
    }
  }
  const bool of_replica = channel == selected_channel || channel == promoted_channel;
  if (of_replica && words.size() >= 6 && words[4] == "@" && words[5] == name) {
    // "slave", its own name, host, port, "@", the name of the primary, …
    if (const auto address = address_of(words[2], words[3])) {
      return SentinelNews{SentinelNews::Kind::selected, *address};
    }
  }
  return std::nullopt;
}

}  // namespace holdfast::redis
