// SPDX-License-Identifier: Apache-2.0
// What an engine prints when it starts, as numbers. What it did not print is absent.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "units.h"

namespace kvplan {

// A printed amount. Ranks may print different ones; `half` is half of the last printed digit.
template <class T>
struct Printed {
  T least{}, most{}, half{};
  std::int64_t line = 0;   // of the first
  std::int64_t times = 0;  // how often it was printed

  T low() const { return least - half; }
  T high() const { return most + half; }
};

// Why a start failed, in the engine's own words.
struct Refusal {
  enum Cause {
    request_too_long,  // one request of full length needs more cache than there is
    no_cache,          // nothing is left for a cache
    device_in_use,     // less free memory than the engine was allowed to take
    out_of_memory,     // an allocation failed
  } cause = no_cache;
  std::string text;  // the line, shortened
  std::int64_t line = 0;
  std::optional<Printed<Bytes>> needed, available;
  std::optional<Tokens> length, longest;  // asked for; the engine's own estimate of what fits
  std::string device;                     // that had no room: "CUDA0"
};

struct StartLog {
  std::string engine;        // canonical, empty where no line was recognised
  std::string version;       // as printed
  std::string version_hint;  // the first version that prints such lines, where none is printed
  std::string model;         // name or path
  std::vector<std::string> devices;             // their names, in the order of first mention
  std::map<std::string, std::string> settings;  // the engine's own flags, '-' as '_'
  std::vector<std::string> unfollowed;          // flags with values that kv-plan does not follow

  std::optional<Printed<Bytes>> device_memory, free_memory, allowed;
  std::optional<Printed<double>> utilization;
  std::optional<Printed<Bytes>> weights, activation, non_torch;
  std::optional<Printed<Bytes>>
      consumed;  // weights and non-torch as one; activation has the graphs
  std::optional<Printed<Bytes>> graph_estimate, graphs;   // before capture, and captured
  std::optional<Printed<Bytes>> free_before, free_after;  // loading the weights (SGLang)
  std::optional<Printed<Bytes>> pool;                     // for the cache, per GPU

  std::optional<Printed<std::int64_t>> block_tokens, blocks, host_blocks;
  std::optional<Printed<std::int64_t>> tokens, window_tokens, states;
  std::optional<Printed<std::int64_t>> longest_request;
  std::optional<Printed<double>> concurrency;
  std::optional<Printed<Bytes>> cache, state_cache;  // allocated, all devices of llama.cpp together

  // llama.cpp and ollama: by device.
  std::map<std::string, Printed<Bytes>> weight_buffers, cache_buffers, state_buffers,
      compute_buffers;
  std::optional<std::int64_t> offloaded_layers, all_layers;
  std::map<std::string, std::string> metadata;  // of a GGUF file, as its loader lists it

  std::vector<Refusal> refusals;
  std::int64_t starts = 1;     // the record is of the last one
  std::int64_t lines = 0;      // that were read
  std::int64_t cut_lines = 0;  // too long: only their beginning was read

  bool has_cache() const { return tokens || blocks || cache || !cache_buffers.empty(); }
};

}  // namespace kvplan
