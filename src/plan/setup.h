// SPDX-License-Identifier: Apache-2.0
// A question with every name resolved and every default chosen; what all answers start from.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost/deployment.h"
#include "cost/device.h"
#include "cost/profile.h"
#include "cost/published_runs.h"
#include "engine/engine.h"
#include "model/spec.h"

namespace kvplan {

// A default or a choice that the answer rests on, and why it is that.
struct Assumption {
  std::string what;  // the option that changes it: "--kv", "--gpus"
  std::string value;
  Basis basis = Basis::assumed;
  std::string source;
};

struct Setup {
  ModelSpec model;  // weight formats applied
  std::optional<DeviceSpec> device;
  Deployment deployment;
  EngineOptions engine;
  // For expected times; may be null: of the device, and of the engine.
  std::shared_ptr<const Profile> profile;
  std::shared_ptr<const PublishedRuns> runs;
};

// `batch` sequences of `context` tokens.
struct Load {
  Tokens context;
  std::int64_t batch = 1;
};

}  // namespace kvplan
