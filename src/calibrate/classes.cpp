// SPDX-License-Identifier: Apache-2.0
#include "calibrate/classes.h"

namespace kvplan {
namespace {

const Format* format_of(const Shape& shape) {
  struct Visitor {
    const Format* operator()(const GemmShape& s) const { return s.weights; }
    const Format* operator()(const DecodeAttentionShape& s) const { return s.key; }
    const Format* operator()(const PrefillAttentionShape& s) const { return s.cache; }
    const Format* operator()(const LatentDecodeShape& s) const { return s.latent_format; }
    const Format* operator()(const MoeShape& s) const { return s.weights; }
    const Format* operator()(const RecurrenceShape& s) const { return s.state; }
    const Format* operator()(const SparseLatentShape& s) const { return s.weights; }
    const Format* operator()(const CollectiveShape&) const { return nullptr; }
  };
  return std::visit(Visitor{}, shape);
}

}  // namespace

std::vector<Class> classes_of(const Measured& row) {
  const Format* format = format_of(row.shape);
  Class c{class_of(row.shape), format ? std::string(format->name) : std::string(), row.variant};
  std::vector<Class> all{c};
  if (c.op != OperatorClass::weight_stream) return all;
  c.op = OperatorClass::gemm;
  all.push_back(std::move(c));
  return all;
}

std::map<Class, MeasuredRows> by_class(const std::vector<Measured>& measured) {
  std::map<Class, MeasuredRows> groups;
  for (const Measured& row : measured)
    for (const Class& c : classes_of(row)) groups[c].push_back(&row);
  return groups;
}

}  // namespace kvplan
