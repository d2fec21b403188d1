// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/verdict/diagnose.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "kelvin/analysis/analysis.h"
#include "kelvin/numeric/distribution.h"

namespace kelvin {
namespace {

using enum Verdict;

const char* shown(Verdict v) { return v == fine ? "fine" : v == fault ? "fault" : "unknown"; }

Table temperatures(const Evidence& e) {
  Table out;
  for (const PartEvidence& part : e.parts) {
    if (!part.warm) continue;
    const KnownMean kinetic = known_mean(part.kinetic), configurational = known_mean(part.configurational);
    const double low = chi_square_quantile(0.005, part.freedom) / part.freedom,
                 high = chi_square_quantile(0.995, part.freedom) / part.freedom;
    double outside = 0, count = 0;
    for (const auto& x : part.kinetic)
      for (const double v : x) {
        outside += v < low || v > high;
        ++count;
      }
    out.row({{"part", part.name},
             {"degrees of freedom", part.freedom},
             {"kinetic / set", cell(kinetic.value)},
             {"error", cell(kinetic.error)},
             {"exact for this scheme", part.kinetic_exact ? "yes" : "no"},
             {"draws outside the 99 % band", cell(std::isnan(kinetic.value) ? NAN : outside / count)},
             {"configurational / set", cell(configurational.value)},
             {"its error", cell(configurational.error)}});
  }
  return out;
}

Table convergences(const Evidence& e) {
  Table out;
  for (const JudgedQuantity& q : e.judged)
    out.row({{"quantity", q.quantity.name},
             {"tau (draws)", cell(q.time.tau)},
             {"missing draws", q.time.missing},
             {"ess_bulk", cell(q.convergence.ess_bulk)},
             {"ess_tail", cell(q.convergence.ess_tail)},
             {"rhat", cell(q.convergence.rhat)}});
  return out;
}

// Draws of another program may lack what a check needs.
std::vector<Judgement> judged(const Check& check, const Evidence& e) {
  if (!e.samples.record.imported() || check.needs.empty() ||
      e.samples.manifest.arrays.contains(fmt::format("sample_stats/{}", check.needs)))
    return check.judge(e);
  return {
      {unknown, fmt::format("the check \"{}\" cannot be made: these draws come without {}", check.name, check.needs)}};
}

}  // namespace

Finding diagnose(const Samples& samples) {
  const Evidence e = evidence_of(samples);
  Finding finding{.name = "diagnose", .title = "Diagnosis"};
  Table checks;
  std::vector<std::string> faults, unknowns;
  for (const Check& check : diagnose_checks()) {
    if (check.kind == (e.training ? Of::sampling : Of::training)) continue;
    for (const Judgement& j : judged(check, e)) {
      checks.row({{"check", check.name}, {"verdict", shown(j.verdict)}, {"what", j.sentence}});
      if (j.verdict == fault) faults.push_back(j.sentence);
      if (j.verdict == unknown) unknowns.push_back(j.sentence);
    }
  }
  const std::string what = samples.record.imported() ? "these draws"
                           : e.training              ? "this training run"
                                                     : "this sampling run";
  if (faults.empty() && unknowns.empty()) finding.words.push_back(fmt::format("Healthy: no check of {} fails.", what));
  else if (faults.empty())
    finding.words.push_back(fmt::format("Healthy as far as can be judged: no check of {} fails, but {} cannot be made.",
                                        what, unknowns.size() == 1 ? "one" : fmt::format("{}", unknowns.size())));
  else
    finding.words.push_back(fmt::format("Not healthy: {} of {} to fix.",
                                        faults.size() == 1 ? "one fault" : fmt::format("{} faults", faults.size()),
                                        what));
  for (const auto* sentences : {&faults, &unknowns})
    for (std::string sentence : *sentences) {
      sentence[0] = char(std::toupper(static_cast<unsigned char>(sentence[0])));
      finding.words.push_back(sentence + ".");
    }
  finding.tables.push_back({"Checks", std::move(checks)});
  if (!e.training) {
    if (!e.parts.empty()) finding.tables.push_back({"Temperatures over those set", temperatures(e)});
    finding.tables.push_back({"Convergence", convergences(e)});
  }
  finding.figures = diagnose_figures(e);
  return finding;
}

Question ask_diagnose() {
  return ask(+[](const Subject& subject, const NoOptions&, const Progress&) { return Found{diagnose(subject.run())}; });
}

}  // namespace kelvin
