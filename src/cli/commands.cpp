// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "cli/flags.h"

namespace kvplan {
namespace {

using Texts = std::string_view;

constexpr std::array kModel{Positional{"MODEL"}};
constexpr std::array kModelDevice{Positional{"MODEL"}, Positional{"DEVICE"}};
constexpr std::array kModelMaybeDevice{Positional{"MODEL"}, Positional{"DEVICE", false}};
constexpr std::array kGrid{Positional{"MODEL", true, true}, Positional{"DEVICE", true, true}};
constexpr std::array kFile{Positional{"FILE"}};
constexpr std::array kLog{Positional{"LOG"}, Positional{"MODEL", false},
                          Positional{"DEVICE", false}};
constexpr std::array kFilter{Positional{"FILTER", false}};
constexpr std::array kName{Positional{"NAME", false}};

constexpr Texts kRequests = "input output users source-tokens shared-prefix";
constexpr Texts kFormats = "weights kv";
constexpr Texts kLayout = "gpus tp pp dp ep dcp";
constexpr Texts kEngine = "engine engine-command set max-model-len utilization kv-pool reserve";
constexpr Texts kDevice = "host profile bandwidth";
constexpr Texts kOutput = "format o part catalog";

constexpr std::array kPlanFlags{Texts("context prompt batch"),
                                kRequests,
                                Texts("min-tps-per-user min-tps-total lengths"),
                                kFormats,
                                kLayout,
                                kEngine,
                                kDevice,
                                kOutput,
                                Texts("explain details")};
constexpr std::array kKvFlags{
    Texts("context batch"), kRequests, Texts("lengths"), kFormats, Texts("roles"), kLayout, kEngine,
    Texts("host"),          kOutput,   Texts("explain")};
constexpr std::array kDecodeFlags{Texts("context batch"),
                                  kRequests,
                                  kFormats,
                                  Texts("roles"),
                                  kLayout,
                                  kEngine,
                                  kDevice,
                                  kOutput,
                                  Texts("explain breakdown")};
constexpr std::array kPrefillFlags{Texts("prompt batch source-tokens shared-prefix"),
                                   kFormats,
                                   Texts("roles"),
                                   kLayout,
                                   kEngine,
                                   kDevice,
                                   kOutput,
                                   Texts("explain breakdown")};
constexpr std::array kGqaFlags{Texts("context batch"),
                               kRequests,
                               kFormats,
                               Texts("roles mla"),
                               kLayout,
                               kEngine,
                               kDevice,
                               kOutput};
constexpr std::array kSweepFlags{Texts("context batch"),
                                 kRequests,
                                 kFormats,
                                 Texts("roles"),
                                 kLayout,
                                 kEngine,
                                 kDevice,
                                 kOutput};
constexpr std::array kCalibrateFlags{
    Texts("device backend quick full from holdout origin licence seed save"), kOutput};
constexpr std::array kImportFlags{Texts("tensors format o part")};
constexpr std::array kCheckFlags{kFormats, kLayout, kEngine, kOutput};
constexpr std::array kModelsFlags{Texts("on context"), kFormats, kOutput};
constexpr std::array kDevicesFlags{
    Texts("for gpus context batch users input output min-tps-per-user min-tps-total"), kFormats,
    Texts("engine set max-model-len utilization reserve"), kOutput};
constexpr std::array kEnginesFlags{kOutput};

constexpr std::array kKvDefaults{Default{"context", "1k,4k,16k,64k,max"},
                                 Default{"batch", "1,8,32"}};
constexpr std::array kDecodeDefaults{Default{"context", "4k,32k"}, Default{"batch", "1,8,32,128"}};
constexpr std::array kPrefillDefaults{Default{"prompt", "1k,8k,32k"}, Default{"batch", "1"}};
constexpr std::array kGqaDefaults{Default{"context", "4k,32k"}, Default{"batch", "1,32"}};
constexpr std::array kCalibrateDefaults{Default{"backend", "auto"}, Default{"seed", "1"}};

constexpr std::array kPlanExamples{
    Example{"kv-plan plan llama-3.1-8b rtx-4090", "what fits, how far, how fast"},
    Example{"kv-plan plan qwen3-235b-a22b 8xh100-sxm --users 64 --context 32k", "one load"},
    Example{"kv-plan plan model.gguf local --reserve 2GiB", "on this machine"}};
constexpr std::array kKvExamples{
    Example{"kv-plan kv llama-3.1-8b --context 4k,32k,max --batch 1..64*4", "a table by load"},
    Example{"kv-plan kv deepseek-v3 --kv fp8 --engine vllm", "as an engine reserves it"}};
constexpr std::array kDecodeExamples{
    Example{"kv-plan decode llama-3.1-8b h100-sxm --weights fp8", "8-bit weights"},
    Example{"kv-plan decode gpt-oss-120b 2xh100-sxm --batch 1..256*2", "where it crosses over"}};
constexpr std::array kPrefillExamples{
    Example{"kv-plan prefill llama-3.1-8b rtx-4090 --prompt 1k..32k*2", "time to first token"}};
constexpr std::array kGqaExamples{
    Example{"kv-plan gqa llama-2-7b rtx-4090 --context 4k --batch 2", "what fewer KV heads give"}};
constexpr std::array kSweepExamples{
    Example{"kv-plan sweep llama-3.1-8b qwen3-32b rtx-4090 h100-sxm --format csv", "a grid"}};
constexpr std::array kCalibrateExamples{
    Example{"kv-plan calibrate", "the best device here, within a minute"},
    Example{"kv-plan calibrate --backend cpu --quick -o report.json", "with every sample"}};
constexpr std::array kImportExamples{
    Example{"kv-plan import ./my-model -o my-model.yaml", "a catalog entry"},
    Example{"kv-plan import model.gguf --tensors", "what is stored, by role and format"}};
constexpr std::array kCheckExamples{
    Example{"kv-plan check vllm.log llama-3.1-8b h100-sxm", "line by line"},
    Example{"kv-plan check - llama-3.1-8b", "a log from a pipe"}};
constexpr std::array kReportExamples{
    Example{"kv-plan report llama-3.1-8b h100-sxm -o report.html", "one page to pass on"}};
constexpr std::array kModelsExamples{
    Example{"kv-plan models qwen", "names that hold qwen"},
    Example{"kv-plan models --on rtx-4090", "what runs there, and how"}};
constexpr std::array kDevicesExamples{
    Example{"kv-plan devices h100", "with peaks and sources"},
    Example{"kv-plan devices --for llama-3.3-70b --users 16 --context 32k", "which would do"}};
constexpr std::array kEnginesExamples{
    Example{"kv-plan engines vllm", "flags, defaults by version, sources"}};

constexpr std::array kCommands{
    CommandSpec{Command::plan,
                "plan",
                "does it fit, how much fits, how fast, how many GPUs, what would help most",
                kModelDevice,
                kPlanFlags,
                {},
                kPlanExamples},
    CommandSpec{Command::kv, "kv", "cache by context and batch, per group and per GPU", kModel,
                kKvFlags, kKvDefaults, kKvExamples},
    CommandSpec{Command::decode, "decode", "the most tokens per second, and what binds them",
                kModelDevice, kDecodeFlags, kDecodeDefaults, kDecodeExamples},
    CommandSpec{Command::prefill, "prefill", "the least time to the first token", kModelDevice,
                kPrefillFlags, kPrefillDefaults, kPrefillExamples},
    CommandSpec{Command::gqa, "gqa", "the same model as MHA, GQA, MQA, MLA and windowed",
                kModelMaybeDevice, kGqaFlags, kGqaDefaults, kGqaExamples},
    CommandSpec{Command::sweep, "sweep", "a grid of models, devices and loads", kGrid, kSweepFlags,
                kDecodeDefaults, kSweepExamples},
    CommandSpec{Command::calibrate,
                "calibrate",
                "run the bundled kernels here, fit, validate, write a profile",
                {},
                kCalibrateFlags,
                kCalibrateDefaults,
                kCalibrateExamples},
    CommandSpec{Command::import_file,
                "import",
                "a model file becomes a catalog entry",
                kFile,
                kImportFlags,
                {},
                kImportExamples},
    CommandSpec{Command::check,
                "check",
                "what an engine printed against what was predicted",
                kLog,
                kCheckFlags,
                {},
                kCheckExamples},
    CommandSpec{Command::report,
                "report",
                "the whole answer as .json, .md or .html",
                kModelDevice,
                kPlanFlags,
                {},
                kReportExamples},
    CommandSpec{Command::models,
                "models",
                "the catalog's models and their sources",
                kFilter,
                kModelsFlags,
                {},
                kModelsExamples},
    CommandSpec{Command::devices,
                "devices",
                "the catalog's devices and their sources",
                kFilter,
                kDevicesFlags,
                {},
                kDevicesExamples},
    CommandSpec{Command::engines,
                "engines",
                "the engines, their flags and defaults, and where these are from",
                kName,
                kEnginesFlags,
                {},
                kEnginesExamples},
};

}  // namespace

std::string CommandSpec::usage() const {
  std::string text = "kv-plan " + std::string(name);
  for (const Positional& p : positionals) {
    const std::string shown = std::string(p.name) + (p.many ? "…" : "");
    text += p.required ? " " + shown : " [" + shown + "]";
  }
  return text + " [OPTIONS]";
}

std::vector<std::string_view> CommandSpec::flag_names() const {
  std::vector<std::string_view> names;
  for (std::string_view some : flags)
    while (!some.empty()) {
      const std::size_t end = some.find(' ');
      names.push_back(some.substr(0, end));
      some.remove_prefix(end == std::string_view::npos ? some.size() : end + 1);
    }
  return names;
}

std::span<const CommandSpec> commands() { return kCommands; }

const CommandSpec& spec_of(Command command) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [&](const CommandSpec& c) { return c.command == command; });
  assert(found != kCommands.end());
  return *found;
}

const CommandSpec* find_command(std::string_view name) {
  for (const CommandSpec& c : kCommands)
    if (c.name == name) return &c;
  return nullptr;
}

Request defaults_of(Command command) {
  Request request;
  request.command = command;
  for (const Default& d : spec_of(command).defaults) flag_named(d.flag).note(request, d.value);
  return request;
}

}  // namespace kvplan
