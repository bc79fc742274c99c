// SPDX-License-Identifier: Apache-2.0
#include "cli/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/device_words.h"
#include "cli/host.h"
#include "cli/local.h"
#include "cli/profiles.h"
#include "engine/command_line.h"
#include "engine/llamacpp/placement.h"
#include "report/numbers.h"
#include "report/value.h"

namespace kvplan {
namespace {

void refuse(const Request& request) {
  const std::pair<bool, const char*> asked[] = {
      {request.gpus || request.tp || request.pp || request.dp || request.ep || request.dcp,
       "--gpus, --tp and their like"},
      {request.kv_pool.has_value(), "--kv-pool"}};
  for (const auto& [given, option] : asked)
    if (given)
      throw Error("does not go with the parts of one machine")
          .of(option)
          .advise("Leave it out; GPUs of the machine are named one by one, as in 2xrtx-3090.");
}

DeviceSpec some_gpu() {
  DeviceSpec gpu;
  gpu.name = "GPU";
  gpu.title = "a GPU";
  return gpu;
}

DeviceSpec host_named(const Catalog& catalog, const std::string& name) {
  DeviceSpec host = is_local(name) ? local_host(catalog) : catalog.device(name);
  if (host.kind == "cpu") return host;
  throw Error(host.title + " is no host")
      .of("--host")
      .advise(
          "Name a CPU with its memory, such as ryzen-9950x, epyc-9654 or desktop-ddr5-5600; or "
          "local.");
}

// As devices_named() has them, and this machine.
std::vector<DeviceSpec> devices_typed(const Catalog& catalog, const std::string& typed,
                                      std::vector<std::string>& notes) {
  std::vector<DeviceSpec> devices;
  for (const std::string& word : device_words(catalog, typed)) {
    const auto named = is_local(word) ? std::vector{device_named(catalog, word)}
                                      : devices_named(catalog, word, &notes);
    devices.insert(devices.end(), named.begin(), named.end());
  }
  return devices;
}

// A CPU among the devices is the host, as if --host named it.
Machine machine_of(const Request& request, const Catalog& catalog,
                   std::vector<std::string>& notes) {
  Machine machine;
  if (request.host) machine.host = host_named(catalog, *request.host);
  if (!request.device) machine.gpus = {some_gpu()};
  for (DeviceSpec& device : request.device ? devices_typed(catalog, *request.device, notes)
                                           : std::vector<DeviceSpec>()) {
    if (device.kind == "soc" && request.host)
      throw Error("the memory of " + device.title + " is its host's")
          .of("--host")
          .advise("Leave it out.");
    if (device.kind == "cpu") {
      if (machine.host)
        throw Error("a machine has one host").of(request.host ? "--host" : "DEVICE");
      machine.host = std::move(device);
      continue;
    }
    if (request.bandwidth) device.bandwidth = {*request.bandwidth, "--bandwidth", false};
    machine.gpus.push_back(std::move(device));
  }
  return machine;
}

}  // namespace

std::string title_of(const Machine& machine) {
  std::string title;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const bool first = g == 0 || machine.gpus[g].name != machine.gpus[g - 1].name;
    if (!first) continue;
    std::size_t equal = 1;
    while (g + equal < machine.gpus.size() && machine.gpus[g + equal].name == machine.gpus[g].name)
      ++equal;
    title += fmt::format("{}{}{}", title.empty() ? "" : " + ",
                         equal > 1 ? fmt::format("{} x ", equal) : "", machine.gpus[g].title);
  }
  if (machine.host) title += fmt::format("{}{}", title.empty() ? "" : " + ", machine.host->title);
  return title;
}

Question question_on_parts(const Request& request, const Catalog& catalog) {
  refuse(request);
  Question q;
  std::vector<std::string> notes;
  q.machine = machine_of(request, catalog, notes);
  q.r = resolve(request, catalog, request.model, "", "llama.cpp");
  choose_profiles(request, catalog, q.machine, q.r);
  const std::string& engine = q.r.setup.engine.name;
  if (engine != "llama.cpp" && engine != "ollama")
    throw Error(engine + " does not spread a model over unequal parts")
        .of("--engine")
        .advise("llama.cpp and ollama do; leave --host out for others.");
  for (const std::string& note : notes) q.r.warnings.push_back({"device-family", note});
  std::erase_if(q.r.assumptions, [](const Assumption& a) { return a.what == "--gpus"; });
  if (request.host && is_local(*request.host))
    q.r.assumptions.push_back(about_host(*q.machine.host));
  const bool sized = q.machine.host && q.machine.host->name.ends_with("gb");  // "-64gb"
  if (q.machine.host && q.machine.host->memory.unverified && !sized)
    q.r.assumptions.push_back({"--host", shown(value(q.machine.host->memory.value)) + " of memory",
                               Basis::assumed, q.machine.host->memory.source});
  return q;
}

bool takes_parts(Command command) {
  for (const Command c :
       {Command::plan, Command::kv, Command::decode, Command::prefill, Command::report})
    if (command == c) return true;
  return false;
}

bool is_on_parts(const Request& request, const Catalog& catalog) {
  if (!takes_parts(request.command)) return false;
  if (request.host) return true;
  EngineOptions options;
  for (const auto& [key, setting] : request.set) options.settings[key] = setting;
  if (request.engine_command)
    options = parse_command(*request.engine_command, catalog.engines()).options;
  if (llamacpp::splits(options)) return true;
  return request.device && device_words(catalog, *request.device).size() > 1;
}

}  // namespace kvplan
