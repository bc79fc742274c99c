// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/command_line.h"
#include "plan/room.h"
#include "report/value.h"
#include "search.h"

namespace kvplan {
namespace {

bool is_llama_cpp(const Resolved& r) {
  return r.setup.engine.name == "llama.cpp" || r.setup.engine.name == "ollama";
}

// An engine of the llama.cpp family is told the cache's size, any other the longest request.
Serve served(const Resolved& r, const PlanFacts& f) {
  Serve serve{r.served, f.longest, f.asked ? f.asked->batch : 1};
  if (is_llama_cpp(r) && f.asked) serve.context = std::max(f.asked->context, Tokens(1));
  if (r.setup.model.recipe == "fp8" && !is_llama_cpp(r)) serve.quantization = "fp8";
  return serve;
}

}  // namespace

void add_command(Document& document, Object& plan, const Resolved& r, const PlanFacts& f) {
  if (!f.sizing.fits && is_llama_cpp(r) && r.setup.device->kind == "gpu")
    document.closing.push_back(
        "The rest can stay in host memory: name the CPU, as in --host ryzen-9950x-64gb.");
  if (!f.sizing.fits) return;
  const std::string line = command_line(r.setup.engine, r.setup.deployment, served(r, f));
  if (line.empty()) return;
  plan.emplace_back("command_line", value(line));
  document.closing.push_back("Run it: " + line);
  const Parallelism& p = r.setup.deployment.parallel;
  if (p.dp > 1 && p.ep == 1 && r.setup.engine.name == "trtllm")
    document.closing.push_back(
        fmt::format("Start {} of them: its replicas know nothing of each "
                    "other.",
                    p.dp));
  const std::string recipe = r.setup.model.recipe;
  if (recipe != "config" && recipe != "fp8" && !is_llama_cpp(r))
    document.closing.push_back("Put a checkpoint in " + recipe +
                               " in its place: the engine does not make one while it loads.");
}

void choose_length(Resolved& r, PlanFacts& f) {
  const std::string& engine = r.setup.engine.name;
  const auto asked = r.setup.engine.max_model_len;
  const Tokens wanted = asked.value_or(r.longest());
  f.longest = std::min(
      f.sizing.capacity.max_context.value_or(f.sizing.max_context.value_or(wanted)), wanted);
  if (is_llama_cpp(r) || engine == "ideal" || !f.sizing.fits || f.longest >= wanted) return;
  if (asked && engine != "vllm") return;  // others shorten what was asked of them
  f.starts = !asked;
  f.refused_length = wanted;
  Setup here = r.setup;
  const auto longest = largest(1, wanted.n, [&](std::int64_t n) {
    here.engine.max_model_len = Tokens(n);
    const Room room(here);
    const Bytes pool = std::max(room.pool(), Bytes(0));
    return room.engine().capacity(pool, Tokens(n)).max_context.value_or(Tokens(0)) >= Tokens(n);
  });
  if (longest) r.setup.engine.max_model_len = f.longest = Tokens(*longest);
}

}  // namespace kvplan
