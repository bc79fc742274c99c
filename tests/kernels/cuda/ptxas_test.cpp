// SPDX-License-Identifier: Apache-2.0
// What ptxas said when nvcc built the kernels (cmake/keep_ptxas.sh).
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Usage {
  std::string kernel;
  int stack = 0, spill_stores = 0, spill_loads = 0;
};

std::vector<Usage> usages(const fs::path& folder) {
  std::vector<Usage> found;
  if (!fs::exists(folder)) return found;
  const std::string entry_point = "Compiling entry function ";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptxas") continue;
    std::ifstream in(entry.path());
    Usage usage;
    for (std::string line; std::getline(in, line);) {
      if (const auto at = line.find(entry_point); at != line.npos)
        usage.kernel = line.substr(at + entry_point.size());  // 'name' for 'sm_80'
      if (std::sscanf(line.c_str(), " %d bytes stack frame, %d bytes spill stores, %d",
                      &usage.stack, &usage.spill_stores, &usage.spill_loads) == 3)
        found.push_back(usage);
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
    CHECK(usage.stack == 0);
    CHECK(usage.spill_stores + usage.spill_loads == 0);
  }
}
