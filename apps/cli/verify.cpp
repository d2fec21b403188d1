// SPDX-License-Identifier: Apache-2.0
// `kelvin verify`: whether a run is what was written, and taking out what is not.
#include "kelvin/trajectory/verify.h"

#include "apps/cli/command.h"
#include "kelvin/io/json.h"

namespace kelvin::cli {
namespace {

struct VerifyArguments {
  std::vector<std::string> runs;
  bool repair = false, json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("runs", runs, "directories of runs", argument);
    field("repair", repair, "take out what is damaged; `kelvin resume` then makes it again");
    field("json", json, "print JSON, a line for each run");
  }
};

Value as_value(const std::string& run, const Verification& found) {
  Value::List damage;
  for (const Damage& d : found.damage) damage.push_back(Value::Group{{"file", d.file}, {"what", d.sentence}});
  return Value::Group{{"run", run},           {"intact", found.intact()},   {"files", found.files},
                      {"bytes", found.bytes}, {"named_draws", found.named}, {"intact_draws", found.draws},
                      {"damage", damage}};
}

std::string as_text(const std::string& run, const Verification& found) {
  if (found.intact()) {
    std::uint64_t draws = 0;
    for (const std::uint64_t n : found.draws) draws += n;
    return fmt::format("{}: intact, {} files, {:.3g} MB, {} draws of {} walkers\n", run, found.files,
                       double(found.bytes) / 1e6, draws, found.draws.size());
  }
  std::string text;
  for (const Damage& damage : found.damage) text += fmt::format("{}: {}\n", run, damage.sentence);
  for (std::size_t w = 0; w < found.draws.size(); ++w)
    if (found.draws[w] < found.named[w])
      text +=
          fmt::format("{}: walker {}: its first {} draws of {} are intact\n", run, w, found.draws[w], found.named[w]);
  return text;
}

void verify_runs(const VerifyArguments& arguments) {
  bool all = true;
  for (const std::string& run : arguments.runs) {
    const Verification found = verify(run);
    print(arguments.json ? to_json(as_value(run, found)) + "\n" : as_text(run, found));
    if (found.intact()) continue;
    if (!arguments.repair) {
      all = false;
      remark(fmt::format("`kelvin verify {} --repair` takes out what is damaged", run));
      continue;
    }
    for (const std::string& sentence : repair(run)) remark(sentence);
  }
  if (!all) throw Exit{1};
}

}  // namespace

Command verify_command() {
  return {.name = "verify",
          .summary = "check every file of a run against its manifest, and take out what is damaged",
          .footer = "Example:  kelvin verify runs/spiral --repair",
          .call = calls(verify_runs)};
}

}  // namespace kelvin::cli
