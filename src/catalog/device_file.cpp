// SPDX-License-Identifier: Apache-2.0
#include "catalog/device_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>

#include "catalog/fields.h"
#include "catalog/names.h"
#include "error.h"

namespace kvplan {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};
constexpr Unit kBytes[] = {{"B", 1},      {"kB", 1e3},   {"MB", 1e6},
                           {"GB", 1e9},   {"TB", 1e12},  {"KiB", 1024.},
                           {"MiB", kMiB}, {"GiB", kGiB}, {"TiB", 1024. * kGiB}};
constexpr Unit kBytesPerSecond[] = {{"GB/s", 1e9}, {"TB/s", 1e12}, {"MB/s", 1e6}};
constexpr Unit kFlopsPerSecond[] = {
    {"TFLOPS", 1e12}, {"TOPS", 1e12}, {"PFLOPS", 1e15}, {"GFLOPS", 1e9}};

// "80 GiB" → 80 * 2^30.
double quantity(const Node& node, std::span<const Unit> units) {
  const std::string text = node.string().value_or("");
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  std::string_view word(stop, static_cast<std::size_t>(end - stop));
  while (word.starts_with(' ')) word.remove_prefix(1);
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == word; });
  if (failure == std::errc() && unit != units.end() && std::isfinite(value) && value > 0 &&
      value * unit->scale < 1e18)
    return value * unit->scale;
  std::string known;
  for (const Unit& u : units) known += (known.empty() ? "" : ", ") + std::string(u.name);
  throw Error("expected a number above 0 with a unit (" + known + "), got '" + text.substr(0, 80) +
              "'")
      .at_line(node.line);
}

void set(Bytes& to, const Node& node) { to = Bytes(std::llround(quantity(node, kBytes))); }
void set(BytesPerSecond& to, const Node& node) {
  to = BytesPerSecond(quantity(node, kBytesPerSecond));
}
void set(FlopsPerSecond& to, const Node& node) {
  to = FlopsPerSecond(quantity(node, kFlopsPerSecond));
}
void set(double& to, const Node& node) { to = node.number().value_or(0); }
void set(std::int64_t& to, const Node& node) { to = node.integer().value_or(0); }

void allow_only(const Node& map, std::initializer_list<std::string_view> keys) {
  kvplan::allow_only(map, keys, "a device file");
}

// Where the numbers of a file or a section come from, unless one of them says otherwise.
struct Origin {
  std::string source;
  bool unverified = false;
};

Origin origin_of(const Node& section, const Origin& outer) {
  const Node* source = section.find("source");
  const Node* unverified = section.find("unverified");
  if (!source && !unverified) return outer;
  return {source ? source->string().value_or("") : outer.source,
          unverified && unverified->boolean().value_or(false)};
}

// A number: its text alone, or a map of value, source and unverified.
template <class T>
Fact<T> fact_of(const Node& node, const Origin& section, const std::string& key) {
  const bool is_map = node.kind == Node::map;
  if (is_map) allow_only(node, {"value", "source", "unverified", "note"});
  const Origin origin = is_map ? origin_of(node, section) : section;
  const Node* value = is_map ? node.find("value") : &node;
  if (!value || value->kind != Node::scalar)
    throw Error("this number has no value").of(key).at_line(node.line);
  if (origin.source.empty() && !origin.unverified)
    throw Error("this number has no source")
        .of(key)
        .at_line(node.line)
        .advise("Say where it is from in `source`, or mark it `unverified: true`.");
  Fact<T> fact{{}, origin.source, origin.unverified};
  try {
    set(fact.value, *value);
  } catch (Error& e) {
    throw e.of(key);
  }
  return fact;
}

template <class T>
std::optional<Fact<T>> optional_fact(const Node& section, const Origin& origin,
                                     const std::string& key) {
  const Node* node = section.find(key);
  if (!node || node->kind == Node::null) return std::nullopt;
  return fact_of<T>(*node, origin, key);
}

template <class T>
Fact<T> required_fact(const Node& section, const Origin& origin, const std::string& key) {
  if (auto fact = optional_fact<T>(section, origin, key)) return *fact;
  throw Error("a device needs this number").of(key).at_line(section.line);
}

const Node& section_of(const Node& file, const std::string& key) {
  if (const Node* section = file.find(key)) return *section;
  throw Error("a device file needs this part").of(key).at_line(file.line);
}

void read_memory(const Node& section, const Origin& file, std::string_view marketed,
                 DeviceSpec& device) {
  allow_only(section, {"marketed", "visible", "sizes", "type", "source", "unverified", "note"});
  const Origin origin = origin_of(section, file);
  const Node* chosen = &section;
  if (!marketed.empty()) {
    const Node& sizes = section_of(section, "sizes");
    for (const Node& size : sizes.items)
      if (text_in(size, "marketed") == marketed) chosen = &size;
    device.name += "-" + size_word(marketed);
    device.title += ", " + std::string(marketed);
  }
  device.memory_marketed = required_fact<Bytes>(*chosen, origin, "marketed");
  device.memory = required_fact<Bytes>(*chosen, origin, "visible");
}

void read_peaks(const Node& section, const Origin& file, DeviceSpec& device) {
  constexpr std::pair<std::string_view, Precision> kNames[] = {
      {"fp64", Precision::fp64}, {"fp32", Precision::fp32}, {"tf32", Precision::tf32},
      {"bf16", Precision::bf16}, {"fp16", Precision::fp16}, {"fp8", Precision::fp8},
      {"int8", Precision::int8}, {"fp4", Precision::fp4},   {"int4", Precision::int4}};
  constexpr std::string_view kHalf = "_half_accumulate";
  const Origin origin = origin_of(section, file);
  for (const auto& [key, value] : section.members) {
    if (key == "source" || key == "unverified" || key == "note") continue;
    const bool half = std::string_view(key).ends_with(kHalf);
    const std::string_view name = std::string_view(key).substr(0, key.size() - half * kHalf.size());
    const auto known = std::find_if(std::begin(kNames), std::end(kNames),
                                    [&](const auto& n) { return n.first == name; });
    if (known == std::end(kNames))
      throw Error("not an arithmetic format of a device").of(key).at_line(value.line);
    device.peaks.push_back({known->second, half, fact_of<FlopsPerSecond>(value, origin, key)});
  }
}

std::optional<Link> read_link(const Node* links, const Origin& file, const std::string& key) {
  const Node* node = links ? links->find(key) : nullptr;
  if (!node) return std::nullopt;
  allow_only(*node, {"kind", "per_direction", "gpus", "source", "unverified", "note"});
  Link link{text_in(*node, "kind"),
            required_fact<BytesPerSecond>(*node, origin_of(*node, file), "per_direction")};
  if (const Node* gpus = node->find("gpus")) {
    link.gpus = gpus->integer();
    if (link.gpus.value_or(0) < 2)
      throw Error("a link joins 2 GPUs or more").of("gpus").at_line(gpus->line);
  }
  return link;
}

std::optional<Price> read_price(const Node* node) {
  if (!node) return std::nullopt;
  allow_only(*node, {"usd_per_hour", "where", "date", "note"});
  const Node& range = section_of(*node, "usd_per_hour");
  Price price{0, 0, text_in(*node, "where"), text_in(*node, "date")};
  if (range.items.size() != 2 || price.where.empty() || price.date.empty())
    throw Error("a price is [low, high] with where and date").of("price").at_line(node->line);
  price.usd_per_hour_low = range.items[0].number().value_or(0);
  price.usd_per_hour_high = range.items[1].number().value_or(0);
  if (price.usd_per_hour_low <= 0 || price.usd_per_hour_high < price.usd_per_hour_low)
    throw Error("a price range goes from low to high, above 0").of("price").at_line(node->line);
  return price;
}

void read_chip(const Node& section, const Origin& file, DeviceSpec& device) {
  allow_only(section, {"processors", "last_level_cache", "watts", "source", "unverified", "note"});
  const Origin origin = origin_of(section, file);
  device.last_level_cache = optional_fact<Bytes>(section, origin, "last_level_cache");
  if (const auto n = optional_fact<std::int64_t>(section, origin, "processors"))
    device.processors = n->value;
  if (const auto watts = optional_fact<double>(section, origin, "watts"))
    device.watts = watts->value;
}

}  // namespace

DeviceSpec read_device(const Node& file, std::string_view marketed) {
  allow_only(file, {"name", "title", "aliases", "families", "vendor", "kind", "architecture",
                    "compute_capability", "year", "source", "unverified", "chip", "memory",
                    "bandwidth", "peaks", "links", "price", "instances", "notes"});
  DeviceSpec device;
  device.name = text_in(file, "name");
  device.title = text_in(file, "title");
  device.vendor = text_in(file, "vendor");
  device.kind = text_in(file, "kind");
  device.architecture = text_in(file, "architecture");
  if (const Node* capability = file.find("compute_capability"))
    device.compute_capability = capability->string();
  if (const Node* year = file.find("year"))
    if (const auto y = year->integer()) device.year = static_cast<int>(*y);
  const Origin everywhere = origin_of(file, {});
  read_memory(section_of(file, "memory"), everywhere, marketed, device);
  const Node& bandwidth = section_of(file, "bandwidth");
  allow_only(bandwidth, {"peak", "measured", "source", "unverified", "note"});
  const Origin origin = origin_of(bandwidth, everywhere);
  device.bandwidth = required_fact<BytesPerSecond>(bandwidth, origin, "peak");
  device.bandwidth_measured = optional_fact<BytesPerSecond>(bandwidth, origin, "measured");
  if (const Node* peaks = file.find("peaks")) read_peaks(*peaks, everywhere, device);
  if (const Node* chip = file.find("chip")) read_chip(*chip, everywhere, device);
  const Node* links = file.find("links");
  if (links) allow_only(*links, {"peer", "host"});
  device.peer = read_link(links, everywhere, "peer");
  device.host = read_link(links, everywhere, "host");
  device.price = read_price(file.find("price"));
  return device;
}

}  // namespace kvplan
