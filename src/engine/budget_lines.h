// SPDX-License-Identifier: Apache-2.0
// Lines of a budget: amounts with the interval that they are known to.
#pragma once
#include <initializer_list>

#include "engine/engine.h"

namespace kvplan {

BudgetLine exact_line(Bytes, std::string_view source = {});
BudgetLine line_between(Bytes low, Bytes value, Bytes high, Basis, std::string_view source);
// What `available` leaves after `taken`; the least where everything takes its most. Its basis is
// the weakest of theirs.
BudgetLine left_after(const BudgetLine& available, std::initializer_list<BudgetLine> taken);
// `pool` replaced by what --kv-pool says, where it says anything.
Budget with_pool(Budget, const EngineOptions&);

}  // namespace kvplan
