// SPDX-License-Identifier: Apache-2.0
#include "calibrate/local.h"

#include <algorithm>
#include <cctype>

#include "error.h"

namespace kvplan {
namespace {

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool named(const DeviceSpec& spec, std::string_view part) {
  return part.empty() || part == "local" || spec.name.find(lower(part)) != std::string::npos ||
         lower(spec.title).find(lower(part)) != std::string::npos;
}

}  // namespace

LocalBackend local_backend(std::string_view kind, std::string_view device) {
  if (kind != "auto" && kind != "cpu" && kind != "cuda")
    throw Error("'" + std::string(kind) + "' is none of auto, cpu and cuda").of("--backend");
  LocalBackend local;
  std::string present, why_not;
  for (BackendChoice& choice : all_backends()) {
    if (kind != "auto" && choice.name != kind) continue;
    if (!choice.backend) {
      why_not = choice.why_not;
      local.passed_over.push_back(choice.name + ": " + why_not);
      continue;
    }
    const DeviceSpec spec = choice.backend->device();
    if (named(spec, device)) {
      local.backend = std::move(choice.backend);
      return local;
    }
    present += (present.empty() ? "" : ", ") + spec.name;
  }
  if (present.empty()) throw Error("is not here: " + why_not).of("--backend " + std::string(kind));
  throw Error("no device of this machine is called '" + std::string(device) + "'")
      .of("--device")
      .advise("There is " + present + ".");
}

}  // namespace kvplan
