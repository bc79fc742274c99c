// SPDX-License-Identifier: Apache-2.0
// What ollama prints beside the lines of llama.cpp: formats as in the logs quoted in ollama#8447,
// #9181, #11090, #11983 and, for its own runner, in llm/server.go and ml/device.go.
#include <array>

#include "logs/notes.h"

namespace kvplan::logs {
namespace {

using L = StartLog;
using Buffers = std::map<std::string, Printed<Bytes>>;

template <Buffers L::*member>
void buffer(StartLog& log, const Found& f) {
  if (const auto printed = size(f[1], unit_named(f[2]), 1, f.number))
    replace(log.*member, f[0], *printed);
}

template <auto member>
void total(StartLog& log, const Found& f) {
  if (const auto printed = size(f[0], unit_named(f[1]), 1, f.number)) log.*member = *printed;
}

// The runner is told how much to reserve for all its sequences together.
void request(StartLog& log, const Found& f) {
  const auto slots = whole(f[1]), cells = whole(f[4]);
  for (Buffers* b : {&log.weight_buffers, &log.cache_buffers, &log.compute_buffers}) b->clear();
  if (!slots || !cells || *slots < 1 || *cells < 1) return;
  put(log, "num_parallel", std::to_string(*slots));
  put(log, "num_ctx", std::to_string(*cells / *slots));
  each<skip, skip, set<"num_batch">>(log, f);
  if (f[3] != "Auto")
    put(log, "flash_attention", f[3] == "true" || f[3] == "Enabled" ? "true" : "false");
  put(log, "kv_cache_type", f[5]);
}

void runner(StartLog& log, const Found& f) {
  begin(log);
  const auto cells = whole(f[1]);
  const auto at = f[2].find("--parallel ");
  std::int64_t slots = 1;
  if (at != std::string_view::npos) {
    std::string_view digits = f[2].substr(at + 11);
    digits = digits.substr(0, digits.find_first_not_of("0123456789"));
    slots = std::max<std::int64_t>(whole(digits).value_or(1), 1);
  }
  if (!cells || *cells < slots) return;
  put(log, "num_parallel", std::to_string(slots));
  put(log, "num_ctx", std::to_string(*cells / slots));
  put(log, "flash_attention", f[2].find("--flash-attn") == f[2].npos ? "false" : "true");
}

constexpr std::array kRows = {
    Row{"msg=\"Listening on {*} (version {w})\"", each<skip, version>},
    Row{"msg=\"starting llama server\" cmd=\"{*} --ctx-size {n} {*}", runner},
    Row{"msg=load request=\"{*}Operation:{w} LoraPath:{*} Parallel:{n} BatchSize:{n} "
        "FlashAttention:{w} KvSize:{n} KvCacheType:{*} NumThreads",
        [](StartLog& log, const Found& f) {
          Found shifted = f;
          std::copy(f.captures.at.begin() + 2, f.captures.at.end(), shifted.captures.at.begin());
          request(log, shifted);
        }},
    Row{"msg=\"model weights\" device={w} size=\"{n} {w}\"", buffer<&L::weight_buffers>},
    Row{"msg=\"kv cache\" device={w} size=\"{n} {w}\"", buffer<&L::cache_buffers>},
    Row{"msg=\"compute graph\" device={w} size=\"{n} {w}\"", buffer<&L::compute_buffers>},
    Row{"memory.required.kv=\"{n} {w}\"", total<&L::cache>},
    Row{"memory.weights.total=\"{n} {w}\"", total<&L::weights>},
    Row{"memory.graph.full=\"{n} {w}\"", total<&L::activation>},
    Row{"level=INFO source=routes.go", [](StartLog&, const Found&) {}},
};

}  // namespace

std::span<const Row> ollama_rows() { return kRows; }

}  // namespace kvplan::logs
