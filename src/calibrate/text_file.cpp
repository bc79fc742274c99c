// SPDX-License-Identifier: Apache-2.0
#include "calibrate/text_file.h"

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "error.h"

namespace kvplan {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // a few kB can unfold to gigabytes

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};

}  // namespace

// zlib passes on a file that is not compressed as it is.
std::string read_maybe_compressed(const std::string& path) {
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) throw Error(std::string("cannot be read: ") + std::strerror(errno)).in(path);
  std::string text;
  std::array<char, 1 << 16> part;
  for (;;) {
    const int got = gzread(file.get(), part.data(), part.size());
    int status = Z_OK;
    const char* why = gzerror(file.get(), &status);
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
      throw Error(std::string("cannot be read: ") +
                  (status == Z_ERRNO ? std::strerror(errno) : why))
          .in(path);
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) throw Error("holds more than 256 MiB").in(path);
    if (got == 0) return text;
  }
}

}  // namespace kvplan
