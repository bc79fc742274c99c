// SPDX-License-Identifier: Apache-2.0
// JSON text → Node, or events, through nlohmann's event parser.
#include "catalog/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "catalog/builder.h"
#include "error.h"

namespace kvplan {
namespace {

// Published configurations contain the bare tokens NaN, Infinity and -Infinity (time_step_limit);
// outside strings they become null. Lines stay where they are.
std::string without_bare_infinities(std::string_view text) {
  constexpr std::string_view kTokens[] = {"-Infinity", "Infinity", "NaN"};
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      out += text[i++];
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      const auto token =
          std::find_if(std::begin(kTokens), std::end(kTokens),
                       [&](std::string_view t) { return text.substr(i, t.size()) == t; });
      if (token != std::end(kTokens)) {
        out += "null";
        i += token->size() - 1;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(std::string_view text, const char* const* reached)
      : text_(text), reached_(reached), counted_(text.data()) {}
  NodeBuilder builder;

  bool null() override { return builder.null(line()), true; }
  bool boolean(bool value) override {
    return builder.scalar(value ? "true" : "false", false, line()), true;
  }
  bool number_integer(number_integer_t value) override {
    return builder.scalar(std::to_string(value), false, line()), true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    return builder.scalar(std::to_string(value), false, line()), true;
  }
  bool number_float(number_float_t, const string_t& text) override {
    return builder.scalar(text, false, line()), true;
  }
  bool string(string_t& text) override {
    return builder.scalar(std::move(text), true, line()), true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return builder.open(Node::map, line()), true; }
  bool end_object() override { return builder.close(), true; }
  bool start_array(std::size_t) override { return builder.open(Node::list, line()), true; }
  bool end_array() override { return builder.close(), true; }
  bool key(string_t& text) override { return builder.key(std::move(text), line()), true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    const std::size_t end = std::min(position, text_.size());
    const auto newlines =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    throw Error(end >= text_.size() ? "the JSON text ends too early" : "not valid JSON")
        .at_line(static_cast<int>(newlines) + 1)
        .advise("Check the file: it may be truncated, or not a JSON file at all.");
  }

 private:
  // The parser reports no positions with its events; the iterator that feeds it does.
  int line() {
    lines_ += static_cast<int>(std::count(counted_, *reached_, '\n'));
    counted_ = *reached_;
    return lines_;
  }

  std::string_view text_;
  const char* const* reached_;
  const char* counted_;  // up to here
  int lines_ = 1;
};

// Feeds characters to the parser and says how far it came.
struct FollowedIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** reached;

  reference operator*() const { return *at; }
  FollowedIterator& operator++() {
    *reached = ++at;
    return *this;
  }
  FollowedIterator operator++(int) {
    FollowedIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const FollowedIterator& a, const FollowedIterator& b) {
    return a.at == b.at;
  }
  friend bool operator!=(const FollowedIterator& a, const FollowedIterator& b) { return !(a == b); }
};

// Passes events on, each with its place.
class Relay : public nlohmann::json_sax<nlohmann::json> {
 public:
  Relay(JsonVisitor& visitor, const char* start, const char* const* reached)
      : visitor_(visitor), start_(start), reached_(reached) {}

  bool null() override { return to().other(), true; }
  bool boolean(bool) override { return to().other(), true; }
  bool number_integer(number_integer_t) override { return to().other(), true; }
  bool number_unsigned(number_unsigned_t value) override { return to().integer(value), true; }
  bool number_float(number_float_t, const string_t&) override { return to().other(), true; }
  bool string(string_t& text) override { return to().text(std::move(text)), true; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return to().open(true), true; }
  bool end_object() override { return to().close(), true; }
  bool start_array(std::size_t) override { return to().open(false), true; }
  bool end_array() override { return to().close(), true; }
  bool key(string_t& text) override { return to().key(std::move(text)), true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    throw Error("not valid JSON").at_offset(static_cast<std::int64_t>(position));
  }

 private:
  JsonVisitor& to() {
    visitor_.offset = static_cast<std::size_t>(*reached_ - start_);
    return visitor_;
  }

  JsonVisitor& visitor_;
  const char* start_;
  const char* const* reached_;
};

}  // namespace

void visit_json(std::string_view text, JsonVisitor& visitor) {
  const char* reached = text.data();
  Relay relay(visitor, text.data(), &reached);
  const FollowedIterator begin{text.data(), &reached}, end{text.data() + text.size(), &reached};
  try {
    if (!nlohmann::json::sax_parse(begin, end, &relay)) throw Error("not valid JSON");
  } catch (Error& e) {
    e.at_offset(static_cast<std::int64_t>(visitor.offset));
    e.offset = std::min(e.offset, static_cast<std::int64_t>(text.size()));  // where it is cut off
    throw;
  }
}

Node parse_json(std::string_view given) {
  if (given.size() > kMostTextBytes) throw Error("the text is larger than 64 MiB");
  const std::string text = without_bare_infinities(given);
  const char* reached = text.data();
  Events events(text, &reached);
  const FollowedIterator begin{text.data(), &reached}, end{text.data() + text.size(), &reached};
  if (!nlohmann::json::sax_parse(begin, end, &events)) throw Error("not valid JSON");
  return events.builder.finish();
}

}  // namespace kvplan
