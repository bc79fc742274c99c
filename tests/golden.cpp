// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string golden_difference(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(KVPLAN_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("KVPLAN_UPDATE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << text;
    return {};
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return path.string() + " does not exist: run with KVPLAN_UPDATE_GOLDEN=1";
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  if (kept == text) return {};
  const std::vector<std::string> old_lines = lines_of(kept), new_lines = lines_of(text);
  std::string difference = name + ":\n";
  for (std::size_t i = 0; i < std::max(old_lines.size(), new_lines.size()); ++i) {
    const std::string* before = i < old_lines.size() ? &old_lines[i] : nullptr;
    const std::string* after = i < new_lines.size() ? &new_lines[i] : nullptr;
    if (before && after && *before == *after) continue;
    if (before) difference += std::to_string(i + 1) + " - " + *before + "\n";
    if (after) difference += std::to_string(i + 1) + " + " + *after + "\n";
  }
  return difference;
}
