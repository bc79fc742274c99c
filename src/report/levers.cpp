// SPDX-License-Identifier: Apache-2.0
#include "report/levers.h"

namespace kvplan {

std::string_view name_of(Lever::Kind kind) {
  switch (kind) {
    case Lever::change:
      return "change";
    case Lever::in_place:
      return "in-place";
    case Lever::model:
      return "model";
  }
  return "";
}

}  // namespace kvplan
