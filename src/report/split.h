// SPDX-License-Identifier: Apache-2.0
// "split": one machine of several parts, what lies where; and its rates: the ceiling beside the law
// of an engine that runs the parts in turn.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/split_options.h"
#include "report/breakdown.h"
#include "report/budget.h"
#include "report/names.h"
#include "report/record.h"
#include "report/speed.h"

namespace kvplan {

template <>
inline constexpr auto description<PartSummary> = std::tuple{
    field("name", &PartSummary::name, "part"), field("layers", &PartSummary::layers, "layers"),
    field("memory_bytes", &PartSummary::memory, "memory"),
    field("used_bytes", &PartSummary::used, "used"),
    field("left_bytes", &PartSummary::left, "left")};

template <>
inline constexpr auto description<MachineLine> = std::tuple{
    field("part", &MachineLine::part, "part"),
    field(
        "what", [](const MachineLine& l) { return l.line.what; }, "what"),
    field(
        "bytes", [](const MachineLine& l) { return l.line.bytes.value; }, "bytes"),
    field(
        "low_bytes",
        [](const MachineLine& l) { return unless_exact(l.line.bytes, l.line.bytes.low); },
        "at least"),
    field(
        "high_bytes",
        [](const MachineLine& l) { return unless_exact(l.line.bytes, l.line.bytes.high); },
        "at most"),
    field(
        "basis", [](const MachineLine& l) { return l.line.bytes.basis; }, "basis"),
    field("source", [](const MachineLine& l) { return l.line.bytes.source; })};

// A rate of a machine, and what its time is called.
struct MachineCeiling {
  double tokens_per_second, per_sequence;
  Seconds seconds;
  Bound bound;
  std::string part;  // whose memory binds; empty for arithmetic
};
struct InTurn {
  double tokens_per_second;
  Seconds seconds;
};
struct DecodeOnMachine : MachineRow {};
struct PrefillOnMachine : MachineRow {};
struct PrefillCeilingOnMachine : MachineCeiling {};
struct PrefillInTurn : InTurn {};

std::optional<MachineCeiling> ceiling_of(const DecodeOnMachine&);
std::optional<InTurn> in_turn_of(const DecodeOnMachine&);
std::optional<DecodeExpected> expected_of(const DecodeOnMachine&);
std::optional<PrefillCeilingOnMachine> ceiling_of(const PrefillOnMachine&);
std::optional<PrefillInTurn> in_turn_of(const PrefillOnMachine&);
std::optional<PrefillExpected> expected_of(const PrefillOnMachine&);

template <>
inline constexpr auto description<MachineCeiling> =
    std::tuple{field("tokens_per_second", &MachineCeiling::tokens_per_second, "tok/s")
                   .as(Show::tokens_per_second),
               field("tokens_per_second_per_sequence", &MachineCeiling::per_sequence, "tok/s each")
                   .unless_same_as("tokens_per_second")
                   .as(Show::tokens_per_second),
               field("step_seconds", &MachineCeiling::seconds),
               field("bound", &MachineCeiling::bound, "bound by"),
               field("bound_part", &MachineCeiling::part, "at")};

template <>
inline constexpr auto description<InTurn> = std::tuple{
    field("tokens_per_second", &InTurn::tokens_per_second, "tok/s").as(Show::tokens_per_second),
    field("step_seconds", &InTurn::seconds, "step"),
    field("basis", [](const InTurn&) { return Basis::engine_rule; })};

template <>
inline constexpr auto description<PrefillCeilingOnMachine> =
    std::tuple{field("seconds", &PrefillCeilingOnMachine::seconds, "TTFT"),
               field("tokens_per_second", &PrefillCeilingOnMachine::tokens_per_second)
                   .as(Show::tokens_per_second),
               field("bound", &PrefillCeilingOnMachine::bound, "bound by"),
               field("bound_part", &PrefillCeilingOnMachine::part, "at")};

template <>
inline constexpr auto description<PrefillInTurn> =
    std::tuple{field("seconds", &PrefillInTurn::seconds, "TTFT"),
               field("tokens_per_second", &PrefillInTurn::tokens_per_second, "tok/s")
                   .as(Show::tokens_per_second),
               field("basis", [](const PrefillInTurn&) { return Basis::engine_rule; })};

template <>
inline constexpr auto description<DecodeOnMachine> = std::tuple{
    field("context", &DecodeOnMachine::context, "context"),
    field("batch", &DecodeOnMachine::batch, "batch"),
    field("fits", &DecodeOnMachine::fits, "fits"),
    field("gpu_bytes", &DecodeOnMachine::gpu_bytes, "read by GPUs"),
    field("host_bytes", &DecodeOnMachine::host_bytes, "by the host"),
    field(
        "copied_bytes", [](const DecodeOnMachine& r) { return r.time.copied; }, "copied")
        .where_it_varies(),
    field(
        "ceiling", [](const DecodeOnMachine& r) { return ceiling_of(r); }, "ceiling"),
    field(
        "in_turn", [](const DecodeOnMachine& r) { return in_turn_of(r); }, "in turn"),
    field(
        "expected", [](const DecodeOnMachine& r) { return expected_of(r); }, "expected")};

template <>
inline constexpr auto description<PrefillOnMachine> = std::tuple{
    field("prompt", &PrefillOnMachine::context, "prompt"),
    field("batch", &PrefillOnMachine::batch, "batch"),
    field("fits", &PrefillOnMachine::fits, "fits"),
    field(
        "flops", [](const PrefillOnMachine& r) { return Flops(r.time.flops); }, "work"),
    field(
        "copied_bytes", [](const PrefillOnMachine& r) { return r.time.copied; },
        "copied to the GPU"),
    field(
        "ceiling", [](const PrefillOnMachine& r) { return ceiling_of(r); }, "ceiling"),
    field(
        "in_turn", [](const PrefillOnMachine& r) { return in_turn_of(r); }, "in turn"),
    field(
        "expected", [](const PrefillOnMachine& r) { return expected_of(r); }, "expected")};

template <>
inline constexpr auto description<SplitOutcome> =
    std::tuple{field("fits", &SplitOutcome::fits, "fits"),
               field("n_gpu_layers", &SplitOutcome::gpu_layers, "-ngl"),
               field("n_cpu_moe", &SplitOutcome::cpu_moe, "--n-cpu-moe").where_it_varies(),
               field("decode_tokens_per_second", &SplitOutcome::decode, "decode tok/s")
                   .as(Show::tokens_per_second),
               field("prefill_tokens_per_second", &SplitOutcome::prefill, "prefill tok/s")
                   .as(Show::tokens_per_second)};

template <>
inline constexpr auto description<SplitRung> = std::tuple{
    field("weights", &SplitRung::recipe, "weights"),
    field("weight_bytes", &SplitRung::weights, "size"), field("outcome", &SplitRung::outcome)};

template <>
inline constexpr auto description<SplitLever> =
    std::tuple{field("name", &SplitLever::name, "lever"),
               field("how", &SplitLever::how, "how"),
               field(
                   "fits", [](const SplitLever& l) { return l.outcome.fits; }, "fits"),
               field(
                   "decode_tokens_per_second", [](const SplitLever& l) { return l.outcome.decode; },
                   "decode tok/s")
                   .as(Show::tokens_per_second),
               field("decode_gain", &SplitLever::decode_gain, "gain").as(Show::ratio),
               field(
                   "prefill_tokens_per_second",
                   [](const SplitLever& l) { return l.outcome.prefill; }, "prefill tok/s")
                   .as(Show::tokens_per_second),
               field("prefill_gain", &SplitLever::prefill_gain, "gain").as(Show::ratio),
               field("n_gpu_layers", [](const SplitLever& l) { return l.outcome.gpu_layers; }),
               field("n_cpu_moe", [](const SplitLever& l) { return l.outcome.cpu_moe; })};

// Ridges and intensities are for programs: a table has no room for them beside the part.
template <>
inline constexpr auto description<NamedPortion> =
    std::tuple{field("part", &NamedPortion::part, "part"),
               field("what", &Portion::what, "operator"),
               field("format", std::get<1>(description<Portion>).get, "format"),
               field("bytes", &Portion::bytes, "bytes"),
               field("flops", &Portion::flops, "flops"),
               field("intensity", [](const NamedPortion& p) { return p.intensity(); }),
               field("ridge", &Portion::ridge),
               field("memory_seconds", &Portion::memory, "memory"),
               field("arithmetic_seconds", &Portion::arithmetic, "arithmetic")};

// The flags of the split, in the engine's words.
Object flags_object(const SplitAnswer&);

}  // namespace kvplan
