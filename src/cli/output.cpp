// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "error.h"

namespace kvplan {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, OutputFormat>, 6> kFormats = {{
    {"table", OutputFormat::table},
    {"json", OutputFormat::json},
    {"csv", OutputFormat::csv},
    {"markdown", OutputFormat::markdown},
    {"md", OutputFormat::markdown},
    {"html", OutputFormat::html},
}};

std::optional<OutputFormat> find_format_named(std::string_view name) {
  for (const auto& [known, format] : kFormats)
    if (known == name) return format;
  return std::nullopt;
}

// Mode of a file that replaces `target`: its own, or what the user's mask leaves of a new one.
mode_t mode_for(const std::string& target) {
  struct stat old {};
  if (stat(target.c_str(), &old) == 0) return old.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Where a chain of links ends, whether or not a file is there; empty where it does not end.
std::string followed(fs::path path) {
  std::error_code problem;
  for (int links = 0; links < 40; ++links) {
    if (!fs::is_symlink(fs::symlink_status(path, problem))) return path.string();
    path = path.parent_path() / fs::read_symlink(path, problem);
  }
  return {};
}

}  // namespace

OutputFormat output_format_of(std::string_view name) {
  if (const std::optional<OutputFormat> format = find_format_named(name)) return *format;
  throw Error("\"" + std::string(name.substr(0, 60)) + "\" is not a format")
      .advise("Use table, json, csv, markdown or html.");
}

std::optional<OutputFormat> format_of_path(std::string_view path) {
  const std::string extension = fs::path(path).extension().string();
  if (extension.empty() || extension == ".table") return std::nullopt;
  return find_format_named(std::string_view(extension).substr(1));
}

void Output::fail(const std::string& what) const {
  throw Error(what).in(path_.empty() ? "stdout" : path_);
}

Output::Output(const std::optional<std::string>& path) {
  if (!path || *path == "-") {
    file_ = stdout;
    return;
  }
  path_ = *path;
  std::error_code problem;
  const fs::file_status status = fs::status(path_, problem);
  if (fs::is_directory(status) || path_.ends_with('/')) fail("is a folder, not a file");
  if (fs::exists(status) && access(path_.c_str(), W_OK) != 0)
    fail(std::string("cannot be written: ") + std::strerror(errno));
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    file_ = std::fopen(path_.c_str(), "wb");
    if (!file_) fail(std::string("cannot be written: ") + std::strerror(errno));
    return;
  }
  target_ = followed(path_);
  if (target_.empty()) fail("is a link that leads nowhere");
  beside_ = target_ + ".XXXXXX";
  const int descriptor = mkstemp(beside_.data());
  if (descriptor < 0) {
    beside_.clear();
    fail(std::string("cannot be written: ") + std::strerror(errno));
  }
  file_ = fdopen(descriptor, "wb");
}

Output::~Output() {
  if (file_ && file_ != stdout) std::fclose(file_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void Output::write(std::string_view text) {
  const auto broken = [this] { fail(std::string("cannot be written: ") + std::strerror(errno)); };
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
    broken();
  if (file_ == stdout) return;
  if (!beside_.empty() && fchmod(fileno(file_), mode_for(target_)) != 0) broken();
  if (std::fclose(std::exchange(file_, nullptr)) != 0) broken();
  if (beside_.empty()) return;
  if (std::rename(beside_.c_str(), target_.c_str()) != 0) broken();
  beside_.clear();
}

}  // namespace kvplan
