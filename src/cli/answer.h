// SPDX-License-Identifier: Apache-2.0
// What every command's document has in common.
#pragma once
#include <string>
#include <vector>

#include "cli/resolve.h"
#include "cost/breakdown.h"
#include "cost/launches.h"
#include "cost/trace.h"
#include "report/document.h"

namespace kvplan {

// The document of a command on a model: identity, device and deployment are in, the command's own
// parts follow.
Document start(const Resolved&, std::string_view command);
// Adds assumptions and warnings, in the body and for a person.
void finish(Document&, const Resolved&);

// Adds what --explain and --breakdown ask for: the first row's formulas, or its operators on one
// GPU.
void add_explanation(Document&, const Trace&);
void add_breakdown(Document&, const std::vector<Portion>&, std::string title);
// What the setup's profile expects of each kernel; nothing where there is no profile.
void add_kernels(Document&, const Resolved&, const Launches&, std::string title);

// "Llama 3.1 8B on 2 x NVIDIA H100 SXM".
std::string subject(const Resolved&);

// Each command: the document, and the exit status that it deserves (0 done, 1 the answer is no).
struct Answer {
  Document document;
  int status = 0;
  std::vector<Warning> warnings;
};
Answer answer_kv(const Request&, const Catalog&);
Answer answer_decode(const Request&, const Catalog&);
Answer answer_prefill(const Request&, const Catalog&);
Answer answer_plan(const Request&, const Catalog&);
Answer answer_gqa(const Request&, const Catalog&);
Answer answer_sweep(const Request&, const Catalog&);
Answer answer_check(const Request&, const Catalog&);
Answer answer_models(const Request&, const Catalog&);
Answer answer_devices(const Request&, const Catalog&);
Answer answer_engines(const Request&, const Catalog&);
Answer answer_report(const Request&, const Catalog&);
Answer answer_tensors(const Request&);  // import --tensors
// A model file as the text of a catalog entry.
struct Imported {
  std::string text;
  std::vector<Warning> warnings;
};
Imported imported(const Request&);

}  // namespace kvplan
