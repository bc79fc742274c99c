// SPDX-License-Identifier: Apache-2.0
#include "cli/refusal.h"

#include "report/text.h"

namespace kvplan {

std::string refusal_text(const Error& e) {
  std::string text = "kv-plan: ";
  if (!e.file.empty())
    text += clean(e.file) + (e.line > 0 ? ":" + std::to_string(e.line) : "") + ": ";
  if (e.file.empty() && e.line > 0) text += "line " + std::to_string(e.line) + ": ";
  if (!e.key.empty()) text += clean(e.key) + ": ";
  text += clean(e.what());
  if (e.offset >= 0) text += " (at byte " + std::to_string(e.offset) + ")";
  if (!e.advice.empty()) text += "\n  " + clean(e.advice);
  return text + "\n";
}

std::string warning_text(const Warning& w) {
  return "kv-plan: warning: " + clean(w.message) + "\n";
}

std::string warnings_text(const std::vector<Warning>& warnings) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < warnings.size() && i < kMost; ++i) text += warning_text(warnings[i]);
  if (warnings.size() > kMost)
    text += "kv-plan: " + std::to_string(warnings.size() - kMost) +
            " more warnings; --format json has all\n";
  return text;
}

}  // namespace kvplan
