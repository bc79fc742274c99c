// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/answer.h"
#include "cli/parse.h"

namespace kvplan {
namespace {

Answer answer(const Request& request, const Catalog& catalog) {
  switch (request.command) {
    case Command::kv:
      return answer_kv(request, catalog);
    case Command::decode:
      return answer_decode(request, catalog);
    case Command::prefill:
      return answer_prefill(request, catalog);
    case Command::plan:
      return answer_plan(request, catalog);
    case Command::gqa:
      return answer_gqa(request, catalog);
    case Command::sweep:
      return answer_sweep(request, catalog);
    case Command::models:
      return answer_models(request, catalog);
    case Command::devices:
      return answer_devices(request, catalog);
    default:
      throw Error("this command is not available yet");
  }
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    return size.ws_col < 100 ? size.ws_col : 100;
  return 100;
}

RenderOptions render_options(const Request& request) {
  RenderOptions options;
  options.width = terminal_width();
  options.colour = isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR") && !request.output_path;
  options.part = request.part.value_or("");
  return options;
}

}  // namespace

int run(int argc, const char* const* argv) {
  const Request request = parse(argc, argv);
  if (request.text) {
    std::fputs(request.text->c_str(), stdout);
    return 0;
  }
  const Catalog catalog(request.catalog.value_or(""));
  const Answer result = answer(request, catalog);
  const OutputFormat format = request.format.value_or(OutputFormat::table);
  if (format != OutputFormat::json)
    for (const Warning& w : result.warnings)
      fmt::print(stderr, "kv-plan: warning: {}\n", w.message);
  const std::string text = render(result.document, format, render_options(request));
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0) throw Error("the answer could not be written to standard output");
  return result.status;
}

}  // namespace kvplan
