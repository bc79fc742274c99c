// SPDX-License-Identifier: Apache-2.0
// Shapes of the models whose start-up logs are reproduced. Widths and layer counts are those of the
// published configurations; weights are left out.
#pragma once
#include <string_view>

#include "model/cache.h"
#include "model/spec.h"

namespace kvplan::test {

// A name of tests/truth/engine_vllm.yaml; throws Error where there is none.
ModelSpec shape_named(std::string_view name);

ModelSpec dense(int layers, std::int64_t kv_heads, std::int64_t width);
// Five sliding layers to one global one.
ModelSpec gemma4(int blocks, std::int64_t kv_heads, std::int64_t global_kv_heads);
Layer attention_layer(std::int64_t kv_heads, std::int64_t k_width, std::int64_t v_width,
                      Reach reach = All{});
Layer latent_layer(std::int64_t heads);
void add(ModelSpec&, const Layer&, int times = 1);
ModelSpec with_draft(ModelSpec, const Layer&, int layers);

}  // namespace kvplan::test
