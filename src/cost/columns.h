// SPDX-License-Identifier: Apache-2.0
// Shapes as named cells, as tables of measured times and profile files have them:
//   m,n,k,dtype · heads,kv_heads,head_dim,kv_dtype,batch,kv_len ·
//   heads,kv_heads,head_dim,kv_dtype,batch,q_len,past_len · heads,kv_dtype,batch,kv_len ·
//   dtype,tokens,hidden,inter,topk,experts,tp,ep · op,n_gpus,bytes · recurrence,state_dtype,batch,
//   tokens,k_heads,v_heads,k_width,v_width,channels,taps · parameters,dtype,kv_dtype,heads,
//   index_heads,chosen,batch,q_len,past_len
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/shape.h"

namespace kvplan {

using Cells = std::vector<std::pair<std::string_view, std::string>>;
Cells cells_of(const Shape&);

// The text in a column; nullptr where there is no such column.
using CellAt = std::function<const std::string*(std::string_view column)>;

// The operator is told by its columns. Empty: a format or a width that no law is fitted to. Throws
// Error where the columns belong to no operator, a cell is no number or a size does not fit.
std::optional<Shape> shape_from(const CellAt&);

// Whether the columns belong to an operator.
bool describes_shape(const CellAt&);
// Where they belong to none: what the operator that they come nearest to would need besides. Empty:
// they come near none.
std::vector<std::string_view> missing_columns(const CellAt&);
// Why `shape_from` is empty: "fp8_block", "head_dim 512".
std::string left_out_for(const CellAt&);

}  // namespace kvplan
