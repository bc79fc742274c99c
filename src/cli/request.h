// SPDX-License-Identifier: Apache-2.0
// What was typed, as types. What was not typed is absent: defaults are chosen, and noted, later.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "report/document.h"
#include "units.h"

namespace kvplan {

enum class Command {
  plan,
  kv,
  decode,
  prefill,
  gqa,
  sweep,
  calibrate,
  import_file,
  check,
  report,
  models,
  devices,
  engines
};

struct Request {
  std::optional<std::string> text;  // help or version, where asked for: print it and stop
  Command command = Command::plan;

  // Positionals. What a command requires is never empty.
  std::string model;
  std::optional<std::string> device;
  std::vector<std::string> names;     // sweep: models and devices as typed
  std::string file;                   // import, check
  std::optional<std::string> filter;  // models, devices, engines

  // Load.
  std::optional<std::vector<AskedLength>> context, prompt;
  std::optional<std::vector<std::int64_t>> batch;
  std::optional<Tokens> input, output;  // of a request
  std::optional<std::int64_t> users;
  std::optional<double> min_tps_per_user, min_tps_total;
  std::optional<Tokens> source_tokens, shared_prefix;
  std::optional<std::string> lengths;  // final lengths of requests, or a file of requests

  // Model.
  std::optional<std::string> weights, kv;
  std::optional<std::vector<std::string>> roles;
  std::optional<std::pair<std::int64_t, std::int64_t>> mla;  // latent and rotary width

  // Deployment and engine.
  std::optional<std::int64_t> gpus, tp, pp, dp, ep, dcp;
  std::optional<std::string> engine, engine_command;
  std::vector<std::pair<std::string, std::string>> set;  // the engine's own keys, '-' as '_'
  std::optional<Tokens> max_model_len;
  std::optional<double> utilization;
  std::optional<Bytes> kv_pool, reserve;

  // Device.
  std::optional<std::string> host, profile;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<std::string> on;         // models
  std::optional<std::string> for_model;  // devices

  // Calibration.
  std::optional<std::string> run_device, backend, save, origin, licence;
  std::vector<std::string> from, holdout;
  std::optional<std::int64_t> seed;
  bool quick = false, full = false;

  // Output.
  std::optional<OutputFormat> format;
  std::optional<std::string> output_path, part, catalog;
  bool details = false, explain = false, breakdown = false, tensors = false;
};

}  // namespace kvplan
