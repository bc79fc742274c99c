// SPDX-License-Identifier: Apache-2.0
// The devices of this machine.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"

namespace kvplan {

struct LocalBackend {
  std::unique_ptr<Backend> backend;
  std::vector<std::string> passed_over;  // "cuda: no NVIDIA driver, or too old"
};

// `kind` is auto (the first that is there), cpu or cuda; `device` picks one by a part of its name.
// Throws Error that lists what there is.
LocalBackend local_backend(std::string_view kind = "auto", std::string_view device = {});

}  // namespace kvplan
