// SPDX-License-Identifier: Apache-2.0
// Several lambdas as one visitor of a std::variant.
#pragma once

namespace kvplan {

template <class... Visitors>
struct Overload : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overload(Visitors...) -> Overload<Visitors...>;

}  // namespace kvplan
