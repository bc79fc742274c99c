// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "cli/output.h"

namespace kvplan {
namespace {

using enum FlagGroup;
using Text = std::string_view;

// Setters for the plain cases: a member of Request that takes what a parser of values.h returns.
template <auto member>
void text(Request& r, Text t) {
  if (t.empty()) throw Error("needs a value");
  r.*member = std::string(t);
}
template <auto member, std::int64_t least = 1>
void count(Request& r, Text t) {
  r.*member = count_of(t, least);
}
template <auto member, std::int64_t least = 1>
void tokens(Request& r, Text t) {
  r.*member = Tokens(count_of(t, least));
}
template <auto member>
void size(Request& r, Text t) {
  r.*member = size_of(t);
}
template <auto member>
void positive(Request& r, Text t) {
  r.*member = positive_of(t);
}
template <auto member>
void on(Request& r, Text) {
  r.*member = true;
}

void set(Request& r, Text t) {
  auto [key, value] = setting_of(t);
  for (const auto& [known, other] : r.set)
    if (known == key && other != value)
      throw Error("gives " + key + " as " + other + " and as " + value);
  r.set.emplace_back(std::move(key), std::move(value));
}

void generated(Request& r, Text t) {
  try {
    r.output = Tokens(count_of(t));
  } catch (Error& e) {
    e.advice = "Give a number of tokens; to write a file, use -o FILE.";
    throw;
  }
}

using R = Request;
constexpr std::array kFlags = {
    Flag{"context", "LIST", load, "tokens in the cache of a sequence: 4k,32k or 1k..64k*2 or max",
         [](R& r, Text t) { r.context = lengths_of(t, 0); }},
    Flag{"prompt", "LIST", load, "tokens of a prompt",
         [](R& r, Text t) { r.prompt = lengths_of(t); }},
    Flag{"batch", "LIST", load, "sequences at once: 1,8,32 or 1..256*2",
         [](R& r, Text t) { r.batch = counts_of(t); }},
    Flag{"input", "N", load, "tokens that a request brings", tokens<&R::input>},
    Flag{"output", "N", load, "tokens that a request gets: it occupies input + output/2 on average",
         generated},
    Flag{"users", "N", load, "requests served at once", count<&R::users>},
    Flag{"min-tps-per-user", "X", load, "tokens per second that each user must get",
         positive<&R::min_tps_per_user>},
    Flag{"min-tps-total", "X", load, "tokens per second that all users together must get",
         positive<&R::min_tps_total>},
    Flag{"source-tokens", "N", load, "encoder or image tokens of a request",
         tokens<&R::source_tokens, 0>},
    Flag{"shared-prefix", "N", load, "first tokens that all sequences share",
         tokens<&R::shared_prefix, 0>},
    Flag{"lengths", "FILE", load,
         "requests with their lengths: a trace as csv or JSON lines, or a list of final lengths; "
         "shows what reserving wastes",
         text<&R::lengths>},

    Flag{"weights", "RECIPE", model,
         "config (what the checkpoint says), a format (int4-g128), a file type (q4_k_m), "
         "either with exceptions (q4_k_m,head=q8_0), what the file takes (19.8GB) or an average "
         "width (4.65bpw)",
         text<&R::weights>},
    Flag{"kv", "F[,V]", model, "format of keys and values, or of keys, values: fp8 or q8_0,q4_0",
         text<&R::kv>},
    Flag{"roles", "LIST", model, "count only weights of these roles: attention,mlp",
         [](R& r, Text t) { r.roles = words_of(t); }},
    Flag{"mla", "D+R", model, "latent and rotary width of the MLA variant: 512+64",
         [](R& r, Text t) { r.mla = pair_of(t); }},

    Flag{"gpus", "N", deployment, "devices of one replica", count<&R::gpus>},
    Flag{"tp", "N", deployment, "tensor parallelism; alone it implies --gpus", count<&R::tp>},
    Flag{"pp", "N", deployment, "pipeline parallelism", count<&R::pp>},
    Flag{"dp", "N", deployment, "data parallelism", count<&R::dp>},
    Flag{"ep", "N", deployment, "expert parallelism", count<&R::ep>},
    Flag{"dcp", "N", deployment, "decode context parallelism", count<&R::dcp>},
    Flag{"engine", "NAME[@V]", deployment,
         "ideal, vllm, sglang, trtllm, llama.cpp or ollama, with a version: vllm@0.21",
         text<&R::engine>},
    Flag{"engine-command", "LINE", deployment,
         "take the options of this command line: \"vllm serve …\"", text<&R::engine_command>},
    Flag{"set", "KEY=VALUE", deployment,
         "a flag of the engine by its own name (kv-plan engines NAME lists them); may be repeated",
         set, true},
    Flag{"max-model-len", "N", deployment, "longest request that the engine accepts",
         tokens<&R::max_model_len>},
    Flag{"utilization", "SHARE", deployment, "share of memory that the engine may use: 0.9 or 90%",
         [](R& r, Text t) { r.utilization = share_of(t); }},
    Flag{"kv-pool", "SIZE", deployment, "cache per GPU, instead of a budget: 24GiB",
         size<&R::kv_pool>},
    Flag{"reserve", "SIZE", deployment, "memory per GPU to leave free: 2GiB", size<&R::reserve>},

    Flag{"host", "DEVICE", device, "machine whose memory takes what the device does not hold",
         text<&R::host>},
    Flag{"profile", "FILE", device,
         "profile for expected times, otherwise the device's own; or none", text<&R::profile>},
    Flag{"bandwidth", "RATE", device, "memory bandwidth instead of the datasheet's: 2.0TB/s",
         [](R& r, Text t) { r.bandwidth = bandwidth_of(t); }},
    Flag{"on", "DEVICE", device, "show what runs on this device, and how", text<&R::on>},
    Flag{"for", "MODEL", device, "show which devices serve this model, and how many it takes",
         text<&R::for_model>},

    Flag{"device", "NAME", calibration,
         "of this machine, where there are several; with --from, what was measured",
         text<&R::run_device>},
    Flag{"backend", "NAME", calibration, "auto, cpu or cuda", text<&R::backend>},
    Flag{"quick", "", calibration, "fewer shapes: seconds instead of a minute", on<&R::quick>},
    Flag{"full", "", calibration, "every shape: takes minutes", on<&R::full>},
    Flag{"from", "FILE.csv", calibration,
         "fit on times measured elsewhere, compressed (.gz) or not; may be repeated",
         [](R& r, Text t) { r.from.emplace_back(t); }, true},
    Flag{"holdout", "FILE.csv", calibration, "judge on these times; may be repeated",
         [](R& r, Text t) { r.holdout.emplace_back(t); }, true},
    Flag{"origin", "TEXT", calibration,
         "who measured them, for the profile; otherwise the names of the tables", text<&R::origin>},
    Flag{"licence", "TEXT", calibration, "the licence of these times, for the profile",
         text<&R::licence>},
    Flag{"seed", "N", calibration, "order of shapes and contents of inputs", count<&R::seed, 0>},
    Flag{"save", "FILE", calibration,
         "where the profile goes; measured here, it otherwise goes to your data folder",
         text<&R::save>},

    Flag{"format", "NAME", output, "table, json, csv, markdown or html",
         [](R& r, Text t) { r.format = output_format_of(t); }},
    Flag{"o", "FILE", output, "write there; - is stdout", text<&R::output_path>},
    Flag{"part", "NAME", output, "the only table to print, as kv.groups", text<&R::part>},
    Flag{"details", "", output, "show the tables that a terminal otherwise leaves out",
         on<&R::details>},
    Flag{"catalog", "DIR", output,
         "a folder of models, devices and engines that goes before the built-in",
         text<&R::catalog>},
    Flag{"explain", "", output, "show each formula with its numbers", on<&R::explain>},
    Flag{"breakdown", "", output,
         "a step operator by operator, and the kernels that a profile expects", on<&R::breakdown>},
    Flag{"tensors", "", output, "list the stored tensors by role and format", on<&R::tensors>},
};

}  // namespace

std::string_view title_of(FlagGroup group) {
  switch (group) {
    case load:
      return "Load";
    case model:
      return "Model";
    case deployment:
      return "Deployment";
    case device:
      return "Device";
    case calibration:
      return "Calibration";
    case output:
      return "Output";
  }
  return "";
}

std::span<const Flag> flags() { return kFlags; }

const Flag& flag_named(std::string_view name) {
  const auto found =
      std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& f) { return f.name == name; });
  assert(found != kFlags.end());
  return *found;
}

}  // namespace kvplan
