// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"

namespace kvplan {

std::string render(const Document& document, OutputFormat format, const RenderOptions& options) {
  switch (format) {
    case OutputFormat::table:
      return render_table(document, options);
    case OutputFormat::json:
      return render_json(document);
    case OutputFormat::csv:
      return render_csv(document, options);
    case OutputFormat::markdown:
      return render_markdown(document, options);
    case OutputFormat::html:
      return render_html(document, options);
  }
  return {};
}

}  // namespace kvplan
