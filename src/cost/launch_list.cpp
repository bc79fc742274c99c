// SPDX-License-Identifier: Apache-2.0
#include "cost/launch_list.h"

namespace kvplan {

void LaunchList::add(const Shape& shape, std::int64_t count) {
  for (Launch& known : found_.all)
    if (known.shape == shape) return void(known.count += count);
  if (count > 0) found_.all.push_back({shape, count});
}

void LaunchList::miss(std::string_view what) {
  if (found_.missing.empty()) found_.missing = what;
}

CollectiveShape gathered(std::int64_t ranks, std::int64_t numbers) {
  return {CollectiveShape::all_gather, ranks, Bytes(checked_mul(checked_mul(numbers, 2), ranks))};
}

bool is_module(const Layer& layer) {
  return layer.mixer.sparse && layer.mixer.sparse->ratio == 1 &&
         std::holds_alternative<Latent>(layer.mixer.kind);
}

}  // namespace kvplan
