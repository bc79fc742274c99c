// SPDX-License-Identifier: Apache-2.0
#include "engine/program.h"

#include <array>
#include <optional>
#include <string_view>

#include "engine/version.h"
#include "error.h"

namespace kvplan {
namespace {

// How a line starts an engine: a program by its file name and the word that must or may follow, or
// a module, or an image by a part of its name.
struct Program {
  std::string_view engine, file, then;
  bool required = false;
};
constexpr std::array kPrograms = {
    Program{"vllm", "vllm", "serve", true},
    Program{"sglang", "sglang", "serve", true},
    Program{"sglang", "sglang.launch_server", ""},
    Program{"trtllm", "trtllm-serve", "serve"},
    Program{"llama.cpp", "llama-server", ""},
    Program{"llama.cpp", "llama-server.exe", ""},
    Program{"llama.cpp", "llama-cli", ""},
    Program{"ollama", "ollama", "serve", true},
    Program{"ollama", "ollama", "run", true},
    Program{"vllm", "vllm.entrypoints.openai.api_server", ""},
};
struct Image {
  std::string_view engine, part;
  bool starts = false;  // what follows are the engine's flags
};
constexpr std::array kImages = {
    Image{"vllm", "vllm/vllm-openai", true},
    Image{"sglang", "lmsysorg/sglang"},
    Image{"llama.cpp", "ggml-org/llama.cpp:server", true},
    Image{"trtllm", "nvidia/tensorrt-llm/release"},
};
std::string file_name(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// The index of the first flag, where the word at `at` starts this program.
std::optional<std::size_t> starts(const Program& p, const std::vector<std::string>& words,
                                  std::size_t at) {
  const bool followed = !p.then.empty() && at + 1 < words.size() && words[at + 1] == p.then;
  if (file_name(words[at]) != p.file || (p.required && !followed)) return std::nullopt;
  return at + (followed ? 2 : 1);
}

// The tag of an image where it is a version: "latest" and the like say nothing, and llama.cpp's
// tags name a kind of build.
std::string version_of(std::string_view engine, const std::string& image) {
  const auto tag = image.rfind(':');
  if (engine == "llama.cpp" || tag == std::string::npos) return {};
  std::string version = image.substr(tag + 1);
  try {
    parse_version(version);
    return version;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

Started engine_started(const std::vector<std::string>& words) {
  std::string image;
  for (std::size_t at = 0; at < words.size(); ++at) {
    for (const Program& p : kPrograms)
      if (const auto from = starts(p, words, at))
        return {std::string(p.engine), version_of(p.engine, image), at, *from};
    for (const Image& i : kImages) {
      if (words[at].find(i.part) == std::string::npos) continue;
      image = words[at];
      if (i.starts) return {std::string(i.engine), version_of(i.engine, image), at, at + 1};
      break;
    }
  }
  throw Error("the line starts no engine that is known")
      .of("--engine-command")
      .advise(
          "It should hold vllm serve, sglang.launch_server, trtllm-serve, llama-server or "
          "ollama.");
}

}  // namespace kvplan
