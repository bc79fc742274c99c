// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/answer.h"
#include "cli/calibrate.h"
#include "cli/host.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/refusal.h"
#include "cli/terminal.h"
#include "engine/command_line.h"

namespace kvplan {
namespace {

Answer answer(const Request& request, const Catalog& catalog) {
  if (is_on_parts(request, catalog)) return answer_on_parts(request, catalog);
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
    case Command::check:
      return answer_check(request, catalog);
    case Command::models:
      return answer_models(request, catalog);
    case Command::devices:
      return answer_devices(request, catalog);
    case Command::engines:
      return answer_engines(request, catalog);
    case Command::calibrate:
      return answer_calibrate(request, catalog);
    case Command::report:
      return answer_report(request, catalog);
    case Command::import_file:
      return answer_tensors(request);
    default:
      throw Error("this command is not part of this version")
          .advise("`kv-plan --help` lists what is.");
  }
}

// Options that parse but that no command of this version follows: refused, never ignored.
void refuse_unfollowed(const Request& request) {
  const std::pair<bool, const char*> asked[] = {
      {request.host && !takes_parts(request.command), "--host"},
      {request.profile && request.command == Command::gqa, "--profile"}};
  for (const auto& [given, option] : asked)
    if (given)
      throw Error("this option is not part of this version").of(option).advise("Leave it out.");
}

bool needs_model(Command command) {
  return command == Command::plan || command == Command::kv || command == Command::decode ||
         command == Command::prefill || command == Command::gqa || command == Command::report;
}

std::string model_of_line(const std::string& line, const Catalog& catalog) {
  std::string model = parse_command(line, catalog.engines()).model;
  if (model.empty())
    throw Error("the line names no model")
        .of("--engine-command")
        .advise("Name it before the device, as in kv-plan plan MODEL DEVICE.");
  // A file of another machine is known by its name.
  std::error_code ignored;
  const bool is_elsewhere = model.ends_with(".gguf") && !std::filesystem::exists(model, ignored);
  return is_elsewhere ? std::filesystem::path(model).stem().string() : model;
}

// What -o names decides the format where --format does not.
OutputFormat format_for(const Request& request) {
  if (request.format) return *request.format;
  if (request.output_path)
    if (const auto format = format_of_path(*request.output_path)) return *format;
  return request.command == Command::report ? OutputFormat::markdown : OutputFormat::table;
}

RenderOptions render_options(const Request& request) {
  RenderOptions options;
  options.width = std::min(width_of(stdout), 100);
  options.colour = wants_colour(stdout) && !request.output_path;
  options.part = request.part.value_or("");
  options.details = request.details;
  return options;
}

void warn(const std::vector<Warning>& warnings) {
  std::fputs(warnings_text(warnings).c_str(), stderr);
}

}  // namespace

int run(int argc, const char* const* argv) {
  Request request = parse(argc, argv);
  if (request.text) {
    std::fputs(request.text->c_str(), stdout);
    return 0;
  }
  refuse_unfollowed(request);
  Output output(request.output_path);  // a bad path fails before any work
  const Catalog catalog(request.catalog.value_or(""));
  if (request.engine_command && request.model.empty() && needs_model(request.command))
    request.model = model_of_line(*request.engine_command, catalog);
  if (request.command == Command::import_file && !request.tensors) {
    const Imported entry = imported(request);
    warn(entry.warnings);
    output.write(entry.text);
    return 0;
  }
  const Answer result = answer(request, catalog);
  const OutputFormat format = format_for(request);
  if (format != OutputFormat::json) warn(result.warnings);
  output.write(render(result.document, format, render_options(request)));
  return result.status;
}

}  // namespace kvplan
