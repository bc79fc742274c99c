// SPDX-License-Identifier: Apache-2.0
#include "report/version.h"

namespace kvplan {

std::string_view version() { return KVPLAN_VERSION; }

}  // namespace kvplan
