// SPDX-License-Identifier: Apache-2.0
// Models split over several files (llama.cpp's gguf-split): "name-00002-of-00005.gguf".
#pragma once
#include <string>

#include "catalog/gguf/file.h"

namespace kvplan {

// The metadata of the first part and the tensors of all. `path` may name any part, or a file that
// is whole. Error where a part is missing or belongs to another model.
GgufFile read_split_gguf(const std::string& path);

}  // namespace kvplan
