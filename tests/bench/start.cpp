// SPDX-License-Identifier: Apache-2.0
// A program's start, run as a shell would: wall time and peak memory, median of several.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "bench/bench.h"

extern char** environ;

namespace kvplan::bench {
namespace {

struct Started {
  double seconds, mebibytes;
};

Started run_once(const std::vector<const char*>& words) {
  std::vector<char*> argv;
  for (const char* w : words) argv.push_back(const_cast<char*>(w));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &quiet, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  if (failed) throw std::runtime_error(std::string(argv[0]) + " does not start");
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {seconds, static_cast<double>(usage.ru_maxrss) / 1024};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

// Interleaved, so that a busy machine slows both.
std::vector<Result> start(const char* binary) {
  constexpr int kRounds = 21;
  std::vector<double> seconds, memory, share;
  for (int i = 0; i < kRounds; ++i) {
    const Started plan = run_once({binary, "plan", "llama-3.1-8b", "rtx-4090"});
    const Started python = run_once({"python3", "-I", "-S", "-c", ""});
    seconds.push_back(plan.seconds);
    memory.push_back(plan.mebibytes);
    share.push_back(plan.seconds / python.seconds);
  }
  return {{"plan, cold", median(seconds) * 1e3, 10, "ms"},
          {"plan, peak memory", median(memory), 20, "MiB"},
          {"plan, of starting python3", median(share), 0.8, "x"}};
}

}  // namespace kvplan::bench
