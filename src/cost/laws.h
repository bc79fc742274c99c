// SPDX-License-Identifier: Apache-2.0
// How long operators take on one device: small physical laws whose constants a calibration fits.
// Each law lists its constants once, for the fit, for profile files and for reports.
#pragma once
#include <array>
#include <string_view>
#include <variant>

#include "cost/shape.h"
#include "units.h"

namespace kvplan {

using ByteScale = Real<BytesUnit>;  // a fitted size

// Times of a measurement that repeats one launch hold what the last-level cache kept; a step of a
// model does not find it there.
enum class Caches { cold, warm };

// A constant that a law gained, and the value at which it is the law without: profiles that were
// saved before lack the constant and mean this value.
struct Gained {
  std::string_view name;
  double before;
};

// t = floor + max(serial part, max(memory, arithmetic)) + elements written and converted.
struct GemmLaw {
  Seconds floor;
  Seconds per_k;              // one pass over k, where tiles are few
  double split_k = 2048;      // beyond it, k is split and parts of a pass run side by side:
  double beyond_split = 0.1;  // the pass grows as this power of k
  // One row of x has kernels of its own, with a pass and a split of their own.
  double single_row = 1, single_split = 1;
  BytesPerSecond bandwidth;
  double ramp = 0.1;  // short reads take 1 + ramp times as long, up to about `ramp_size`
  ByteScale ramp_size;
  FlopsPerSecond rate;
  double least_rows = 1e4;  // fewer rows of x multiply no faster; at most a tile of 64
  // Per element of y and x beyond their bytes, and per row of x: conversions of activations.
  Seconds per_output, per_input, per_row;
  double memory_sharpness = 2, rate_sharpness = 2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-8, 1e-1);
    f("seconds_per_k", law.per_k.v, 1e-14, 1e-6);
    f("split_k", law.split_k, 32.0, 1e6);
    f("beyond_split", law.beyond_split, 0.01, 1.0);
    f("single_row", law.single_row, 0.05, 3.0);
    f("single_split", law.single_split, 0.2, 20.0);
    f("bytes_per_second", law.bandwidth.v, 1e8, 1e14);
    f("ramp", law.ramp, 1e-3, 2.0);
    f("ramp_bytes", law.ramp_size.v, 1e5, 1e10);
    f("flops_per_second", law.rate.v, 1e8, 1e17);
    f("least_rows", law.least_rows, 1.0, 1e4);
    f("seconds_per_output", law.per_output.v, 1e-18, 1e-7);
    f("seconds_per_input", law.per_input.v, 1e-18, 1e-7);
    f("seconds_per_row", law.per_row.v, 1e-14, 1e-4);
    f("memory_sharpness", law.memory_sharpness, 1.0, 8.0);
    f("rate_sharpness", law.rate_sharpness, 1.0, 8.0);
  }
  static constexpr std::array kGained{Gained{"beyond_split", 0}, Gained{"single_row", 1},
                                      Gained{"single_split", 1}, Gained{"least_rows", 1e4},
                                      Gained{"seconds_per_row", 0}};
  friend bool operator==(const GemmLaw&, const GemmLaw&) = default;
};

// t = floor of launch, layout and combination + max(cost of pairs, memory, one split's tokens).
// A pair is one KV head of one sequence.
struct DecodeAttentionLaw {
  Seconds floor, per_width;               // the latter per 128 numbers of a head
  Seconds grouped, transposed, combined;  // several queries per head; of several sequences; splits
  Seconds per_doubling;                   // of the context beyond 128
  Seconds per_pair, per_pair_width, per_query;  // the latter two per 128 numbers
  BytesPerSecond bandwidth;
  double width_64 = 1, width_192 = 1, width_256 = 1;  // bandwidth of other head widths against 128
  BytesPerSecond split, unsplit;  // of the share that one block reads, grouped and not
  FlopsPerSecond rate{1e17};      // binds where few processors serve many queries per KV head
  double cache_gain = 2;
  ByteScale cache;
  double sharpness = 2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-8, 1e-1);
    f("seconds_per_width", law.per_width.v, 1e-10, 1e-3);
    f("grouped_seconds", law.grouped.v, 1e-10, 1e-3);
    f("transposed_seconds", law.transposed.v, 1e-10, 1e-3);
    f("combined_seconds", law.combined.v, 1e-10, 1e-3);
    f("seconds_per_doubling", law.per_doubling.v, 1e-10, 1e-3);
    f("seconds_per_pair", law.per_pair.v, 1e-12, 1e-3);
    f("seconds_per_pair_width", law.per_pair_width.v, 1e-12, 1e-3);
    f("seconds_per_query", law.per_query.v, 1e-13, 1e-3);
    f("bytes_per_second", law.bandwidth.v, 1e8, 1e14);
    f("width_64", law.width_64, 0.3, 1.2);
    f("width_192", law.width_192, 0.3, 1.2);
    f("width_256", law.width_256, 0.3, 1.2);
    f("split_bytes_per_second", law.split.v, 1e7, 1e15);
    f("unsplit_bytes_per_second", law.unsplit.v, 1e7, 1e15);
    f("product_flops_per_second", law.rate.v, 1e8, 1e17);
    f("cache_gain", law.cache_gain, 1.0, 5.0);
    f("cache_bytes", law.cache.v, 1e6, 1e9);
    f("sharpness", law.sharpness, 1.0, 8.0);
  }
  static constexpr std::array kGained{Gained{"product_flops_per_second", 1e17}};
  friend bool operator==(const DecodeAttentionLaw&, const DecodeAttentionLaw&) = default;
};

// t = floor + cache writes + max(arithmetic over pairs of tokens, memory, one block's tokens).
struct PrefillAttentionLaw {
  Seconds floor, per_width, per_doubling;  // per 128 numbers of a head; per doubling of the queries
  Seconds transposed, per_pair;            // a single query runs as decode does
  BytesPerSecond bandwidth, write;
  FlopsPerSecond rate;
  double width_64 = 1, width_192 = 1, width_256 = 1;  // rate of other head widths against 128
  double tile = 64;   // tokens by which a query's span is rounded up
  Seconds per_block;  // of up to 128 queries of one head
  Seconds per_query;  // serial part of a block per query and 128 numbers
  double sharpness = 2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-8, 1e-1);
    f("seconds_per_width", law.per_width.v, 1e-10, 1e-3);
    f("seconds_per_doubling", law.per_doubling.v, 1e-10, 1e-3);
    f("transposed_seconds", law.transposed.v, 1e-10, 1e-3);
    f("seconds_per_pair", law.per_pair.v, 1e-12, 1e-3);
    f("bytes_per_second", law.bandwidth.v, 1e8, 1e15);
    f("write_bytes_per_second", law.write.v, 1e8, 1e15);
    f("flops_per_second", law.rate.v, 1e8, 1e17);
    f("width_64", law.width_64, 0.2, 2.0);
    f("width_192", law.width_192, 0.2, 2.0);
    f("width_256", law.width_256, 0.2, 2.0);
    f("tile_tokens", law.tile, 0.5, 3000.0);
    f("seconds_per_block", law.per_block.v, 1e-12, 1e-3);
    f("seconds_per_query", law.per_query.v, 1e-13, 1e-3);
    f("sharpness", law.sharpness, 1.0, 8.0);
  }
  friend bool operator==(const PrefillAttentionLaw&, const PrefillAttentionLaw&) = default;
};

// t = floor + max(memory, arithmetic, one split's tokens) for latents that all heads share.
struct LatentLaw {
  Seconds floor, per_doubling, per_sequence;
  Seconds per_query;  // of one head of one sequence: read, written and normalised
  BytesPerSecond bandwidth, split;
  FlopsPerSecond rate;
  double cache_gain = 2;
  ByteScale cache;
  double sharpness = 2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-8, 1e-1);
    f("seconds_per_doubling", law.per_doubling.v, 1e-10, 1e-3);
    f("seconds_per_sequence", law.per_sequence.v, 1e-12, 1e-3);
    f("seconds_per_query", law.per_query.v, 1e-13, 1e-3);
    f("bytes_per_second", law.bandwidth.v, 1e8, 1e14);
    f("split_bytes_per_second", law.split.v, 1e7, 1e15);
    f("flops_per_second", law.rate.v, 1e8, 1e17);
    f("cache_gain", law.cache_gain, 1.0, 5.0);
    f("cache_bytes", law.cache.v, 1e6, 1e9);
    f("sharpness", law.sharpness, 1.0, 8.0);
  }
  friend bool operator==(const LatentLaw&, const LatentLaw&) = default;
};

// t = floor + experts touched + max(their weights, arithmetic) + tokens moved to and from experts.
struct MoeLaw {
  Seconds floor, per_expert;
  BytesPerSecond bandwidth, shuffle;
  FlopsPerSecond rate;
  double rows = 16;   // tokens of one expert below which a tile is not full
  double skew = 0.1;  // of ranks > 1 the busiest has ranks^skew times its share of the choices
  double sharpness = 2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-7, 1e-1);
    f("seconds_per_expert", law.per_expert.v, 1e-11, 1e-3);
    f("bytes_per_second", law.bandwidth.v, 1e8, 1e14);
    f("shuffle_bytes_per_second", law.shuffle.v, 1e8, 1e15);
    f("flops_per_second", law.rate.v, 1e8, 1e17);
    f("tile_rows", law.rows, 1.0, 512.0);
    f("skew", law.skew, 1e-3, 1.0);
    f("sharpness", law.sharpness, 1.0, 8.0);
  }
  static constexpr std::array kGained{Gained{"skew", 0}};
  friend bool operator==(const MoeLaw&, const MoeLaw&) = default;
};

// t = floor + heads + max(memory, arithmetic, one sequence's chunks of 64 tokens).
struct RecurrenceLaw {
  Seconds floor, per_head;  // the latter of one sequence
  Seconds per_token;        // of a sequence, of which chunks wait for each other
  BytesPerSecond bandwidth;
  FlopsPerSecond rate;
  double cache_gain = 2;
  ByteScale cache;
  double sharpness = 2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-8, 1e-1);
    f("seconds_per_head", law.per_head.v, 1e-13, 1e-3);
    f("seconds_per_token", law.per_token.v, 1e-14, 1e-3);
    f("bytes_per_second", law.bandwidth.v, 1e8, 1e14);
    f("flops_per_second", law.rate.v, 1e8, 1e17);
    f("cache_gain", law.cache_gain, 1.0, 5.0);
    f("cache_bytes", law.cache.v, 1e6, 1e9);
    f("sharpness", law.sharpness, 1.0, 8.0);
  }
  friend bool operator==(const RecurrenceLaw&, const RecurrenceLaw&) = default;
};

// t = floor + rows + max(weights, their arithmetic) + max(index keys, scores) + max(tokens chosen,
// attention): the parts of a module run one after the other.
struct SparseLatentLaw {
  Seconds floor, indexer;      // the latter where the layer chooses for itself
  Seconds per_doubling;        // of the context beyond 128
  Seconds per_row, per_query;  // of one sequence and token; of one of its heads
  BytesPerSecond bandwidth;    // of weights
  FlopsPerSecond rate;
  BytesPerSecond scan;  // of index keys
  FlopsPerSecond score_rate;
  BytesPerSecond gather;  // of the tokens that each query chose
  FlopsPerSecond attention_rate;
  double sharpness = 2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-8, 1e-1);
    f("indexer_seconds", law.indexer.v, 1e-9, 1e-1);
    f("seconds_per_doubling", law.per_doubling.v, 1e-10, 1e-3);
    f("seconds_per_new_row", law.per_row.v, 1e-13, 1e-3);
    f("seconds_per_query", law.per_query.v, 1e-15, 1e-3);
    f("bytes_per_second", law.bandwidth.v, 1e8, 1e14);
    f("flops_per_second", law.rate.v, 1e8, 1e17);
    f("scan_bytes_per_second", law.scan.v, 1e8, 1e15);
    f("score_flops_per_second", law.score_rate.v, 1e8, 1e17);
    f("gather_bytes_per_second", law.gather.v, 1e8, 1e15);
    f("attention_flops_per_second", law.attention_rate.v, 1e8, 1e17);
    f("sharpness", law.sharpness, 1.0, 8.0);
  }
  friend bool operator==(const SparseLatentLaw&, const SparseLatentLaw&) = default;
};

// t = floor + steps + bytes that cross a link, at a bandwidth that grows with the message.
struct CollectiveLaw {
  Seconds floor, per_step;
  BytesPerSecond bandwidth;
  double ramp = 1;
  ByteScale ramp_size;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("floor_seconds", law.floor.v, 1e-8, 1e-1);
    f("seconds_per_step", law.per_step.v, 1e-9, 1e-2);
    f("bytes_per_second", law.bandwidth.v, 1e7, 1e14);
    f("ramp", law.ramp, 1e-3, 20.0);
    f("ramp_bytes", law.ramp_size.v, 1e3, 1e9);
  }
  friend bool operator==(const CollectiveLaw&, const CollectiveLaw&) = default;
};

Seconds time(const GemmLaw&, const GemmShape&, Caches = Caches::cold);
Seconds time(const DecodeAttentionLaw&, const DecodeAttentionShape&, Caches = Caches::cold);
Seconds time(const PrefillAttentionLaw&, const PrefillAttentionShape&, Caches = Caches::cold);
Seconds time(const LatentLaw&, const LatentDecodeShape&, Caches = Caches::cold);
Seconds time(const MoeLaw&, const MoeShape&, Caches = Caches::cold);
Seconds time(const RecurrenceLaw&, const RecurrenceShape&, Caches = Caches::cold);
Seconds time(const SparseLatentLaw&, const SparseLatentShape&, Caches = Caches::cold);
Seconds time(const CollectiveLaw&, const CollectiveShape&, Caches = Caches::cold);

using OperatorLaw = std::variant<GemmLaw, DecodeAttentionLaw, PrefillAttentionLaw, LatentLaw,
                                 MoeLaw, RecurrenceLaw, SparseLatentLaw, CollectiveLaw>;

}  // namespace kvplan
