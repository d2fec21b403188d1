// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "kelvin/analysis/analysis.h"

namespace kelvin {
namespace {

// What run.json says at the end of a run, and the log until then.
ExchangeRecord travels_of(const Samples& samples) {
  if (samples.record.exchange) return *samples.record.exchange;
  const std::vector<LogLine> log = read_log(samples.run);
  for (auto line = log.rbegin(); line != log.rend(); ++line)
    if (line->exchange) return *line->exchange;
  throw Error("\"{}\" has no exchanges yet; let it run on", samples.run.string());
}

constexpr double rare = 0.1;
constexpr std::uint64_t fewest_attempts = 100;

std::string counted(const ExchangeRecord& t) {
  return fmt::format("{:.0f} round trip{} between the first temperature and the last in {} attempts", t.round_trips,
                     t.round_trips == 1 ? "" : "s", t.attempts);
}

}  // namespace

bool exchanges(const Samples& samples) { return samples.manifest.arrays.contains("sample_stats/replica"); }

std::vector<Judgement> judge_exchange(const Evidence& e) {
  if (!exchanges(e.samples)) return {};
  const ExchangeRecord t = travels_of(e.samples);
  if (t.attempts < fewest_attempts)
    return {{Verdict::unknown, fmt::format("only {} attempts to exchange positions were made; run longer, or lower "
                                           "exchange.every",
                                           t.attempts)}};
  const auto least = std::min_element(t.acceptance.begin(), t.acceptance.end());
  const auto pair = least - t.acceptance.begin();
  if (*least < rare)
    return {{Verdict::fault,
             fmt::format("only {:.2g} % of the attempts to exchange positions between temperatures {} and {} succeed: "
                         "set exchange.adapt, or give more temperatures",
                         100 * *least, pair, pair + 1)}};
  if (t.round_trips == 0)
    return {{Verdict::fault,
             "no position has travelled from the first temperature to the last and back: run longer, "
             "or lower exchange.every"}};
  return {{Verdict::fine, fmt::format("neighbouring temperatures exchange positions in at least {:.0f} % of the "
                                      "attempts, with {}",
                                      100 * *least, counted(t))}};
}

namespace {

Found find_exchange(const Subject& subject, const NoOptions&, const Progress&) {
  const Samples& samples = subject.run();
  if (!exchanges(samples))
    throw Error("\"{}\" was run without [exchange]; there is nothing to see", samples.run.string());
  const ExchangeRecord t = travels_of(samples);
  Finding finding{.name = "exchange", .title = "Exchange between temperatures", .words = {counted(t) + "."}};
  Table table;
  Curve rising{.name = "rising", .style = "points"}, even{.name = "in equal parts", .style = "dashed"};
  const double last = double(t.temperatures.size() - 1);
  for (std::size_t k = 0; k < t.temperatures.size(); ++k) {
    table.row({{"temperature", k},
               {"factor", t.temperatures[k]},
               {"exchanged with the next", k < t.acceptance.size() ? cell(t.acceptance[k]) : Table::Cell()},
               {"come from the first", cell(t.rising[k])}});
    rising.x.push_back(double(k));
    rising.y.push_back(t.rising[k]);
    even.x.push_back(double(k));
    even.y.push_back(1 - double(k) / last);
  }
  finding.tables.push_back({"Temperatures", std::move(table)});
  finding.figures.push_back(
      {"flow",
       "Flow of positions",
       "temperature",
       "share that comes from the first one",
       {std::move(rising), std::move(even)},
       {},
       "A fall from 1 to 0 in equal parts is the fastest; a jump is a bottleneck: put temperatures "
       "there (exchange.adapt)."});
  Figure travels{.name = "replica",
                 .title = "Whose position the first walker of each ladder has",
                 .x_label = "draw",
                 .y_label = "started at walker"};
  for (std::size_t w = 0; w < samples.walkers; ++w) {
    Curve curve{.name = fmt::format("ladder {}", w), .y = samples.statistic("replica", w), .style = "points"};
    for (std::size_t i = 0; i < curve.y.size(); ++i) curve.x.push_back(double(i));
    travels.curves.push_back(std::move(curve));
  }
  finding.figures.push_back(std::move(travels));
  return {std::move(finding), {}};
}

}  // namespace

Question ask_exchange() { return ask(find_exchange); }

}  // namespace kelvin
