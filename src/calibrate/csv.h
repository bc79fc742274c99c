// SPDX-License-Identifier: Apache-2.0
// Tables of times that were measured elsewhere; the header says of what. Columns (times in µs):
//   m,n,k,dtype · heads,kv_heads,head_dim,kv_dtype,batch,kv_len ·
//   heads,kv_heads,head_dim,dtype,kv_dtype,batch,q_len,past_len · heads,kv_dtype,batch,kv_len ·
//   dtype,tokens,hidden,inter,topk,experts,tp,ep · op,n_gpus,bytes[,gpu,engine,backend]
#pragma once
#include <istream>
#include <string>
#include <vector>

#include "cost/measured.h"

namespace kvplan {

struct MeasuredTable {
  std::vector<Measured> rows;
  std::size_t left_out = 0;  // rows of formats, widths or devices that no law is fitted to
};

// `device` picks the rows of a table that has several. Throws Error with the line.
MeasuredTable read_measured(std::istream&, const std::string& file, const std::string& device);
MeasuredTable read_measured(const std::string& file, const std::string& device);

}  // namespace kvplan
