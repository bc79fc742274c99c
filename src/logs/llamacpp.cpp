// SPDX-License-Identifier: Apache-2.0
// What llama.cpp and its forks print: formats as in the logs quoted in llama.cpp#10560, #14043,
// #14847, #15860, #16653, #23792, #26297, #27680, ik_llama.cpp#235, #237, #749 and ollama#8447.
#include <array>

#include "logs/notes.h"

namespace kvplan::logs {
namespace {

using L = StartLog;

constexpr std::size_t kMostKeys = 512, kMostText = 512;

using Buffers = std::map<std::string, Printed<Bytes>>;

// A device's buffer: added where caches of several kinds are printed one after another, else the
// last one counts.
template <Buffers L::*member>
void one_more(StartLog& log, const Found& f) {
  if (const auto printed = size(f[1], kMiB, 2, f.number)) add(log.*member, f[0], *printed);
}
template <Buffers L::*member>
void instead(StartLog& log, const Found& f) {
  if (const auto printed = size(f[1], kMiB, 2, f.number)) replace(log.*member, f[0], *printed);
}

template <auto member>
void add_to(StartLog& log, const Found& f, std::size_t i) {
  if (const auto printed = size(f[i], kMiB, 2, f.number)) add(log.*member, *printed);
}

// "4/1" or "4"
void slots(StartLog& log, std::string_view text) {
  text = text.substr(0, text.find_first_not_of("0123456789"));
  put(log, "parallel", text);
}

// "size = 3072.00 MiB (131072 cells, 12 layers, 4/1 seqs), K (f16): 1536.00 MiB, V (f16): …"
void cache(StartLog& log, const Found& f) {
  slots(log, f[3]);
  add_to<&L::cache>(log, f, 0);
  const auto bytes_of = real(f[0]);
  if (bytes_of == 0.0) return;  // a part without layers may have any format
  each<skip, skip, skip, skip, set<"cache_type_k">, skip, set<"cache_type_v">>(log, f);
}

// "size = 1795.50 MiB (4 cells, 64 layers, 4 seqs 2 rs_seq), R (f32): …": rs_seq are states kept
// for drafts that fail.
void states(StartLog& log, const Found& f) {
  add_to<&L::state_cache>(log, f, 0);
  if (f.captures.count > 3) put(log, "parallel", f[3]);
  if (f.captures.count > 4 && whole(f[4]).value_or(0) > 0) {
    put(log, "spec_type", "draft-mtp");
    put(log, "spec_draft_n_max", f[4]);
  }
}

void build(StartLog& log, const Found& f) {
  begin(log);
  if (const auto number = whole(f[0])) log.version = "b" + std::to_string(*number);
}

void key_value(StartLog& log, const Found& f) {
  if (log.metadata.size() >= kMostKeys || f[1].size() > 128) return;
  std::string_view text = f[3];
  while (text.ends_with(' ')) text.remove_suffix(1);
  log.metadata[std::string(f[1])] = text.substr(0, kMostText);
  if (f[1] == "general.name") put_model(log, text);
}

// An array is printed by its first items; its type says how many there are.
void key_array(StartLog& log, const Found& f) {
  if (log.metadata.size() >= kMostKeys || f[1].size() > 128 || f[2].size() > 64) return;
  log.metadata[std::string(f[1])] =
      "arr[" + std::string(f[2]) + "]=" + std::string(f[3].substr(0, kMostText));
}

void loaded(StartLog& log, const Found& f) {
  begin(log);
  put_model(log, f[0]);
}

void offloaded(StartLog& log, const Found& f) {
  log.offloaded_layers = whole(f[0]);
  log.all_layers = whole(f[1]);
}

void using_device(StartLog& log, const Found& f) {
  put_device(log, f[1]);
  each<skip, skip, skip, bytes<&L::free_memory, kMiB>>(log, f);
}

void no_room(StartLog& log, const Found& f) {
  Refusal refusal;
  refusal.cause = Refusal::out_of_memory;
  refusal.needed = size(f[0], kMiB, 2, f.number);
  refusal.device = "device " + std::string(f[1].substr(0, 8));
  refuse(log, f, std::move(refusal));
}

// What the memory was for, said after the driver's error.
void no_room_for(StartLog& log, const Found& f) {
  if (log.refusals.empty()) refused<Refusal::out_of_memory>(log, f);
  std::string& text = log.refusals.back().text;
  if (text.size() < kMostText) text += "; " + std::string(f.line.substr(0, kMostText));
}

void tries_again(StartLog& log, const Found&) {
  if (!log.refusals.empty()) log.refusals.pop_back();
}

constexpr std::array kRows = {
    Row{"build: {n} ({w}) with", build},
    Row{"build_info: b{n}-", build},
    Row{"key-value pairs and {n} tensors from {*} (version GGUF",
        [](StartLog& log, const Found& f) {
          Found path = f;
          path.captures.at[0] = f[1];
          loaded(log, path);
        }},
    Row{"llama_model_loader: - kv {n}: {w} {w} = {*}", key_value},
    Row{"llama_model_loader: - kv {n}: {w} arr[{*}] = {*}", key_array},
    Row{"ggml_cuda_init: Device {n}: {*}, compute capability", each<skip, device>},
    Row{"Device {n}: NVIDIA {*}, compute capability", each<skip, device>},
    Row{"using device {w} ({*}) {*}- {n} MiB free", using_device},
    // Context
    Row{": n_ctx = {n}", each<set<"ctx_size">>},
    Row{": n_seq_max = {n}", each<set<"parallel">>},
    Row{"initializing, n_slots = {n}, n_ctx_slot = {n}, kv_unified = '{w}'",
        each<set<"parallel">, skip, set<"kv_unified">>},
    Row{"using n_parallel = {n} and kv_unified = {w}", each<set<"parallel">, set<"kv_unified">>},
    Row{"creating MTP draft context", given<"spec_type", "draft-mtp">},
    Row{": n_ubatch = {n}", each<set<"ubatch_size">>},
    Row{": flash_attn = {w}",
        [](StartLog& log, const Found& f) {
          const bool off = f[0] == "0" || f[0] == "disabled";
          if (f[0] != "auto") put(log, "flash_attn", off ? "off" : "on");
        }},
    Row{"Flash Attention was auto, set to {w}",
        [](StartLog& log, const Found& f) {
          put(log, "flash_attn", f[0] == "enabled" ? "on" : "off");
        }},
    Row{": kv_unified = {w}", each<set<"kv_unified">>},
    Row{": mla_attn = {n}", each<set<"mla_attn">>},
    Row{"type_k = '{w}', type_v = '{w}'", each<set<"cache_type_k">, set<"cache_type_v">>},
    Row{"llama_kv_cache: attn_rot_k = {n}", [](StartLog&, const Found&) {}},  // only dates the log
    // Memory
    Row{": {w} KV buffer size = {n} MiB", one_more<&L::cache_buffers>},
    Row{": {w} RS buffer size = {n} MiB", one_more<&L::state_buffers>},
    Row{"DSV4 {w} state buffer size = {n} MiB",
        [](StartLog& log, const Found& f) { add_to<&L::state_cache>(log, f, 1); }},
    Row{": {w} compute buffer size = {n} MiB", instead<&L::compute_buffers>},
    Row{": {w} model buffer size = {n} MiB", one_more<&L::weight_buffers>},
    Row{"load_tensors: {w} buffer size = {n} MiB", one_more<&L::weight_buffers>},
    Row{"offloaded {n}/{n} layers to GPU", offloaded},
    Row{"size = {n} MiB ( {n} cells, {n} layers, {*}seqs), K ({w}): {n} MiB, V ({w}):", cache},
    Row{"KV self size = {n} MiB, K ({w}): {n} MiB, V ({w}):",
        each<add_to<&L::cache>, set<"cache_type_k">, skip, set<"cache_type_v">>},
    Row{"KV self size = {n} MiB, c^KV ({w}):", each<add_to<&L::cache>, set<"cache_type_k">>},
    Row{"llama_memory_recurrent: size = {n} MiB ( {n} cells, {n} layers, {n} seqs {n} rs_seq)",
        states},
    Row{"llama_memory_recurrent: size = {n} MiB ( {n} cells, {n} layers, {n} seqs)", states},
    Row{"llama_kv_cache_recurrent: size = {n} MiB ( {n} cells,", states},
    Row{"_print: | - {w} ({*}) | {n} = {n} + (", each<skip, skip, bytes<&L::device_memory, kMiB>>},
    // Refusals
    Row{"allocating {n} MiB on device {n}: {*}out of memory", no_room},
    Row{"unable to allocate {w} buffer", no_room_for},
    Row{"failed to allocate compute buffers", no_room_for},
    Row{"failed to allocate buffer for kv cache", no_room_for},
    Row{"failed to allocate buffer for rs cache", no_room_for},
    Row{"retrying without pipeline parallelism", tries_again},
};

constexpr std::array kForms = {
    Form{"llama_kv_cache_init:", "b3000"}, Form{"llama_kv_cache_unified", "b5500"},
    Form{"llama_kv_cache:", "b6500"},
    Form{"llama_kv_cache: attn_rot_k =", "b8600"},  // ggml-org/llama.cpp#21038
};

}  // namespace

std::span<const Row> llamacpp_rows() { return kRows; }
std::span<const Form> llamacpp_forms() { return kForms; }

}  // namespace kvplan::logs
