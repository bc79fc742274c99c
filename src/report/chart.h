// SPDX-License-Identifier: Apache-2.0
// A line chart as SVG that takes its colours from the page.
#pragma once
#include <string>

#include "report/document.h"

namespace kvplan {

// Empty where fewer than two points can be drawn. Both axes are logarithmic where all values are
// above zero and span more than a factor of eight.
std::string chart_svg(const Document&, const Table&, const Chart&);

}  // namespace kvplan
