// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"

namespace kvplan {

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::bandwidth:
      return "bandwidth";
    case Bound::compute:
      return "compute";
    case Bound::link:
      return "link";
    case Bound::host:
      return "host";
    case Bound::cache:
      return "cache";
  }
  return "";
}

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::exact:
      return "exact";
    case Basis::ceiling:
      return "ceiling";
    case Basis::calibrated:
      return "calibrated";
    case Basis::engine_rule:
      return "engine-rule";
    case Basis::published:
      return "published";
    case Basis::assumed:
      return "assumed";
  }
  return "";
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return "fp64";
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::bf16:
      return "bf16";
    case Precision::fp16:
      return "fp16";
    case Precision::fp8:
      return "fp8";
    case Precision::int8:
      return "int8";
    case Precision::fp4:
      return "fp4";
    case Precision::int4:
      return "int4";
  }
  return "";
}

}  // namespace kvplan
