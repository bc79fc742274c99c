// SPDX-License-Identifier: Apache-2.0
#include "catalog/catalog.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <tuple>

#include "catalog/device_words.h"
#include "catalog/embedded.h"
#include "catalog/files.h"

using namespace kvplan;

namespace {

const Catalog& catalog() {
  static const Catalog shared;
  return shared;
}

std::vector<DeviceSpec> all_devices() {
  std::vector<DeviceSpec> devices;
  for (const CatalogEntry& entry : catalog().entries("devices"))
    devices.push_back(catalog().device(entry.name));
  return devices;
}

std::optional<FlopsPerSecond> peak(const DeviceSpec& device, Precision precision) {
  std::optional<FlopsPerSecond> best;
  for (const Peak& p : device.peaks)
    if (p.precision == precision && (!best || *best < p.rate.value)) best = p.rate.value;
  return best;
}

}  // namespace

TEST_CASE("every device of the catalog reads and is found by its name and by every alias") {
  REQUIRE(catalog().entries("devices").size() >= 100);
  for (const CatalogEntry& entry : catalog().entries("devices")) {
    CAPTURE(entry.name);
    CHECK(catalog().device(entry.name).name == entry.name);
    CHECK("devices/" + entry.name + ".yaml" == entry.file);
    for (const std::string& alias : entry.aliases) {
      CAPTURE(alias);
      std::string note;
      CHECK(catalog().device(alias, &note).name == entry.name);
      CHECK(note.empty());
    }
  }
}

TEST_CASE("no two files of a kind share a name") {
  std::set<std::string> keys;
  for (const EmbeddedName& n : embedded_names()) {
    CAPTURE(n.written);
    CHECK(keys.insert(std::string(n.kind) + "/" + std::string(n.key)).second);
    CHECK(n.key == normalized(n.written));
  }
}

TEST_CASE("every device's numbers are of the right size") {
  for (const DeviceSpec& d : all_devices()) {
    CAPTURE(d.name);
    CHECK(!d.title.empty());
    CHECK(!d.vendor.empty());
    CHECK(d.memory.value.n >= 2 * kGiB);
    CHECK(d.memory.value <= d.memory_marketed.value);
    CHECK(d.memory.value.n >= d.memory_marketed.value.n / 2);
    CHECK(d.bandwidth.value.v >= 30e9);
    CHECK(d.bandwidth.value.v <= 20e12);
    if (d.bandwidth_measured) {
      CHECK(d.bandwidth_measured->value.v <= d.bandwidth.value.v);
      CHECK(d.bandwidth_measured->value.v >= 0.4 * d.bandwidth.value.v);
    }
    if (d.last_level_cache) CHECK(d.last_level_cache->value.n < d.memory.value.n / 2);
    for (const Peak& p : d.peaks) CHECK(p.rate.value.v < 20e15);
    if (d.year) CHECK((*d.year >= 2014 && *d.year <= 2027));
  }
}

TEST_CASE("narrower operands are never slower on a device, integer units aside") {
  for (const DeviceSpec& d : all_devices()) {
    CAPTURE(d.name);
    const Precision ladder[] = {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp8,
                                Precision::fp4};
    std::optional<FlopsPerSecond> wider;
    for (const Precision p : ladder) {
      const auto rate = peak(d, p);
      if (wider && rate) CHECK(rate->v >= wider->v * 0.99);
      if (rate) wider = rate;
    }
  }
}

TEST_CASE("every number of a device has a source or is marked unverified") {
  const auto sourced = [](const auto& fact) { return fact.unverified || !fact.source.empty(); };
  for (const DeviceSpec& d : all_devices()) {
    CAPTURE(d.name);
    CHECK(sourced(d.memory));
    CHECK(sourced(d.memory_marketed));
    CHECK(sourced(d.bandwidth));
    if (d.bandwidth_measured) CHECK(sourced(*d.bandwidth_measured));
    if (d.last_level_cache) CHECK(sourced(*d.last_level_cache));
    for (const Peak& p : d.peaks) CHECK(sourced(p.rate));
    if (d.peer) CHECK(sourced(d.peer->per_direction));
    if (d.host) CHECK(sourced(d.host->per_direction));
  }
}

// nvidia.com data sheets and product pages, dense figures.
TEST_CASE("well-known data sheet figures are in the catalog") {
  const DeviceSpec h100 = catalog().device("h100-sxm");
  CHECK(h100.bandwidth.value == BytesPerSecond(3350e9));
  CHECK(peak(h100, Precision::bf16)->v == doctest::Approx(989.4e12).epsilon(0.001));
  CHECK(peak(h100, Precision::fp8)->v == doctest::Approx(1978.9e12).epsilon(0.001));
  CHECK(h100.peer->per_direction.value == BytesPerSecond(450e9));
  CHECK(catalog().device("a100-sxm-80gb").bandwidth.value == BytesPerSecond(2039e9));
  CHECK(catalog().device("h200-sxm").bandwidth.value == BytesPerSecond(4800e9));
  CHECK(catalog().device("b200").bandwidth.value == BytesPerSecond(8000e9));
  CHECK(catalog().device("mi300x").bandwidth.value == BytesPerSecond(5300e9));
  CHECK(catalog().device("rtx-4090").bandwidth.value == BytesPerSecond(1008e9));
  CHECK(catalog().device("m4-max-40c").bandwidth.value == BytesPerSecond(546e9));
}

TEST_CASE("a bare family is its fastest part and says so") {
  for (const auto& names : {std::pair{"H200", "h200-sxm"},
                            {"H100", "h100-sxm"},
                            {"A100", "a100-sxm-80gb"},
                            {"A100 80GB", "a100-sxm-80gb"},
                            {"A100 80GB (form factor not stated)", "a100-sxm-80gb"},
                            {"M4 Max", "m4-max-40c"},
                            {"M4 Max 64GB", "m4-max-40c-64gb"}}) {
    const char *family = names.first, *part = names.second;
    CAPTURE(family);
    std::string note;
    CHECK(catalog().device(family, &note).name == part);
    CHECK(note.find(family) != std::string::npos);
  }
}

TEST_CASE("names as nvidia-smi prints them are known") {
  for (const auto& names : {std::pair{"NVIDIA H100 80GB HBM3", "h100-sxm"},
                            {"NVIDIA H100 PCIe", "h100-pcie"},
                            {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
                            {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
                            {"NVIDIA GeForce RTX 4090", "rtx-4090"},
                            {"NVIDIA RTX A6000", "rtx-a6000"},
                            {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"},
                            {"NVIDIA L40S", "l40s"},
                            {"NVIDIA B200", "b200"},
                            {"Tesla T4", "t4"},
                            {"Tesla V100-SXM2-32GB", "v100-sxm2-32gb"}}) {
    const char *printed = names.first, *name = names.second;
    CAPTURE(printed);
    CHECK(catalog().device(printed).name == name);
  }
}

TEST_CASE("names of devices as public tables of measured speeds write them are known") {
  for (const char* name : {"A100 80GB (form factor not stated)",
                           "A100 PCIe 80GB",
                           "A100 SXM 80GB",
                           "A40",
                           "Arc Pro B70",
                           "B200",
                           "GB10 (DGX Spark)",
                           "GB200",
                           "H100 80GB HBM3",
                           "H100 PCIe 80GB",
                           "H100 SXM",
                           "H200 NVL",
                           "H200 SXM",
                           "Jetson AGX Orin",
                           "L40S",
                           "M1 7-core",
                           "M1 Max 32c",
                           "M1 Ultra 64c",
                           "M2 Ultra 76c",
                           "M3 Max 40c",
                           "M4 Max 40c",
                           "M5 Max 40c",
                           "MI300X",
                           "MI325X",
                           "RTX 3060 12GB",
                           "RTX 3070",
                           "RTX 3080 10GB",
                           "RTX 3080 Ti",
                           "RTX 3090",
                           "RTX 3090 Ti",
                           "RTX 4000 Ada",
                           "RTX 4070 Ti",
                           "RTX 4080",
                           "RTX 4090",
                           "RTX 5000 Ada",
                           "RTX 5080",
                           "RTX 5090",
                           "RTX 6000 Ada",
                           "RTX A6000",
                           "RTX PRO 6000 Blackwell Server",
                           "RTX PRO 6000 Blackwell WS",
                           "RX 7900 XT",
                           "RX 9070 XT",
                           "Radeon AI PRO R9700",
                           "Radeon PRO W7900",
                           "Strix Halo 8060S"}) {
    CAPTURE(name);
    CHECK_NOTHROW(catalog().device(name));
  }
}

TEST_CASE("an unknown device or model is refused with the near misses") {
  try {
    catalog().device("rtx-4099");
    FAIL("there is no such device");
  } catch (const Error& e) {
    CHECK(e.advice.find("rtx-4090") != std::string::npos);
  }
  CHECK_THROWS_AS(catalog().device(""), Error);
  CHECK_THROWS_AS(catalog().device("/no/such/file.yaml"), Error);
  CHECK_THROWS_AS(catalog().model(""), Error);
  CHECK_THROWS_AS(catalog().model("/no/such/folder/config.json"), Error);
}

TEST_CASE("a device where a model belongs, and the reverse, is called by what it is") {
  const auto said = [](auto ask) {
    try {
      ask();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(said([] { catalog().model("RTX 4090"); }).find("'RTX 4090' is a device") !=
        std::string::npos);
  CHECK(said([] { catalog().device("llama-3.1-8b"); }).find("'llama-3.1-8b' is a model") !=
        std::string::npos);
}

// Counts as Amazon's, Google's, Azure's and Oracle's pages of these machines have them.
TEST_CASE("what a cloud rents is so many of a device") {
  const Catalog catalog;
  const std::tuple<const char*, std::int64_t, const char*> kRented[] = {
      {"p5.48xlarge", 8, "h100-sxm"},
      {"2xp5.48xlarge", 16, "h100-sxm"},
      {"p5en.48xlarge", 8, "h200-sxm"},
      {"p6e-gb200.36xlarge", 4, "gb200"},
      {"ml.g5.12xlarge", 4, "a10g"},
      {"g6e.16xlarge", 1, "l40s"},
      {"G4DN.METAL", 8, "t4"},
      {"inf2.48xlarge", 12, "inferentia2"},
      {"a2-megagpu-16g", 16, "a100-sxm-40gb"},
      {"g2-standard-96", 8, "l4"},
      {"Standard_NC48ads_A100_v4", 2, "a100-pcie-80gb"},
      {"NC40ads_H100_v5", 1, "h100-nvl"},
      {"BM.GPU.MI300X.8", 8, "mi300x"},
  };
  for (const auto& [typed, count, device] : kRented) {
    CAPTURE(typed);
    CHECK(catalog.counted(typed).count == count);
    CHECK(catalog.counted(typed).name == device);
    CHECK(catalog.has_device(catalog.counted(typed).name));
  }
  CHECK(catalog.counted("8xh100-sxm").count == 8);
  CHECK(catalog.counted("8xh100-sxm").name == "h100-sxm");
  const auto mixed = devices_named(catalog, "g5.12xlarge+g6.xlarge");
  CHECK(mixed.size() == 5);
  CHECK_THROWS_AS(catalog.device("p5"), Error);
}

TEST_CASE("instances are listed by a whole count") {
  const Node file = parse_yaml("name: card\ninstances: {x8: [big]}\n");
  CHECK_THROWS_AS(names_in(file), Error);
  const auto names = names_in(parse_yaml("name: card\ninstances: {source: page, 8: [big]}\n"));
  CHECK(names.back().written == "big");
  CHECK(names.back().count == 8);
  CHECK(names.back().use == IndexedName::instance);
}

namespace {

// What a value says when asked for a type; "refused" where it is another.
template <class Get>
std::string said(Get get) {
  try {
    const auto value = get();
    return value ? fmt::format("{}", *value) : "null";
  } catch (const Error&) {
    return "refused";
  }
}

void require_same(const Node& written, const Node& embedded) {
  CAPTURE(written.line);
  REQUIRE(embedded.kind == written.kind);
  if (written.kind == Node::scalar) {
    REQUIRE(embedded.text == written.text);
    REQUIRE(said([&] { return embedded.number(); }) == said([&] { return written.number(); }));
    REQUIRE(said([&] { return embedded.integer(); }) == said([&] { return written.integer(); }));
    REQUIRE(said([&] { return embedded.boolean(); }) == said([&] { return written.boolean(); }));
  }
  REQUIRE(embedded.items.size() == written.items.size());
  for (std::size_t i = 0; i < written.items.size(); ++i)
    require_same(written.items[i], embedded.items[i]);
  REQUIRE(embedded.members.size() == written.members.size());
  for (std::size_t i = 0; i < written.members.size(); ++i) {
    REQUIRE(embedded.members[i].key == written.members[i].key);
    require_same(written.members[i].value, embedded.members[i].value);
  }
}

}  // namespace

TEST_CASE("what is inside the program says what its files in configs say") {
  for (const EmbeddedFile& file : embedded_files()) {
    CAPTURE(file.path);
    require_same(read_tree(std::string(KVPLAN_SOURCE_DIR "/configs/") + std::string(file.path)),
                 parse_json(file.text));
  }
}
