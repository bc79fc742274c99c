// SPDX-License-Identifier: Apache-2.0
// A GGUF file, or a set of files split from one (-00001-of-0000N.gguf): any of them names all.
#pragma once
#include <map>
#include <string>

#include "catalog/node.h"
#include "catalog/tensors.h"
#include "model/spec.h"

namespace kvplan {

// Whether this name is that of a whole file or of the first part of a split one.
bool is_first_gguf(const std::string& path);
// Mixers from the metadata, weights from the tensor table. Throws Error on a damaged file, on an
// architecture whose keys kv-plan does not all understand, and on a file that is no decoder.
ModelSpec read_gguf(const std::string& path);
// Mixers from metadata as text, key → value; arrays as "arr[i32,4]=[1, 2, 3, 4]". No weights.
ModelSpec read_gguf_listing(const std::map<std::string, std::string>& keys);
// The same from a file that has been parsed.
struct GgufFile;
ModelSpec model_of(GgufFile, const std::string& path);
TensorTable read_gguf_tensors(const std::string& path);

// The metadata that a catalog entry keeps, and the model without weights that it describes.
Node gguf_keys_that_count(const std::string& path);
ModelSpec read_gguf_keys(const Node& keys);

}  // namespace kvplan
