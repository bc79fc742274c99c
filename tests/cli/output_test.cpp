// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "error.h"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "kvplan-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
  fs::path path;
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Error refusal(const std::string& path) {
  try {
    Output out(path);
  } catch (const Error& e) {
    return e;
  }
  return Error("accepted");
}

}  // namespace

TEST_CASE("a file appears whole, and not before it is written") {
  const Folder folder;
  const fs::path path = folder.path / "answer.json";
  {
    Output out(path.string());
    CHECK_FALSE(fs::exists(path));
    out.write("{}\n");
  }
  CHECK(read(path) == "{}\n");
  CHECK(folder.files() == 1);
}

TEST_CASE("work that fails leaves the old file and nothing else") {
  const Folder folder;
  const fs::path path = folder.path / "old.txt";
  std::ofstream(path) << "old";
  { Output out(path.string()); }
  CHECK(read(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a link stays a link and its target is replaced") {
  const Folder folder;
  std::ofstream(folder.path / "target") << "old";
  fs::create_symlink("target", folder.path / "link");
  fs::create_symlink("new", folder.path / "dangling");
  Output(std::optional((folder.path / "link").string())).write("fresh");
  Output(std::optional((folder.path / "dangling").string())).write("made");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(read(folder.path / "target") == "fresh");
  CHECK(fs::is_symlink(folder.path / "dangling"));
  CHECK(read(folder.path / "new") == "made");
}

TEST_CASE("a replaced file keeps its mode, a new one takes the user's mask") {
  const Folder folder;
  const fs::path path = folder.path / "secret";
  std::ofstream(path) << "old";
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  Output(std::optional(path.string())).write("new");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const mode_t before = umask(027);
  Output(std::optional((folder.path / "fresh").string())).write("new");
  umask(before);
  struct stat made {};
  REQUIRE(stat((folder.path / "fresh").c_str(), &made) == 0);
  CHECK((made.st_mode & 0777) == 0640);
}

TEST_CASE("a path that cannot be written fails at once and is named") {
  const Folder folder;
  CHECK(refusal(folder.path.string()).file == folder.path.string());
  CHECK(std::string(refusal(folder.path.string()).what()) == "is a folder, not a file");
  CHECK(std::string(refusal((folder.path / "new/").string()).what()) == "is a folder, not a file");
  const std::string missing = (folder.path / "no/such/file").string();
  CHECK(refusal(missing).file == missing);
  CHECK(std::string(refusal(missing).what()) == "cannot be written: No such file or directory");
  fs::create_symlink("loop", folder.path / "loop");
  CHECK(refusal((folder.path / "loop").string()).file == (folder.path / "loop").string());
}

TEST_CASE("a device is written in place") {
  Output(std::optional<std::string>("/dev/null")).write("gone");
  CHECK(fs::is_character_file("/dev/null"));
  if (!fs::exists("/dev/full")) return;
  Output full(std::optional<std::string>("/dev/full"));
  CHECK_THROWS_AS(full.write("x"), Error);
}

TEST_CASE("a dash is stdout") {
  CHECK(Output(std::nullopt).is_stdout());
  CHECK(Output(std::optional<std::string>("-")).is_stdout());
}

TEST_CASE("a format is known by its name and by a path's extension") {
  CHECK(output_format_of("md") == OutputFormat::markdown);
  CHECK_THROWS_AS(output_format_of("xml"), Error);
  CHECK(format_of_path("a/b.html") == OutputFormat::html);
  CHECK(format_of_path("report.v2.json") == OutputFormat::json);
  for (const char* path : {"a", "a.txt", ".json", "", "a.table"}) CHECK_FALSE(format_of_path(path));
}
