// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <string>

#include "catalog/node.h"

namespace kvplan {

// An ordinary file, open for reading. Throws Error (with path) for what is none, such as a folder,
// a pipe that nobody writes to or a device without an end; with the system's reason where it fails.
std::ifstream open_file(const std::string& path);
// The same for a binary file of weights. Throws Error for what is often found in its place: a
// pointer of Git LFS, a web page, a model in a format older than GGUF.
std::ifstream open_weights(const std::string& path);
// A whole file; throws Error (with path) when it cannot be read or is larger than 64 MiB.
std::string read_text_file(const std::string& path);
// A file as a tree, by its extension: .json, else YAML. Throws Error with path and line.
Node read_tree(const std::string& path);

}  // namespace kvplan
