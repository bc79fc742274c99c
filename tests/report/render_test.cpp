// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "error.h"
#include "golden.h"
#include "report/record.h"
#include "report/text.h"
#include "report/version.h"
#include "sample.h"

using namespace kvplan;

namespace {

// Golden files outlive a version.
std::string rendered(OutputFormat format, const RenderOptions& options = {}) {
  std::string text = render(sample_document(), format, options);
  const std::string now(version());
  for (std::size_t at = 0; (at = text.find(now, at)) != std::string::npos;)
    text.replace(at, now.size(), "VERSION");
  return text;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) width = std::max(width, display_width(line));
  return width;
}

std::string csv_of(const Table& t, Array rows) {
  Document d;
  d.body = {{"rows", value(std::move(rows))}};
  d.tables = {t};
  return render(d, OutputFormat::csv);
}

}  // namespace

TEST_CASE("each format renders the sample as it did before") {
  CHECK(golden_difference("sample.txt", rendered(OutputFormat::table)) == "");
  CHECK(golden_difference("sample-60.txt", rendered(OutputFormat::table, {60, false, ""})) == "");
  CHECK(golden_difference("sample-colour.txt", rendered(OutputFormat::table, {100, true, ""})) ==
        "");
  CHECK(golden_difference("sample.json", rendered(OutputFormat::json)) == "");
  CHECK(golden_difference("sample.csv", rendered(OutputFormat::csv)) == "");
  CHECK(golden_difference("sample.md", rendered(OutputFormat::markdown)) == "");
  CHECK(golden_difference("sample.html", rendered(OutputFormat::html)) == "");
}

TEST_CASE("a table keeps within the width where its columns can") {
  for (const int width : {60, 72, 80, 100, 140}) {
    CAPTURE(width);
    CHECK(widest(rendered(OutputFormat::table, {width, false, ""})) <=
          static_cast<std::size_t>(width));
  }
}

TEST_CASE("colour only where it is asked for") {
  CHECK(rendered(OutputFormat::table).find('\x1b') == std::string::npos);
  CHECK(rendered(OutputFormat::table, {100, true, ""}).find("\x1b[1m") != std::string::npos);
}

TEST_CASE("a column that never varies is left out for people and kept in csv") {
  Document d = sample_document();
  std::get<Array>(std::get<Object>(d.body[1].value.v)[3].value.v).resize(5);  // all rows fit
  CHECK(render(d, OutputFormat::table).find("fits") == std::string::npos);
  CHECK(render(d, OutputFormat::csv).find("fits") != std::string::npos);
}

TEST_CASE("a column that says what another says is left out for people and kept in csv") {
  Document d;
  d.tables = {{"rows", "", {{"all", "a"}, {"each", "b", true, "a"}}}};
  d.body = {{"rows", value(Array{value(Object{{"a", value(1)}, {"b", value(1)}})})}};
  CHECK(render(d, OutputFormat::table).find("each") == std::string::npos);
  CHECK(render(d, OutputFormat::csv) == "a,b\n1,1\n");
  d.body = {{"rows", value(Array{value(Object{{"a", value(2)}, {"b", value(1)}})})}};
  CHECK(render(d, OutputFormat::table).find("each") != std::string::npos);
}

TEST_CASE("an absent value is null in json, empty in csv and never zero") {
  const std::string json = rendered(OutputFormat::json);
  CHECK(json.find("\"nothing\": null") != std::string::npos);
  CHECK(json.find("\"infinite\": null") != std::string::npos);
  CHECK(json.find("\"usd_per_hour\": null") != std::string::npos);
  CHECK(rendered(OutputFormat::csv, {100, false, "device"}).find("3350000000000,,") !=
        std::string::npos);
}

TEST_CASE("integers stay integers and reals are shortest in json and csv") {
  const Table t{"rows", "", {{"", "n"}, {"", "x"}}};
  const Array rows = {value(Object{{"n", value(Bytes(9007199254740993))}, {"x", value(0.1)}})};
  CHECK(csv_of(t, rows) == "n,x\n9007199254740993,0.1\n");
  Document d;
  d.body = {{"rows", value(rows)}};
  const std::string json = render(d, OutputFormat::json);
  CHECK(json.find("\"n\": 9007199254740993,") != std::string::npos);
  CHECK(json.find("\"x\": 0.1\n") != std::string::npos);
}

TEST_CASE("csv quotes commas, quotes and line ends") {
  const Table t{"rows", "", {{"", "a,b"}, {"", "c"}}};
  const Array rows = {value(Object{{"a,b", value("x\"y")}, {"c", value("1\n2")}})};
  CHECK(csv_of(t, rows) == "\"a,b\",c\n\"x\"\"y\",\"1\n2\"\n");
}

TEST_CASE("csv of no rows is its head line") {
  CHECK(csv_of({"rows", "", {{"", "a"}}}, {}) == "a\n");
}

TEST_CASE("part picks a table by name, and an unknown one lists all") {
  CHECK(
      rendered(OutputFormat::csv, {100, false, "assumptions"}).starts_with("what,value,source\n"));
  CHECK(rendered(OutputFormat::table, {100, false, "device"}).find("At most") == std::string::npos);
  try {
    rendered(OutputFormat::csv, {100, false, "kv.rows"});
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.key == "--part");
    CHECK(e.advice == "Tables here: decode.rows, device, assumptions.");
  }
}

TEST_CASE("a hostile name is text in every format") {
  const std::string html = rendered(OutputFormat::html);
  CHECK(html.find("<SXM>") == std::string::npos);
  CHECK(html.find("H100 &lt;SXM&gt; | &quot;80GB&quot; [31m\xEF\xBF\xBD") != std::string::npos);
  CHECK(rendered(OutputFormat::markdown).find("H100 \\<SXM> \\| \"80GB\"") != std::string::npos);
  CHECK(rendered(OutputFormat::json).find("\\u001b[31m\xEF\xBF\xBD") != std::string::npos);
}

TEST_CASE("an empty document renders in every format but csv") {
  for (const auto format :
       {OutputFormat::table, OutputFormat::json, OutputFormat::markdown, OutputFormat::html})
    CHECK_NOTHROW(render(Document{}, format));
  CHECK_THROWS_AS(render(Document{}, OutputFormat::csv), Error);
}

TEST_CASE("the page is one file without script or network") {
  const std::string html = rendered(OutputFormat::html);
  for (const char* outside : {"<script", "http:", "https:", "src=", "@import", "url("})
    CHECK(html.find(outside) == std::string::npos);
  CHECK(html.find("<svg") != std::string::npos);
}

TEST_CASE("an estimate is shown with its interval, and csv has all three") {
  Document d;
  Column estimate{"tok/s", "value"};
  estimate.low = "low";
  estimate.high = "high";
  d.tables = {{"rows", "", {estimate, {"", "low"}, {"", "high"}}}};
  const auto row = [](Value low) {
    return value(Object{{"value", value(84.2)}, {"low", std::move(low)}, {"high", value(145)}});
  };
  d.body = {{"rows", value(Array{row(value(66.9))})}};
  CHECK(render(d, OutputFormat::table).find("84.2 (66.9–145)") != std::string::npos);
  CHECK(render(d, OutputFormat::csv) == "value,low,high\n84.2,66.9,145\n");
  d.body = {{"rows", value(Array{row({})})}};
  CHECK(render(d, OutputFormat::table).find("(") == std::string::npos);
}

TEST_CASE("a column for roomy terminals goes first, and only where it must") {
  Document d;
  Column step{"step of this load", "b"};
  step.spare = 1;
  d.tables = {{"rows", "", {{"context of a sequence", "a"}, step, {"bound", "c"}}}};
  const Value wide = value(std::int64_t{1'000'000'000'000'000'000});
  d.body = {{"rows",
             value(Array{value(Object{{"a", value(1)}, {"b", wide}, {"c", value("bandwidth")}})})}};
  CHECK(render(d, OutputFormat::table).find("step") != std::string::npos);
  const std::string narrow = render(d, OutputFormat::table, {40, false, ""});
  CHECK(narrow.find("step") == std::string::npos);
  CHECK(narrow.find("bound") != std::string::npos);
}

TEST_CASE("a terminal keeps details back, says so, and shows them where asked") {
  Document d = sample_document();
  d.tables[1].detail = true;
  CHECK(render(d, OutputFormat::table).find("also called") == std::string::npos);
  CHECK(render(d, OutputFormat::table).find("with --details or --part: device.") !=
        std::string::npos);
  CHECK(render(d, OutputFormat::table, RenderOptions{100, false, "", true}).find("also called") !=
        std::string::npos);
  CHECK(render(d, OutputFormat::table, {100, false, "device"}).find("also called") !=
        std::string::npos);
  CHECK(render(d, OutputFormat::markdown).find("also called") != std::string::npos);
}
