// SPDX-License-Identifier: Apache-2.0
#include "catalog/tensors.h"

#include <algorithm>
#include <tuple>

namespace kvplan {
namespace {

std::optional<Role> role_of(const Tensor& t) {
  return t.place.role ? std::optional(t.place.role->role) : std::nullopt;
}

TensorPlace::Section section_of(const Tensor& t, const TensorTable& table) {
  const bool beyond = table.main_layers && t.place.layer.value_or(0) >= *table.main_layers;
  return t.place.section == TensorPlace::main && beyond ? TensorPlace::mtp : t.place.section;
}

auto order(const TensorGroup& g) {
  return std::tuple(g.section, !g.role.has_value(), g.role, -g.bytes.n, g.format->name);
}

}  // namespace

Bytes TensorTable::bytes() const {
  Bytes sum;
  for (const Tensor& t : tensors) sum += t.bytes;
  return sum;
}

std::int64_t TensorTable::parameters() const {
  std::int64_t sum = 0;
  for (const Tensor& t : tensors) sum = checked_add(sum, t.parameters);
  return sum;
}

std::vector<TensorGroup> group_tensors(const TensorTable& table) {
  std::vector<TensorGroup> groups;
  for (const Tensor& t : table.tensors) {
    const auto role = role_of(t);
    const auto section = section_of(t, table);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const TensorGroup& g) {
      return g.section == section && g.role == role && g.format == t.format;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), {section, role, t.format, 0, 0, 0, {}});
    ++group->tensors;
    group->parameters = checked_add(group->parameters, t.parameters);
    group->stored_elements = checked_add(group->stored_elements, t.stored_elements);
    group->bytes += t.bytes;
  }
  std::sort(groups.begin(), groups.end(),
            [](const TensorGroup& a, const TensorGroup& b) { return order(a) < order(b); });
  return groups;
}

}  // namespace kvplan
