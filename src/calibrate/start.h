// SPDX-License-Identifier: Apache-2.0
// Where the fit of a law begins: the fastest rows say what bandwidth, arithmetic and floor must be
// near; the rest starts where devices usually are.
#pragma once
#include <vector>

#include "calibrate/classes.h"
#include "cost/laws.h"

namespace kvplan {

template <class L>
struct StartOf;

// `of` gives one start or several that lead to different minima.
template <>
struct StartOf<GemmLaw> {
  using Shape = GemmShape;
  static std::vector<GemmLaw> of(const MeasuredRows&);
};
template <>
struct StartOf<DecodeAttentionLaw> {
  using Shape = DecodeAttentionShape;
  static std::vector<DecodeAttentionLaw> of(const MeasuredRows&);
};
template <>
struct StartOf<PrefillAttentionLaw> {
  using Shape = PrefillAttentionShape;
  static std::vector<PrefillAttentionLaw> of(const MeasuredRows&);
};
template <>
struct StartOf<LatentLaw> {
  using Shape = LatentDecodeShape;
  static std::vector<LatentLaw> of(const MeasuredRows&);
};
template <>
struct StartOf<MoeLaw> {
  using Shape = MoeShape;
  static std::vector<MoeLaw> of(const MeasuredRows&);
};
template <>
struct StartOf<RecurrenceLaw> {
  using Shape = RecurrenceShape;
  static std::vector<RecurrenceLaw> of(const MeasuredRows&);
};
template <>
struct StartOf<SparseLatentLaw> {
  using Shape = SparseLatentShape;
  static std::vector<SparseLatentLaw> of(const MeasuredRows&);
};
template <>
struct StartOf<CollectiveLaw> {
  using Shape = CollectiveShape;
  static std::vector<CollectiveLaw> of(const MeasuredRows&);
};

}  // namespace kvplan
