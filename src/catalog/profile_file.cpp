// SPDX-License-Identifier: Apache-2.0
#include "catalog/profile_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <initializer_list>

#include "catalog/fields.h"
#include "cost/columns.h"

namespace kvplan {
namespace {

const Node& required(const Node& map, std::string_view key) {
  if (const Node* node = map.find(key)) return *node;
  throw Error("a profile needs this").of(std::string(key)).at_line(map.line);
}

void allow_only(const Node& map, std::initializer_list<std::string_view> keys) {
  kvplan::allow_only(map, keys, "a profile");
}

const std::vector<Node>& list_of(const Node& map, std::string_view key) {
  static const std::vector<Node> kNone;
  const Node* node = map.find(key);
  if (!node || node->kind == Node::null) return kNone;
  if (node->kind != Node::list)
    throw Error("expected a list").of(std::string(key)).at_line(node->line);
  return node->items;
}

double number(const Node& map, std::string_view key, double least, double most) {
  const Node& node = required(map, key);
  const auto value = node.number();
  if (!value || !(*value >= least && *value <= most))
    throw Error(std::string("expected a number from ") + std::to_string(least) + " to " +
                std::to_string(most))
        .of(std::string(key))
        .at_line(node.line);
  return *value;
}

std::int64_t count(const Node& map, std::string_view key) {
  const auto value = required(map, key).integer();
  if (!value || *value < 0) throw Error("expected a count").of(std::string(key)).at_line(map.line);
  return *value;
}

template <class Quantity>
std::optional<Quantity> quantity(const Node& map, std::string_view key) {
  if (!map.find(key)) return std::nullopt;
  return Quantity(number(map, key, 1e-12, 1e18));
}

std::optional<Quality> quality(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  if (!node) return std::nullopt;
  allow_only(*node, {"samples", "median_ape", "p90_ape", "coverage"});
  return Quality{count(*node, "samples"), number(*node, "median_ape", 0, 1e9),
                 number(*node, "p90_ape", 0, 1e9), number(*node, "coverage", 0, 1)};
}

OperatorLaw law_for(OperatorClass op, int line) {
  switch (op) {
    case OperatorClass::weight_stream:
    case OperatorClass::gemm:
      return GemmLaw{};
    case OperatorClass::decode_attention:
      return DecodeAttentionLaw{};
    case OperatorClass::prefill_attention:
      return PrefillAttentionLaw{};
    case OperatorClass::latent_decode:
      return LatentLaw{};
    case OperatorClass::moe:
      return MoeLaw{};
    case OperatorClass::state_step:
    case OperatorClass::state_scan:
      return RecurrenceLaw{};
    case OperatorClass::sparse_step:
    case OperatorClass::sparse_scan:
      return SparseLatentLaw{};
    case OperatorClass::collective:
      return CollectiveLaw{};
    default:
      throw Error("no law describes this class").of("class").at_line(line);
  }
}

// What the law was before it had this constant; empty where it always had it.
template <class Law>
std::optional<double> before_gaining(std::string_view constant) {
  if constexpr (requires { Law::kGained; })
    for (const Gained& gained : Law::kGained)
      if (gained.name == constant) return gained.before;
  return std::nullopt;
}

constexpr const char* kAnotherBuild = "Another version of kv-plan wrote it: calibrate again.";

// Throws Error naming a constant that the law lacks or does not have.
template <class Law>
void read_constants(Law& law, const Node& node) {
  std::vector<std::string_view> known;
  Law::each(law, [&](const char* name, double& value, double low, double high) {
    known.push_back(name);
    const auto before = before_gaining<Law>(name);
    if (node.find(name))
      // A sibling's constants may lie beyond the box of a fit.
      value = before && node.find(name)->number() == before
                  ? *before
                  : number(node, name, low / 100, high * 100);
    else if (before)
      value = *before;
    else
      throw Error("this law has the constant " + std::string(name) + ", which is missing")
          .of("law")
          .at_line(node.line)
          .advise(kAnotherBuild);
  });
  for (const Node::Member& member : node.members)
    if (std::find(known.begin(), known.end(), member.key) == known.end())
      throw Error("this law has no such constant")
          .of(member.key.substr(0, 40))
          .at_line(member.value.line)
          .advise(kAnotherBuild);
}

OperatorLaw law(const Node& node, OperatorClass op) {
  OperatorLaw any = law_for(op, node.line);
  std::visit([&](auto& l) { read_constants(l, node); }, any);
  return any;
}

std::vector<Band> bands(const Node& fit) {
  std::vector<Band> all;
  for (const Node& node : list_of(fit, "bands")) {
    allow_only(node, {"up_to_seconds", "low", "high"});
    const Band band{Seconds(number(node, "up_to_seconds", 0, 1e9)), number(node, "low", 0, 1),
                    number(node, "high", 1, 1e9)};
    if (!all.empty() && band.up_to < all.back().up_to)
      throw Error("bands stand in order of time").of("bands").at_line(node.line);
    all.push_back(band);
  }
  if (all.empty()) throw Error("a fit needs an interval").of("bands").at_line(fit.line);
  return all;
}

Edge::Widening widening(const Node& edge, std::string_view key) {
  const std::vector<Node>& factors = list_of(edge, key);
  const auto within = [](const std::optional<double>& v, double least, double most) {
    return v && *v >= least && *v <= most;
  };
  if (factors.size() != 2 || !within(factors[0].number(), 0, 1) ||
      !within(factors[1].number(), 1, 1e9))
    throw Error("expected two factors, one up to 1 and one from it")
        .of(std::string(key))
        .at_line(edge.line);
  return {*factors[0].number(), *factors[1].number()};
}

std::vector<Edge> edges(const Node& fit) {
  std::vector<Edge> all;
  for (const Node& node : list_of(fit, "edges")) {
    allow_only(node, {"least", "most", "below", "above"});
    const Edge edge{count(node, "least"), count(node, "most"), widening(node, "below"),
                    widening(node, "above")};
    if (edge.least < 1 || edge.most < edge.least)
      throw Error("what was measured goes from a size to a larger one")
          .of("edges")
          .at_line(node.line);
    all.push_back(edge);
  }
  return all;
}

// Three whole numbers, for m, n and k.
std::array<int, 3> powers(const Node& correction, std::string_view key, int least) {
  const std::vector<Node>& numbers = list_of(correction, key);
  std::array<int, 3> three{};
  for (std::size_t i = 0; i < three.size(); ++i) {
    const auto value = numbers.size() == 3 ? numbers[i].integer() : std::nullopt;
    if (!value || *value < least || *value > 62)
      throw Error("expected three powers of two, for m, n and k")
          .of(std::string(key))
          .at_line(correction.line);
    three[i] = static_cast<int>(*value);
  }
  return three;
}

void append_numbers(const Node& line, std::vector<int>& out) {
  const std::string text = line.string().value_or("");
  const char *at = text.data(), *const end = at + text.size();
  while (at != end) {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || std::abs(value) > 10'000 || (next != end && *next != ' '))
      throw Error("expected whole numbers up to 10000, parted by blanks")
          .of("per_mille")
          .at_line(line.line);
    out.push_back(value);
    at = next == end ? end : next + 1;
  }
}

std::optional<Correction> correction(const Node& fit, const OperatorLaw& law) {
  const Node* node = fit.find("correction");
  if (!node) return std::nullopt;
  allow_only(*node, {"first_power", "powers", "per_mille"});
  if (!std::holds_alternative<GemmLaw>(law))
    throw Error("only laws of products are corrected").of("correction").at_line(node->line);
  Correction read;
  const auto first = powers(*node, "first_power", 0), counts = powers(*node, "powers", 1);
  for (std::size_t a = 0; a < 3; ++a) read.lattice.axes[a] = {first[a], counts[a]};
  for (const Node& line : list_of(*node, "per_mille")) append_numbers(line, read.per_mille);
  if (read.per_mille.size() != read.lattice.nodes())
    throw Error("a correction needs one number for each power of m, n and k")
        .of("per_mille")
        .at_line(node->line);
  return read;
}

Fit fit_from(const Node& node) {
  allow_only(node, {"class", "format", "variant", "samples", "nominal_coverage", "left_out",
                    "holdout", "bands", "edges", "law", "correction"});
  Fit fit;
  const auto op = operator_class_named(text_in(node, "class"));
  if (!op) throw Error("not a class of operators").of("class").at_line(node.line);
  fit.op = *op;
  fit.format = text_in(node, "format");
  if (!fit.format.empty()) fit.format = std::string(format_named(fit.format).name);
  fit.variant = text_in(node, "variant");
  fit.samples = count(node, "samples");
  fit.nominal = number(node, "nominal_coverage", 0, 1);
  fit.left_out = quality(node, "left_out");
  fit.holdout = quality(node, "holdout");
  fit.bands = bands(node);
  fit.edges = edges(node);
  fit.law = law(required(node, "law"), fit.op);
  fit.correction = correction(node, fit.law);
  return fit;
}

Measured measured_from(const Node& node) {
  const CellAt at = [&](std::string_view column) -> const std::string* {
    const Node* cell = node.find(column);
    return cell && cell->kind == Node::scalar ? &cell->text : nullptr;
  };
  try {
    const auto shape = shape_from(at);
    if (!shape) throw Error("a shape of no law");
    Measured row{
        *shape, Seconds(number(node, "seconds", 1e-12, 1e9)), text_in(node, "variant"), {}};
    for (const Node& sample : list_of(node, "samples"))
      row.samples.emplace_back(sample.number().value_or(0));
    return row;
  } catch (Error& error) {
    throw error.at_line(node.line);
  }
}

}  // namespace

Profile read_profile(const Node& file) {
  allow_only(file, {"profile_version", "name", "title", "machine", "origin", "licence", "date",
                    "written_by", "stream_read_bytes_per_second", "stream_copy_bytes_per_second",
                    "launch_seconds", "fits", "measured"});
  if (const auto version = required(file, "profile_version").integer(); version != 1)
    throw Error("this version of kv-plan reads profiles of version 1")
        .of("profile_version")
        .at_line(file.line)
        .advise("Calibrate again.");
  Profile profile;
  profile.device = required(file, "name").string().value_or("");
  profile.title = text_in(file, "title");
  profile.machine = text_in(file, "machine");
  profile.origin = text_in(file, "origin");
  profile.licence = text_in(file, "licence");
  profile.date = text_in(file, "date");
  profile.written_by = text_in(file, "written_by");
  profile.stream_read = quantity<BytesPerSecond>(file, "stream_read_bytes_per_second");
  profile.stream_copy = quantity<BytesPerSecond>(file, "stream_copy_bytes_per_second");
  profile.launch = quantity<Seconds>(file, "launch_seconds");
  for (const Node& node : list_of(file, "fits")) profile.fits.push_back(fit_from(node));
  for (const Node& node : list_of(file, "measured"))
    profile.measured.push_back(measured_from(node));
  return profile;
}

std::string_view head_in(std::string_view profile) {
  return profile.substr(0, profile.find("\nfits:"));
}

std::string_view laws_in(std::string_view profile) {
  return profile.substr(0, profile.find("\nmeasured:"));
}

}  // namespace kvplan
