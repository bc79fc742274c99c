// SPDX-License-Identifier: Apache-2.0
// One renderer a file; report/document.h's render() chooses.
#pragma once
#include <string>

#include "report/document.h"

namespace kvplan {

std::string render_table(const Document&, const RenderOptions&);
std::string render_json(const Document&);
std::string render_csv(const Document&, const RenderOptions&);
std::string render_markdown(const Document&, const RenderOptions&);
std::string render_html(const Document&, const RenderOptions&);

}  // namespace kvplan
