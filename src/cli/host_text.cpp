// SPDX-License-Identifier: Apache-2.0
#include "cli/host_text.h"

#include <fmt/format.h>

#include <cctype>

#include "report/numbers.h"

namespace kvplan {
namespace {

std::string rate(double tokens_per_second) {
  return shown(value(tokens_per_second, Show::tokens_per_second));
}

// Why there is no rate: a part that nobody named, or of whose speed nothing is known.
std::string unknown_rate(const Machine& machine) {
  for (std::size_t p = 0; p < machine.parts(); ++p)
    if (const DeviceSpec* device = machine.part(p); device && device->bandwidth.value.v <= 0)
      return fmt::format("the rate is not known: no datasheet says how fast {} reads",
                         device->title);
  return "the rate is not known without --host";
}

// ": it takes 383.7 GiB, the parts have 215.5 GiB"; empty where that is not why.
std::string lack_of(const SplitAnswer& answer) {
  Bytes taken, had;
  for (const PartSummary& part : answer.parts) {
    if (!part.memory) return "";
    taken += part.used;
    had += *part.memory;
  }
  if (taken <= had) return "";
  return fmt::format(": it takes {}, the parts have {}", shown(value(taken)), shown(value(had)));
}

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::string split_text(const SplitAnswer& answer) {
  const llamacpp::Split& split = answer.choice.split;
  std::string text = split.gpu_layers >= answer.countable
                         ? fmt::format("all {} layers and the output on GPUs", answer.countable - 1)
                     : split.gpu_layers == 0
                         ? std::string("all layers on the host")
                         : fmt::format("{} of {} layers on GPUs, the output counted as one",
                                       split.gpu_layers, answer.countable);
  if (split.cpu_moe >= answer.countable - 1)
    text += ", all experts on the host";
  else if (split.cpu_moe > 0)
    text += fmt::format(", the experts of the first {} on the host", split.cpu_moe);
  if (!split.overrides.empty()) text += ", tensors as overridden";
  if (split.cache_on_host) text += ", the cache on the host";
  return text;
}

std::string decode_text(const Machine& machine, const DecodeOnMachine& row) {
  const auto most = ceiling_of(row);
  const auto turn = in_turn_of(row);
  if (!most && !turn) return unknown_rate(machine);
  std::string text = most ? fmt::format("at most {} tokens/s", rate(most->tokens_per_second))
                          : "no ceiling without --host";
  if (turn) text += fmt::format(", {} with its parts in turn", rate(turn->tokens_per_second));
  return text + fmt::format(" at {} tokens of context", shown(value(row.context)));
}

std::string verdict_text(const std::string& who, const Machine& machine, const SplitAnswer& answer,
                         const Load& load, const DecodeOnMachine& row, bool fast_enough) {
  if (!answer.choice.fits)
    return fmt::format("No: {} has no split that holds {} x {} tokens{}.", who, load.batch,
                       shown(value(load.context)), lack_of(answer));
  if (!fast_enough)
    return fmt::format("No: {} holds the load, but even its ceiling is slower than asked.", who);
  return fmt::format("Yes: {}: {}. {}.", who, split_text(answer),
                     capitalised(decode_text(machine, row)));
}

}  // namespace kvplan
