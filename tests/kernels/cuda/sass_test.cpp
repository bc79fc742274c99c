// SPDX-License-Identifier: Apache-2.0
// What the compiled CUDA kernels consist of, as cuobjdump shows it: 16 bytes a load of what is
// streamed, tensor cores, nothing in local memory.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace {

using Counts = std::map<std::string, int>;  // of an instruction's name

// Counts of each kernel in the text of `cuobjdump -sass`, whose lines are
//   Function : name      or      /*0010*/   @P0 LDG.E.128 R4, [R2.64] ;
std::map<std::string, Counts> instructions(std::istream& text) {
  std::map<std::string, Counts> kernels;
  Counts* counts = nullptr;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "Function") {
      words >> word >> word;
      counts = &kernels[word];
    } else if (counts && word.starts_with("/*") && word.ends_with("*/") && words >> word) {
      if (word.starts_with("@")) words >> word;
      if (!word.starts_with("/*")) ++(*counts)[word];
    }
  }
  return kernels;
}

// Instructions of a family, such as LDG; and those of them with ".128".
struct Family {
  int all = 0, wide = 0;
};
Family family(const Counts& counts, const std::string& name) {
  Family found;
  for (const auto& [instruction, count] : counts) {
    if (instruction != name && !instruction.starts_with(name + ".")) continue;
    found.all += count;
    if (instruction.find(".128") != instruction.npos) found.wide += count;
  }
  return found;
}

std::string output_of(const std::string& command) {
  std::string text;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return text;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe.get()))
    text.append(buffer, count);
  return text;
}

// Of all kernels for sm_80, the first with asynchronous copies and bf16 products.
std::map<std::string, Counts> compiled(const fs::path& folder) {
  std::map<std::string, Counts> all;
  if (!fs::exists(folder)) return all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(".cu.o")) continue;
    std::istringstream text(output_of(KVPLAN_CUOBJDUMP " -sass -arch sm_80 '" +
                                      entry.path().string() + "' 2>/dev/null"));
    all.merge(instructions(text));
  }
  return all;
}

}  // namespace

TEST_CASE("instructions are counted for each kernel, with and without a predicate") {
  std::istringstream text(
      "\t\tFunction : copy\n"
      "        /*0000*/                   LDG.E.128 R4, [R2.64] ;   /* 0x0000 */\n"
      "                                                             /* 0x0000 */\n"
      "        /*0010*/              @!P0 LDG.E R4, [R2.64] ;       /* 0x0000 */\n"
      "\t\tFunction : spills\n"
      "        /*0000*/                   LDL R4, [R1] ;            /* 0x0000 */\n");
  const auto kernels = instructions(text);
  REQUIRE(kernels.size() == 2);
  CHECK(family(kernels.at("copy"), "LDG").all == 2);
  CHECK(family(kernels.at("copy"), "LDG").wide == 1);
  CHECK(family(kernels.at("copy"), "LDL").all == 0);
  CHECK(family(kernels.at("spills"), "LDL").all == 1);
}

TEST_CASE("compiled kernels stream 16 bytes a load to tensor cores, past local memory") {
  const auto kernels = compiled(KVPLAN_PTXAS_DIRECTORY);
  if (kernels.empty()) {
    MESSAGE("skipped: no kernels for sm_80, or no cuobjdump");
    return;
  }
  for (const auto& [name, counts] : kernels) {
    CAPTURE(name);
    const auto is = [&name = name](const char* kernel) { return name.find(kernel) != name.npos; };
    CHECK(family(counts, "LDL").all + family(counts, "STL").all == 0);
    const bool attention = is("decode_attention") || is("latent_decode") || is("prefill_attention");
    if (attention) {
      const Family copies = family(counts, "LDGSTS");
      CHECK(copies.all > 0);
      CHECK(copies.wide == copies.all);
    }
    if (attention || is("weight_stream")) CHECK(family(counts, "HMMA").all > 0);
    if (is("weight_stream") || is("stream_read") || is("stream_copy"))
      CHECK(family(counts, "LDG").wide > 0);
    if (is("stream_copy")) CHECK(family(counts, "STG").wide == family(counts, "STG").all);
  }
}
