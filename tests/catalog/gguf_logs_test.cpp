// SPDX-License-Identifier: Apache-2.0
// Metadata of real files, written again, against the caches that the engine's log printed for them.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "catalog/gguf_models.h"
#include "engine/logged_shape.h"
#include "model/cache.h"

using namespace kvplan;
using namespace kvplan::test;

namespace {

double real_at(const Node& row, const char* key, double otherwise = 0) {
  const Node* node = row.find(key);
  return node ? node->number().value_or(otherwise) : otherwise;
}

struct Mebibytes {
  double full = 0, window = 0, state = 0;
};

Mebibytes caches_of(const ModelSpec& model, const Node& row) {
  const std::int64_t context = integer_at(row, "context");
  const bool whole = row.find("whole") != nullptr;
  Mebibytes sum;
  CacheFormats formats = cache_formats(text_at(row, "cache", "f16"));
  formats.conv = &format_named("fp32");  // as llama.cpp keeps it, whatever the cache's type
  for (const CacheGroup& group : cache_groups(model, formats)) {
    const auto layers = static_cast<double>(group.layers.size());
    const double mebi = static_cast<double>(kMiB);
    if (group.kind == CacheGroup::state) {
      sum.state += layers * state_bytes(group).real() * real_at(row, "sequences", 1) / mebi;
      continue;
    }
    const bool window = group.kind == CacheGroup::window && !whole;
    const double cells = window ? real_at(row, "window_cells") : static_cast<double>(context);
    (window ? sum.window : sum.full) += layers * entry_bytes(group).real() * cells / mebi;
  }
  return sum;
}

}  // namespace

TEST_CASE("real metadata gives the layers and caches that the engine's log prints") {
  constexpr double kHalfDigit = 0.0051;
  std::size_t files = 0;
  for (const Node& row : truth_rows("gguf_logs.yaml")) {
    CAPTURE(text_at(row, "source"));
    const ModelSpec model = testing::read(testing::file_of(row));
    CHECK(static_cast<std::int64_t>(main_layers(model).size()) == integer_at(row, "layers"));
    for (const Warning& w : model.warnings) {
      CAPTURE(w.message);
      CHECK(w.code == "mtp-not-stored");
    }
    const Mebibytes sum = caches_of(model, row);
    CHECK(std::abs(sum.full - real_at(row, "mib")) < kHalfDigit);
    if (row.find("window_mib"))
      CHECK(std::abs(sum.window - real_at(row, "window_mib")) < kHalfDigit);
    if (row.find("state_mib")) CHECK(std::abs(sum.state - real_at(row, "state_mib")) < kHalfDigit);
    ++files;
  }
  CHECK(files >= 25);
}
