// SPDX-License-Identifier: Apache-2.0
// "gqa": the same model with other attentions.
#pragma once
#include "plan/attention.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<AttentionRow> = std::tuple{
    field("variant", &AttentionRow::variant, "attention"),
    field("variant_kind", &AttentionRow::variant_kind),
    field("original", &AttentionRow::original, "this model"),
    field("kv_heads", &AttentionRow::kv_heads),
    field("context", &AttentionRow::context, "context"),
    field("batch", &AttentionRow::batch, "batch"),
    field("elements_per_token_per_layer", &AttentionRow::elements_per_token_per_layer),
    field("bytes_per_token", &AttentionRow::bytes_per_token, "per token").as(Show::bytes),
    field("kv_bytes", &AttentionRow::kv_bytes, "KV cache"),
    field("relative_to_mha", &AttentionRow::relative_to_mha, "of MHA").as(Show::percent),
    field("kv_projection_parameters_per_layer", &AttentionRow::kv_projection_parameters_per_layer,
          "K+V weights per layer"),
    field("replication", &AttentionRow::replication, "copies").as(Show::ratio).where_it_varies(),
    field("ceiling_tokens_per_second", &AttentionRow::ceiling_tokens_per_second, "tok/s at most")
        .as(Show::tokens_per_second)
        .where_it_varies(),
    field("max_batch", &AttentionRow::max_batch, "users that fit").where_it_varies()};

}  // namespace kvplan
