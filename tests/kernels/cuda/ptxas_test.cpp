// SPDX-License-Identifier: Apache-2.0
// What ptxas said when nvcc built the kernels (cmake/keep_ptxas.sh).
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Usage {
  std::string kernel, text;
  int stack = 0, spill_stores = 0, spill_loads = 0;
};

std::vector<Usage> usages(const fs::path& folder) {
  std::vector<Usage> found;
  if (!fs::exists(folder)) return found;
  const std::regex name(R"(Compiling entry function '(\w+)' for '(\w+)')");
  const std::regex bytes(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptxas") continue;
    std::ifstream in(entry.path());
    std::smatch match;
    std::string kernel;
    for (std::string line; std::getline(in, line);) {
      if (std::regex_search(line, match, name)) kernel = match[1].str() + " for " + match[2].str();
      if (std::regex_search(line, match, bytes))
        found.push_back(
            {kernel, line, std::stoi(match[1]), std::stoi(match[2]), std::stoi(match[3])});
    }
  }
  return found;
}

}  // namespace

TEST_CASE("no CUDA kernel spills registers or keeps anything in local memory") {
  const std::vector<Usage> all = usages(KVPLAN_PTXAS_DIRECTORY);
  if (all.empty()) {
    MESSAGE("skipped: built without nvcc");
    return;
  }
  for (const Usage& usage : all) {
    CAPTURE(usage.kernel);
    CAPTURE(usage.text);
    CHECK(usage.stack == 0);
    CHECK(usage.spill_stores + usage.spill_loads == 0);
  }
}
