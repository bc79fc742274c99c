// SPDX-License-Identifier: Apache-2.0
#include "report/replication.h"

namespace kvplan {

std::string_view name_of(Crossing::Kind kind) {
  switch (kind) {
    case Crossing::all_reduce:
      return "all-reduce";
    case Crossing::all_to_all:
      return "all-to-all";
    case Crossing::stage:
      return "to the next stage";
  }
  return "";
}

std::string_view name_of(Transfer::Path path) {
  switch (path) {
    case Transfer::peer:
      return "to another GPU";
    case Transfer::host:
      return "to host memory";
    case Transfer::recompute:
      return "computed again";
  }
  return "";
}

}  // namespace kvplan
