#include "store/etcd/record.hpp"

#include "base/percent.hpp"

#include <charconv>
#include <vector>

namespace holdfast::etcd {

namespace {

constexpr std::string_view head = "holdfast 1";
constexpr std::string_view plain = " -_.:/";
constexpr std::size_t field_count = 9;

std::string_view word(Record::State state) {
  switch (state) {
    case Record::State::waiting:
      return "waiting";
    case Record::State::held:
      return "held";
    case Record::State::broken:
      break;
  }
  return "broken";
}

std::optional<Record::State> state_of(std::string_view text) {
  for (const auto state : {Record::State::waiting, Record::State::held, Record::State::broken}) {
    if (text == word(state)) {
      return state;
    }
  }
  return std::nullopt;
}

bool read(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string Record::text() const {
  std::string all{head};
  for (const std::string& field :
       {owner.text(), std::string{word(state)}, std::to_string(ttl_ms),
        percent_encode(who.host, plain), std::to_string(who.pid), percent_encode(who.note, plain),
        percent_encode(value, plain), std::to_string(since_ms)}) {
    all += '\n';
    all += field;
  }
  return all;
}

std::optional<Record> Record::parse(std::string_view text) {
  std::vector<std::string_view> fields;
  while (fields.size() < field_count) {
    const std::size_t end = text.find('\n');
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const auto owner = OwnerId::parse(fields[1]);
  const auto state = state_of(fields[2]);
  const auto host = percent_decode(fields[4]);
  const auto note = percent_decode(fields[6]);
  const auto value = percent_decode(fields[7]);
  Record record;
  if (fields[0] != head || !owner || !state || !host || !note || !value ||
      !read(fields[3], record.ttl_ms) || !read(fields[5], record.who.pid) ||
      !read(fields[8], record.since_ms)) {
    return std::nullopt;
  }
  record.owner = *owner;
  record.state = *state;
  record.who.host = *host;
  record.who.note = *note;
  record.value = *value;
  return record;
}

}  // namespace holdfast::etcd
