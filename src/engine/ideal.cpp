// SPDX-License-Identifier: Apache-2.0
#include "engine/ideal.h"

#include <algorithm>

#include "cost/rank.h"
#include "engine/budget_lines.h"
#include "engine/stages.h"
#include "search.h"

namespace kvplan {
namespace {

class Ideal final : public Engine {
 public:
  Ideal(const EngineOptions& options, const ModelSpec& model, const Deployment& deployment)
      : options_(options),
        parallel_(deployment.parallel),
        source_tokens_(deployment.source_tokens),
        weights_(resident_on_fullest_gpu(model, deployment.parallel)),
        stages_(groups_of_stages(model, deployment)) {}

  Budget budget(const DeviceSpec& device) const override {
    Budget b;
    b.memory = device.memory.value;
    b.reserved = exact_line(options_.reserve.value_or(Bytes(0)), "--reserve");
    b.weights = exact_line(weights_);
    b.kv_pool = left_after(exact_line(b.memory), {b.reserved, b.weights});
    return with_pool(b, options_);
  }

  Capacity capacity(Bytes pool, Tokens max_model_len) const override {
    Capacity c;
    const Bytes request = reserved(max_model_len, 1);
    if (request.n == 0) return c;
    c.max_concurrency = pool.real() / request.real();
    const auto longest = largest(1, std::max<std::int64_t>(max_model_len.n, 1),
                                 [&](std::int64_t n) { return reserved(Tokens(n), 1) <= pool; });
    if (longest) c.max_context = Tokens(*longest);
    return c;
  }

  Bytes reserved(Tokens context, std::int64_t batch) const override {
    return fullest(stages_, [&](const auto& groups) { return held(groups, context); }) * batch;
  }

  Bytes reserved_total(Tokens context, std::int64_t batch) const override {
    return over_stages(stages_, [&](const auto& groups) { return held(groups, context); }) *
           checked_mul(batch, parallel_.tp);
  }

 private:
  Bytes held(const std::vector<CacheGroup>& groups, Tokens context) const {
    Bytes sum;
    for (const CacheGroup& group : groups)
      sum += stored_bytes(group, context, source_tokens_, {parallel_.tp, parallel_.dcp});
    return sum;
  }

  EngineOptions options_;
  Parallelism parallel_;
  Tokens source_tokens_;
  Bytes weights_;
  std::vector<std::vector<CacheGroup>> stages_;
};

}  // namespace

std::unique_ptr<Engine> make_ideal(const EngineOptions& options, const ModelSpec& model,
                                   const Deployment& deployment) {
  return std::make_unique<Ideal>(options, model, deployment);
}

}  // namespace kvplan
