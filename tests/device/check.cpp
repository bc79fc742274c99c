// SPDX-License-Identifier: Apache-2.0
// Every kernel on the real device: right or wrong against the double-precision reference, and, with
// --time, how fast large ones are beside the read stream. One JSON document on standard output.
//   kvplan_device_check [--few | --time]      --few: small, one of each class
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "kernels/backend.h"

using namespace kvplan;

namespace {

constexpr int kSamples = 5;  // of about ten launches each

struct Case {
  std::string name;
  Problem problem;
};

std::string of(const char* what, const Format& format, const std::string& rest) {
  return fmt::format("{} {} {}", what, format.name, rest);
}

// Small shapes, one for each kernel, ragged.
std::vector<Case> correctness() {
  std::vector<Case> cases = {{"stream read", StreamShape{Bytes(64 * kMiB + 4096)}},
                             {"stream copy", StreamShape{Bytes(64 * kMiB + 4096), true}}};
  for (const char* name : {"bf16", "fp16", "fp8", "int8-channel", "int4-g128"}) {
    const Format& f = format_named(name);
    for (const std::int64_t m : {1, 7, 16})
      for (const std::int64_t n : {1001, 40000})
        cases.push_back(
            {of("weights", f, fmt::format("m{} n{} k2176", m, n)), GemmShape{m, n, 2176, &f}});
  }
  for (const char* name : {"bf16", "fp16", "fp8", "int8-head"}) {
    const Format& f = format_named(name);
    for (const std::int64_t width : {64, 96, 128, 192, 256})
      for (const std::int64_t group : {1, 5, 16})
        cases.push_back(
            {of("decode attention", f, fmt::format("width {} queries {}", width, group)),
             DecodeAttentionShape{3, 2 * group, 2, width, width, 1999, &f, &f}});
  }
  for (const char* name : {"bf16", "fp16"}) {
    const Format& f = format_named(name);
    for (const std::int64_t heads : {16, 40, 128})
      cases.push_back({of("latent decode", f, fmt::format("heads {}", heads)),
                       LatentDecodeShape{3, heads, 512, 64, 1999, &f, &f}});
    for (const std::int64_t width : {64, 96, 128, 192, 256})
      cases.push_back({of("prefill attention", f, fmt::format("width {}", width)),
                       PrefillAttentionShape{2, 6, 2, width, width, 333, 77, &f}});
  }
  for (const char* name : {"bf16", "fp16", "fp8"})
    cases.push_back({of("product", format_named(name), "m333"),
                     GemmShape{336, 1024, 2048, &format_named(name)}});
  return cases;
}

// For tools that watch every access: a few blocks of each class of kernel.
std::vector<Case> few() {
  const Format &bf16 = format_named("bf16"), &int8 = format_named("int8-head");
  return {
      {"stream read", StreamShape{Bytes(kMiB)}},
      {"weights bf16", GemmShape{7, 133, 2176, &bf16}},
      {"weights int4-g128", GemmShape{16, 133, 2176, &format_named("int4-g128")}},
      {"decode attention bf16", DecodeAttentionShape{1, 10, 2, 128, 128, 999, &bf16, &bf16}},
      {"decode attention int8-head", DecodeAttentionShape{1, 8, 1, 192, 192, 999, &int8, &int8}},
      {"latent decode bf16", LatentDecodeShape{1, 40, 512, 64, 333, &bf16, &bf16}},
      {"prefill attention bf16", PrefillAttentionShape{1, 2, 1, 128, 128, 133, 77, &bf16}}};
}

// 512 MB and more, where a decode kernel should reach nine tenths of the read stream.
std::vector<Case> large() {
  std::vector<Case> cases;
  for (const char* name : {"bf16", "fp8", "int8-channel", "int4-g128"}) {
    const Format& f = format_named(name);
    const auto n = static_cast<std::int64_t>(32768 * 16 / f.bits);
    for (const std::int64_t m : {1, 16})
      cases.push_back(
          {of("weights", f, fmt::format("m{} n{} k8192", m, n)), GemmShape{m, n, 8192, &f}});
  }
  for (const char* name : {"bf16", "fp8", "int8-head"}) {
    const Format& f = format_named(name);
    const auto context = static_cast<std::int64_t>(8192 * 16 / f.bits);
    for (const std::int64_t group : {1, 4, 8, 16})
      cases.push_back(
          {of("decode attention", f, fmt::format("width 128 queries {} batch 16", group)),
           DecodeAttentionShape{16, 8 * group, 8, 128, 128, context, &f, &f}});
  }
  const Format& bf16 = format_named("bf16");
  for (const std::int64_t heads : {16, 128})
    cases.push_back({of("latent decode", bf16, fmt::format("heads {} batch 32", heads)),
                     LatentDecodeShape{32, heads, 512, 64, 16384, &bf16, &bf16}});
  cases.push_back({"prefill attention bf16 width 128 queries 4096",
                   PrefillAttentionShape{1, 32, 8, 128, 128, 4096, 0, &bf16}});
  cases.push_back({"product bf16 m4096 n8192 k8192", GemmShape{4096, 8192, 8192, &bf16}});
  return cases;
}

// A text as a JSON string.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

Seconds median_time(Run& run) {
  std::vector<Seconds> times;
  for (int i = 0; i < kSamples; ++i) times.push_back(run.sample());
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// One line of the document; whether the kernel is right.
bool report(Backend& backend, const Case& one, Run* stream, bool last) {
  std::string fields;
  bool good = true;
  try {
    const auto run = backend.prepare(one.problem);
    if (!run) {
      fields = R"("kernel": null)";
    } else {
      const double error = run->error();
      good = error <= 1;
      fields = fmt::format(R"("right": {}, "error": {:.3g}, "how": {})", good,
                           std::min(error, 1e30), quoted(run->description()));
      if (stream && good) {
        const Seconds time = median_time(*run), read = median_time(*stream);
        const double rate = (run->work().moved / time).v, reads = (stream->work().moved / read).v;
        fields += fmt::format(
            R"(, "seconds": {:.6g}, "bytes_per_second": {:.5g}, "flops_per_second": {:.5g}, "of_stream": {:.3f})",
            time.v, rate, (run->work().flops / time).v, rate / reads);
      }
    }
  } catch (const Error& error) {
    good = false;
    fields = fmt::format(R"("right": false, "failed": {})", quoted(error.what()));
  }
  fmt::print("    {{\"case\": {}, {}}}{}\n", quoted(one.name), fields, last ? "" : ",");
  std::fflush(stdout);
  return good;
}

}  // namespace

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const bool timed = mode == "--time";
  std::vector<BackendChoice> choices = all_backends();
  BackendChoice& first = choices.front();
  if (!first.backend || first.backend->name() != "cuda") {
    fmt::print("{{\"measured\": false, \"reason\": {}}}\n", quoted(first.why_not));
    return 0;
  }
  Backend& gpu = *first.backend;
  const std::vector<Case> cases = timed ? large() : mode == "--few" ? few() : correctness();
  fmt::print("{{\n  \"measured\": true, \"device\": {},\n  \"cases\": [\n",
             quoted(gpu.device().title));
  const auto stream = timed ? gpu.prepare(StreamShape{Bytes(256 * kMiB)}) : nullptr;
  bool all_good = true;
  for (std::size_t i = 0; i < cases.size(); ++i)
    all_good &= report(gpu, cases[i], stream.get(), i + 1 == cases.size());
  fmt::print("  ],\n  \"all_right\": {}\n}}\n", all_good);
  return all_good ? 0 : 1;
}
