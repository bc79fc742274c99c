// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <algorithm>
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

// Lines that went (-) and came (+), by the longest common subsequence.
std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? 1 + common[i + 1][j + 1] : std::max(common[i + 1][j], common[i][j + 1]);
  std::string text;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += std::to_string(i + 1) + " - " + a[i] + "\n";
      ++i;
    } else {
      text += std::to_string(j + 1) + " + " + b[j] + "\n";
      ++j;
    }
  }
  return text.empty() ? "line ends differ\n" : text;
}

}  // namespace

std::string generated_difference(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(KVPLAN_SOURCE_DIR) / name;
  if (std::getenv("KVPLAN_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return {};
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return path.string() + " does not exist: run with KVPLAN_UPDATE_GOLDEN=1";
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  if (kept == text) return {};
  return name + ":\n" + difference(lines_of(kept), lines_of(text));
}

std::string golden_difference(const std::string& name, const std::string& text) {
  return generated_difference("tests/golden/" + name, text);
}
