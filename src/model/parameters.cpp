// SPDX-License-Identifier: Apache-2.0
#include "model/parameters.h"

#include <algorithm>
#include <array>
#include <map>

namespace kvplan {
namespace {

// Elements of the separate scale tensors of one weight, all copies.
std::int64_t scale_elements(const Weight& w) {
  if (!w.format || !w.is_matrix) return 0;
  return checked_mul(scale_count(*w.format, w.rows, w.columns), w.copies);
}

std::int64_t parameters_of(const Weight& w) { return w.is_auxiliary ? 0 : w.elements(); }

std::int64_t read_elements(const Weight& w) {
  return checked_mul(checked_mul(w.rows, w.columns), w.active);
}

void add(std::int64_t& sum, std::int64_t n) { sum = checked_add(sum, n); }

// Counts one weight of the main model.
void count(Parameters& p, const Weight& w) {
  if (w.is_auxiliary) return add(p.scales, w.elements());
  const std::int64_t n = w.elements();
  add(p.total, n);
  add(p.scales, scale_elements(w));
  switch (w.role) {
    case Role::embedding:
    case Role::head:
      add(p.embedding, n);
      break;
    case Role::attention:
    case Role::state:
      add(p.attention, n);
      break;
    case Role::mlp:
      add(p.mlp, n);
      break;
    case Role::router:
    case Role::routed_expert:
    case Role::shared_expert:
      add(p.experts, n);
      break;
    case Role::norm:
      add(p.norms, n);
      break;
    case Role::vision:
      add(p.vision, n);
      break;
  }
  if (w.role != Role::vision && w.role != Role::embedding) add(p.active, read_elements(w));
}

template <class Visit>
void for_each_weight(const ModelSpec& model, bool with_mtp, Visit visit) {
  for (const Layer& layer : model.layers)
    if (layer.role != Layer::mtp || with_mtp)
      for (const Weight& w : layer.weights) visit(w);
  for (const Weight& w : model.ends) visit(w);
  for (const Weight& w : model.vision) visit(w);
}

}  // namespace

Parameters count_parameters(const ModelSpec& model) {
  Parameters p;
  for_each_weight(model, false, [&](const Weight& w) {
    if (model.vision_apart && w.role == Role::vision)
      add(p.encoders_apart, parameters_of(w));
    else
      count(p, w);
  });
  for (const Layer& layer : model.layers)
    if (layer.role == Layer::mtp)
      for (const Weight& w : layer.weights) add(p.mtp, parameters_of(w));
  if (model.tied_head)  // the token table, first of its role, multiplies as the head
    for (const Weight& w : model.ends)
      if (w.role == Role::embedding) {
        add(p.active, w.elements());
        if (model.head_once_more) add(p.stored_copies, w.elements());
        break;
      }
  return p;
}

std::vector<RoleBytes> weights_by_role(const ModelSpec& model) {
  constexpr std::array kOrder = {
      Role::embedding,     Role::attention,     Role::state, Role::mlp,  Role::router,
      Role::routed_expert, Role::shared_expert, Role::norm,  Role::head, Role::vision};
  std::vector<RoleBytes> rows;
  for (const Role role : kOrder) {
    RoleBytes row{role, 0, nullptr, false, Bytes(0)};
    struct Share {
      const Format* format = nullptr;
      std::int64_t parameters = 0;
    };
    std::map<std::string_view, Share> by_format;
    for_each_weight(model, false, [&](const Weight& w) {
      if (w.role != role) return;
      row.bytes += stored_bytes(*w.format, w.rows, w.columns) * w.copies;
      add(row.parameters, parameters_of(w));
      Share& share = by_format[w.format->name];
      share.format = w.format;
      add(share.parameters, parameters_of(w));
    });
    if (by_format.empty()) continue;
    const auto most = std::max_element(
        by_format.begin(), by_format.end(),
        [](const auto& a, const auto& b) { return a.second.parameters < b.second.parameters; });
    row.format = most->second.format;
    row.mixed = std::count_if(by_format.begin(), by_format.end(),
                              [](const auto& f) { return f.second.parameters > 0; }) > 1;
    rows.push_back(row);
  }
  return rows;
}

Bytes resident_weights(const ModelSpec& model, bool with_mtp) {
  Bytes sum;
  for_each_weight(model, with_mtp, [&](const Weight& w) {
    sum += stored_bytes(*w.format, w.rows, w.columns) * w.copies;
  });
  return sum;
}

}  // namespace kvplan
