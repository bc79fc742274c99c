// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/device.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/team.h"

namespace kvplan {
namespace {

// "MemTotal:  24083876 kB", "model name : AMD EPYC" → what follows the colon.
std::optional<std::string> field(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, name.size(), name) != 0) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    if (start == std::string::npos) continue;
    return line.substr(start);
  }
  return std::nullopt;
}

std::optional<std::string> first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

// "32768K", "24083876 kB", "max".
std::optional<Bytes> size_in(const std::string& text) {
  std::istringstream in(text);
  std::int64_t number = 0;
  char unit = ' ';
  if (!(in >> number) || number < 0) return std::nullopt;
  in >> unit;
  const std::int64_t factor = std::tolower(unit) == 'k'   ? kKiB
                              : std::tolower(unit) == 'm' ? kMiB
                                                          : 1;
  return Bytes(checked_mul(number, factor));
}

// Sum over the distinct level-3 caches of the CPUs that this process may use.
std::optional<Bytes> last_level_cache() {
  std::set<std::string> seen;
  Bytes total;
  for (const int cpu : usable_cpus()) {
    const std::filesystem::path cache =
        "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index3";
    const auto sharers = first_line(cache / "shared_cpu_list"), size = first_line(cache / "size");
    if (!sharers || !size || !seen.insert(*sharers).second) continue;
    if (const auto bytes = size_in(*size)) total += *bytes;
  }
  return total.n > 0 ? std::optional<Bytes>(total) : std::nullopt;
}

// Sockets of the CPUs that this process may use; 1 where the system does not tell.
std::size_t sockets() {
  std::set<std::string> seen;
  for (const int cpu : usable_cpus())
    if (const auto package = first_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                        "/topology/physical_package_id"))
      seen.insert(*package);
  return std::max<std::size_t>(seen.size(), 1);
}

// "AMD EPYC 9754 128-Core Processor" → "amd-epyc-9754-128-core-processor".
std::string canonical(const std::string& title) {
  std::string name;
  for (const char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "cpu" : name;
}

}  // namespace

std::optional<Bytes> available_memory() {
  std::optional<Bytes> available;
  if (const auto text = field("/proc/meminfo", "MemAvailable")) available = size_in(*text);
  const auto limit = first_line("/sys/fs/cgroup/memory.max");
  const auto used = first_line("/sys/fs/cgroup/memory.current");
  if (limit && used)
    if (const auto most = size_in(*limit), now = size_in(*used); most && now && *most >= *now)
      available = std::min(available.value_or(*most), *most - *now);
  return available;
}

DeviceSpec local_cpu() {
  DeviceSpec spec;
  spec.title = field("/proc/cpuinfo", "model name").value_or("CPU");
  if (const std::size_t count = sockets(); count > 1)
    spec.title = std::to_string(count) + " x " + spec.title;
  spec.name = canonical(spec.title);
  spec.vendor = field("/proc/cpuinfo", "vendor_id").value_or("");
  spec.kind = "cpu";
  spec.architecture = name_of(best_isa());
  spec.processors = static_cast<std::int64_t>(usable_cpus().size());
  if (const auto text = field("/proc/meminfo", "MemTotal"))
    if (const auto total = size_in(*text)) {
      spec.memory = {*total, "/proc/meminfo"};
      spec.memory_marketed = spec.memory;
    }
  if (const auto text = first_line("/sys/fs/cgroup/memory.max"))  // of a container
    if (const auto limit = size_in(*text); limit && *limit < spec.memory.value)
      spec.memory = {*limit, "/sys/fs/cgroup/memory.max"};
  if (const auto cache = last_level_cache())
    spec.last_level_cache = Fact<Bytes>{*cache, "/sys/devices/system/cpu"};
  return spec;
}

}  // namespace kvplan
