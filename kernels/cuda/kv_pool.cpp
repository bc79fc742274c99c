// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/kv_pool.h"

namespace kvplan {

HeadRows::HeadRows(Gpu& gpu, const std::byte* slot, const KvPool& pool, const PagedCache& cache,
                   std::int64_t sequence, std::int64_t head, std::int64_t tokens)
    : format_(pool.format),
      row_bytes_(pool.row_bytes()),
      rows_(static_cast<std::size_t>(tokens * row_bytes_)),
      scales_(static_cast<std::size_t>(tokens * pool.format->head_bytes)) {
  const std::int64_t scale = format_->head_bytes;
  for (std::int64_t token = 0; token < tokens;) {
    const std::int64_t count = std::min(tokens - token, cache.run_of(token));
    const std::int64_t row = cache.row(sequence, head, token);
    gpu.download(std::span(rows_).subspan(token * row_bytes_, count * row_bytes_),
                 slot + pool.offset + row * row_bytes_);
    if (scale)
      gpu.download(std::span(scales_).subspan(token * scale, count * scale),
                   slot + pool.scales_at(cache) + row * scale);
    token += count;
  }
}

RowReader HeadRows::reader() const {
  return [this](std::int64_t token, std::span<double> row) {
    decode_row(*format_, rows_.data() + token * row_bytes_,
               scales_.data() + token * format_->head_bytes, row);
  };
}

}  // namespace kvplan
