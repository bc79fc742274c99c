// SPDX-License-Identifier: Apache-2.0
// A folder of its own for a test's files, gone with it.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace kvplan::testing {

class Scratch {
 public:
  Scratch() {
    static int number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("kv-plan-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string folder() const { return folder_.string(); }
  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  // `data_bytes` more are added without being written: a hole that reads as zeros.
  std::string write(std::string_view name, std::string_view text,
                    std::uint64_t data_bytes = 0) const {
    std::ofstream(path(name), std::ios::binary) << text;
    if (data_bytes > 0) std::filesystem::resize_file(path(name), text.size() + data_bytes);
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace kvplan::testing
