// SPDX-License-Identifier: Apache-2.0
// Reads every #include of src/ and kernels/ and holds it against who may include whom.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = KVPLAN_SOURCE_DIR;

// A part may include itself, units.h, error.h and these.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"main", {"cli"}},
    {"cli", {"report", "calibrate", "catalog", "logs", "plan", "engine", "cost", "model"}},
    {"plan", {"engine", "cost", "model"}},
    {"engine", {"cost", "model"}},
    {"cost", {"model"}},
    {"model", {}},
    {"report", {"plan", "engine", "cost", "model"}},
    {"catalog", {"engine", "cost", "model"}},
    {"logs", {"engine", "cost", "model"}},
    {"calibrate", {"kernels", "cost", "model"}},
    {"kernels", {"cost", "model"}},
};

// A library may be included by files whose path starts with one of these.
const std::map<std::string, std::vector<std::string>> kLibraries = {
    {"CLI/", {"src/cli/parse.cpp"}}, {"nlohmann/", {"src/report/", "src/catalog/"}},
    {"yaml-cpp/", {"src/catalog/"}}, {"zlib", {"src/calibrate/"}},
    {"cuda", {"kernels/cuda/"}},
};

std::string part_of(const std::string& path) {  // relative to the root
  if (path == "src/main.cpp") return "main";
  if (path.starts_with("kernels/")) return "kernels";
  const std::string inner = path.substr(4);
  const auto slash = inner.find('/');
  return slash == std::string::npos ? "base" : inner.substr(0, slash);
}

struct Include {
  std::string from, what;
  bool quoted;
};

std::vector<Include> includes() {
  std::vector<Include> found;
  const std::regex line_pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  for (const char* top : {"src", "kernels"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path());
      std::smatch match;
      for (std::string line; std::getline(in, line);)
        if (std::regex_search(line, match, line_pattern))
          found.push_back({fs::relative(entry.path(), kRoot).string(), match[2], match[1] == "\""});
    }
  return found;
}

}  // namespace

TEST_CASE("no part includes another that it may not know") {
  const auto all = includes();
  REQUIRE(all.size() > 20);
  for (const Include& i : all) {
    const std::string from = part_of(i.from);
    if (!i.quoted || from == "base") continue;
    std::string to = i.what.substr(0, i.what.find('/'));
    if (to == i.what) to = "base";  // units.h, error.h
    if (to == "base" || to == from) continue;
    const auto allowed = kAllowed.find(from);
    const std::string edge = i.from + " includes " + i.what;
    CAPTURE(edge);
    REQUIRE(allowed != kAllowed.end());
    CHECK(allowed->second.contains(to));
  }
}

TEST_CASE("kernels know shapes and devices, not models") {
  const std::set<std::string> known = {"cost/shape.h", "cost/work.h", "cost/device.h",
                                       "model/format.h"};
  for (const Include& i : includes())
    if (part_of(i.from) == "kernels" && i.quoted &&
        (i.what.starts_with("cost/") || i.what.starts_with("model/"))) {
      const std::string edge = i.from + " includes " + i.what;
      CAPTURE(edge);
      CHECK(known.contains(i.what));
    }
}

TEST_CASE("calibrate reaches kernels through one header") {
  for (const Include& i : includes())
    if (part_of(i.from) == "calibrate" && i.what.starts_with("kernels/"))
      CHECK(i.what == "kernels/backend.h");
}

TEST_CASE("each library is known to its own files only") {
  for (const Include& i : includes())
    for (const auto& [library, homes] : kLibraries) {
      if (i.quoted || !i.what.starts_with(library)) continue;
      const std::string edge = i.from + " includes " + i.what;
      CAPTURE(edge);
      CHECK(std::any_of(homes.begin(), homes.end(),
                        [&](const auto& home) { return i.from.starts_with(home); }));
    }
}

TEST_CASE("nothing in src depends on preprocessor conditions") {
  const std::regex condition(R"(^\s*#\s*(if|ifdef|ifndef|elif)\b)");
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      CAPTURE(entry.path().string());
      CHECK_FALSE(std::regex_search(line, condition));
    }
  }
}
