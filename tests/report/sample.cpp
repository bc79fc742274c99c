// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include "report/record.h"

namespace kvplan {
namespace {

struct Speed {
  double tokens_per_second;
  Seconds step;
};
struct Row {
  Tokens context;
  std::int64_t batch;
  bool fits;
  Bytes kv;
  Speed ceiling;
  std::optional<Speed> typical;
  std::string bound;
};
struct Card {
  std::string name;
  Bytes memory;
  BytesPerSecond bandwidth;
  std::optional<double> price;
  std::vector<std::string> aliases;
};
struct Remark {
  std::string what, value, source;
};

}  // namespace

template <>
inline constexpr auto description<Speed> = std::tuple{
    field("tokens_per_second", &Speed::tokens_per_second, "tok/s").as(Show::tokens_per_second),
    field("step_seconds", &Speed::step, "step").where_it_varies()};
template <>
inline constexpr auto description<Row> =
    std::tuple{field("context", &Row::context, "context"),
               field("batch", &Row::batch, "batch"),
               field("fits", &Row::fits, "fits").where_it_varies(),
               field("kv_bytes", &Row::kv, "KV cache"),
               field("kv_bytes_per_sequence", [](const Row& r) { return Bytes(r.kv.n / r.batch); }),
               field("ceiling", &Row::ceiling, "at most"),
               field("typical", &Row::typical, "typical").where_it_varies(),
               field("bound", &Row::bound, "bound by")};
template <>
inline constexpr auto description<Card> =
    std::tuple{field("name", &Card::name, "device"), field("memory_bytes", &Card::memory, "memory"),
               field("bandwidth_bytes_per_second", &Card::bandwidth, "bandwidth"),
               field("usd_per_hour", &Card::price, "price per hour").as(Show::usd),
               field(
                   "aliases", [](const Card& c) { return value(c.aliases); }, "also called")};
template <>
inline constexpr auto description<Remark> =
    std::tuple{field("what", &Remark::what, "option"), field("value", &Remark::value, "value"),
               field("source", &Remark::source, "why")};

}  // namespace kvplan

kvplan::Document sample_document() {
  using namespace kvplan;
  const auto gib = [](std::int64_t n) { return Bytes(n * kGiB); };
  const std::vector<Row> rows = {
      {Tokens(4096), 1, true, Bytes(512 * kMiB), {203.42, Seconds(4.916e-3)}, {}, "bandwidth"},
      {Tokens(4096), 8, true, gib(4), {1358.7, Seconds(5.888e-3)}, {}, "bandwidth"},
      {Tokens(4096), 32, true, gib(16), {3402.1, Seconds(9.406e-3)}, {}, "bandwidth"},
      {Tokens(32768), 1, true, gib(4), {169.84, Seconds(5.888e-3)}, {}, "bandwidth"},
      {Tokens(32768), 8, true, gib(32), {584.0, Seconds(13.70e-3)}, {}, "bandwidth"},
      {Tokens(32768), 32, false, gib(128), {789.2, Seconds(40.55e-3)}, {}, "bandwidth"},
  };
  const Card card{"H100 <SXM> | \"80GB\"\x1b[31m\xff",
                  Bytes(85'017'755'648),
                  BytesPerSecond(3.35e12),
                  std::nullopt,
                  {"h100", "h100_sxm5"}};
  const std::vector<Remark> remarks = {
      {"--weights", "config", "bf16, as the checkpoint says"},
      {"--kv", "bf16",
       "the engine's auto takes the format of the weights unless the checkpoint names another one, "
       "which this one does not"},
      {"--catalog", "", "a, \"quoted\" and\nbroken line"},
  };
  Document d;
  d.command = "decode";
  d.title = "Llama 3.1 8B on H100 SXM";
  d.lead = {
      "At most 203 tok/s for one sequence at 4,096 tokens; reading weights binds it.",
      "A ceiling is not served throughput: no correct engine can be faster, and real ones are "
      "slower."};
  d.body = {{"device", value(card)},
            {"decode", value(Object{{"crossover_batch", value(295)},
                                    {"nothing", value(std::optional<Bytes>())},
                                    {"infinite", value(1.0 / 0.0)},
                                    {"rows", value(rows)}})},
            {"assumptions", value(remarks)}};
  d.tables = {table<Row>("decode.rows", "Decode"), table<Card>("device", "Device"),
              table<Remark>("assumptions", "Assumptions")};
  d.tables[0].notes = {"tok/s counts all sequences of the batch."};
  d.tables[0].chart = Chart{"batch", "ceiling.tokens_per_second", "context"};
  d.closing = {"More: kv-plan decode --explain shows each formula."};
  return d;
}
