// SPDX-License-Identifier: Apache-2.0
// kv-plan calibrate --from on a table that is made here: times of a device that reads 2 TB/s and
// multiplies 250 TFLOP/s after 4 µs, each up to 4 % off by a hash of its shape.
#include "cli/calibrate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "catalog/files.h"
#include "catalog/profile_file.h"
#include "catalog/scratch.h"
#include "cli/parse.h"
#include "error.h"
#include "golden.h"
#include "kernels/problem.h"

using namespace kvplan;

namespace {

double microseconds(double bytes, double flops, std::uint64_t shape) {
  return (4 + std::max(bytes / 2e6, flops / 250e6)) * (1 + 0.04 * uniform(7, shape));
}

std::string products(std::int64_t add) {
  std::string text = "m,n,k,dtype,time_us\n";
  std::uint64_t shape = 0;
  for (const std::int64_t m : {1, 4, 8, 16, 64, 512, 2048})
    for (const std::int64_t n : {1024, 4096, 11008, 28672})
      for (const std::int64_t k : {1024, 4096, 8192}) {
        const auto rows = static_cast<double>(m), outputs = static_cast<double>(n + add),
                   inputs = static_cast<double>(k);
        text += fmt::format("{},{},{},bfloat16,{:.3f}\n", m, n + add, k,
                            microseconds(2 * outputs * inputs, 2 * rows * outputs * inputs,
                                         ++shape + static_cast<std::uint64_t>(add)));
      }
  return text;
}

std::string attention() {
  std::string text = "heads,kv_heads,head_dim,kv_dtype,batch,kv_len,time_us\n";
  std::uint64_t shape = 1000;
  for (const int kv_heads : {4, 8, 32})
    for (const int batch : {1, 8, 64})
      for (const int length : {128, 1024, 8192, 32768})
        text += fmt::format(
            "32,{},128,bfloat16,{},{},{:.3f}\n", kv_heads, batch, length,
            microseconds(512.0 * kv_heads * batch * length, 512.0 * 32 * batch * length, ++shape));
  return text;
}

Answer calibrated(std::vector<std::string> words) {
  words.insert(words.begin(), {"kv-plan", "calibrate"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const Catalog catalog;
  return answer_calibrate(parse(static_cast<int>(argv.size()), argv.data()), catalog);
}

struct Epoch {
  explicit Epoch(const char* seconds) { ::setenv("SOURCE_DATE_EPOCH", seconds, 1); }
  ~Epoch() { ::unsetenv("SOURCE_DATE_EPOCH"); }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;
};

}  // namespace

TEST_CASE("tables of times become laws with the errors that they make on shapes left out") {
  const testing::Scratch folder;
  const std::string fit = folder.write("products.csv", products(0)),
                    more = folder.write("attention.csv", attention()),
                    judge = folder.write("judge.csv", products(512));
  const auto answer = [&] {
    const Answer all =
        calibrated({"--from", fit, "--from", more, "--holdout", judge, "--device", "h100-sxm"});
    return render(all.document, OutputFormat::table, {100, false, ""});
  };
  const std::string first = answer();
  CHECK(golden_difference("calibrate-from.txt", first) == "");
  CHECK(answer() == first);
}

TEST_CASE("what of two tables was neither fitted nor judged is said beside the answer") {
  const testing::Scratch folder;
  const std::string fit = folder.write("attention.csv", attention()),
                    judge = folder.write("judge.csv", products(512));
  const Answer answer =
      calibrated({"--from", fit, "--holdout", judge, "--device", "h100-sxm", "--seed", "3"});
  REQUIRE(answer.warnings.size() == 1);
  CHECK(answer.warnings[0].code == "rows-not-judged");
  CHECK(answer.warnings[0].message.ends_with(": 84 of gemm bf16"));
}

TEST_CASE("tables that give no fit are refused with the reason, and nothing is saved") {
  const testing::Scratch folder;
  const std::string header = "m,n,k,dtype,time_us\n", one = header + "1,4096,4096,bf16,20\n";
  const auto complaint = [&](const std::string& text, const std::string& device) {
    try {
      calibrated({"--from", folder.write("a.csv", text), "--device", device, "--save",
                  folder.path("saved.yaml")});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(complaint("", "h100-sxm") == "the table is empty");
  CHECK(complaint(header, "h100-sxm") == "the table has no rows");
  CHECK(complaint(one, "h100-sxm") == "a fit needs 8 rows of a kind; there are 1 of gemm bf16");
  CHECK(complaint(one, "h100000").starts_with("there is no device 'h100000'"));
  CHECK(complaint(header + "1,4096,4096,bf16,0.020\n", "h100-sxm").starts_with("times are more"));
  CHECK_FALSE(std::filesystem::exists(folder.path("saved.yaml")));
  CHECK_THROWS_AS(calibrated({"--from", folder.folder(), "--device", "h100-sxm"}), Error);
}

TEST_CASE("a profile of published times names who measured them, and is the same on any day") {
  const testing::Scratch folder;
  const std::string table = folder.write("attention.csv", attention()),
                    saved = folder.path("saved.yaml");
  const auto save = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"--from", table, "--device", "h100-sxm", "--save", saved};
    words.insert(words.end(), more.begin(), more.end());
    calibrated(words);
    return read_tree(saved);
  };
  const Epoch epoch("86400");
  const Profile named = read_profile(save({"--origin", "a lab: its kernels", "--licence", "MIT"}));
  CHECK(named.origin == "a lab: its kernels");
  CHECK(named.licence == "MIT");
  CHECK(named.date == "1970-01-02");
  CHECK(read_profile(save({})).origin == "attention.csv");
  CHECK_THROWS_AS(calibrated({"--origin", "a lab"}), Error);
}
