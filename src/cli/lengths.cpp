// SPDX-License-Identifier: Apache-2.0
#include "cli/lengths.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "catalog/files.h"
#include "catalog/node.h"
#include "cli/values.h"
#include "cli/words.h"

namespace kvplan {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 32;
constexpr const char* kHint =
    "Give a csv with a header like input_tokens,output_tokens, JSON lines with input_length and "
    "output_length, or one length a line.";

// Columns by their names in public traces, in lower case without separators.
constexpr std::array<std::string_view, 9> kInputs = {
    "inputtokens",   "inputlength",  "input",        "contexttokens", "numprefilltokens",
    "requesttokens", "prompttokens", "promptlength", "promptlen"};
constexpr std::array<std::string_view, 9> kOutputs = {
    "outputtokens",   "outputlength",     "output",    "generatedtokens", "numdecodetokens",
    "responsetokens", "completiontokens", "outputlen", "generatedlength"};
constexpr std::array<std::string_view, 4> kTotals = {"length", "tokens", "totaltokens",
                                                     "numtotaltokens"};

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '_' && c != ' ' && c != '-' && c != '"' && c != '\'')
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view unquoted(std::string_view field) {
  field = trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = field.substr(1, field.size() - 2);
  return trimmed(field);
}

// "374" or "374.0".
std::optional<std::int64_t> tokens_in(std::string_view field) {
  field = unquoted(field);
  if (const std::size_t dot = field.find('.');
      dot != std::string_view::npos &&
      field.find_first_not_of('0', dot + 1) == std::string_view::npos)
    field = field.substr(0, dot);
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), n);
  if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
  return n >= 0 && n <= kMostTokens ? std::optional(n) : std::nullopt;
}

std::int64_t needed_tokens(std::string_view field) {
  if (const auto n = tokens_in(field)) return *n;
  std::string shown(field.substr(0, 40));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  throw Error("'" + shown + "' is not a number of tokens");
}

struct Columns {
  std::optional<std::size_t> input, output, total;
};

Columns columns_of(const std::vector<std::string_view>& header) {
  Columns c;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string name = plain(header[i]);
    if (among(kInputs, name)) c.input = i;
    if (among(kOutputs, name)) c.output = i;
    if (among(kTotals, name)) c.total = i;
  }
  if (!c.input && !c.output && !c.total) throw Error("no column names lengths").advise(kHint);
  if (c.input || c.output) c.total.reset();
  return c;
}

// Without a header: a length, or input and output.
Columns bare_columns(std::size_t fields) {
  if (fields == 1) return {{}, {}, 0};
  if (fields == 2) return {0, 1, {}};
  throw Error("has " + std::to_string(fields) + " columns and no header").advise(kHint);
}

RequestLength read_fields(const std::vector<std::string_view>& fields, const Columns& c) {
  const auto at = [&](const std::optional<std::size_t>& i) -> std::int64_t {
    if (!i) return 0;
    if (*i >= fields.size()) throw Error("has too few columns");
    return needed_tokens(fields[*i]);
  };
  return {c.total ? at(c.total) : at(c.input), at(c.output)};
}

RequestLength read_object(std::string_view line) {
  const Node node = parse_json(line);
  std::optional<std::int64_t> input, output, total;
  for (const auto& [key, value] : node.members) {
    const std::string name = plain(key);
    if (among(kInputs, name)) input = needed_tokens(value.text);
    if (among(kOutputs, name)) output = needed_tokens(value.text);
    if (among(kTotals, name)) total = needed_tokens(value.text);
  }
  if (!input && !output && !total) throw Error("no member names lengths").advise(kHint);
  if (!input && !output) return {*total, 0};
  return {input.value_or(0), output.value_or(0)};
}

void refuse_binary(std::string_view text) {
  if (text.starts_with("\x1f\x8b"))
    throw Error("is compressed").advise("Unpack it first: gunzip -k FILE.");
  if (text.find('\0') != std::string_view::npos) throw Error("is not text").advise(kHint);
}

// Reads line by line; the first one that holds no numbers is the header.
class Reader {
 public:
  void line(std::string_view text) {
    if (text.starts_with('{')) return keep(read_object(text));
    const auto fields = split(text, ',');
    if (columns_) return keep(read_fields(fields, *columns_));
    const bool header = std::none_of(fields.begin(), fields.end(),
                                     [](std::string_view f) { return tokens_in(f).has_value(); });
    columns_ = header ? columns_of(fields) : bare_columns(fields.size());
    if (!header) keep(read_fields(fields, *columns_));
  }
  std::vector<RequestLength> found;

 private:
  void keep(const RequestLength& r) {
    if (r.total() > 0) found.push_back(r);
  }
  std::optional<Columns> columns_;
};

}  // namespace

std::vector<RequestLength> parse_request_lengths(std::string_view text) {
  refuse_binary(text);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Reader reader;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trimmed(line);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    try {
      reader.line(line);
    } catch (Error& e) {
      e.line = number;
      throw;
    }
  }
  if (reader.found.empty()) throw Error("holds no request").advise(kHint);
  return std::move(reader.found);
}

std::vector<RequestLength> request_lengths(const std::string& list_or_path) {
  const bool is_list =
      list_or_path.find_first_not_of("0123456789kKmM,.*+- ") == std::string::npos &&
      !std::filesystem::exists(list_or_path);
  try {
    if (!is_list) return parse_request_lengths(read_text_file(list_or_path));
    std::vector<RequestLength> lengths;
    for (const std::int64_t n : counts_of(list_or_path)) lengths.push_back({n, 0});
    return lengths;
  } catch (Error& e) {
    if (is_list) throw e.of("--lengths");
    throw e.of("--lengths").in(list_or_path);
  }
}

}  // namespace kvplan
