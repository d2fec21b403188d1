// SPDX-License-Identifier: Apache-2.0
// What is wrong with a run and what to change, in words. To add a check, write its function and its row in checks.cpp.
#pragma once
#include "kelvin/analysis/finding.h"
#include "kelvin/analysis/verdict/evidence.h"

namespace kelvin {

enum class Verdict { fine, unknown, fault };

struct Judgement {
  Verdict verdict;
  std::string sentence;
};

enum class Of { sampling, training, both };

struct Check {
  std::string_view name;
  Of kind;                                           // of runs that it is for
  std::vector<Judgement> (*judge)(const Evidence&);  // empty if it does not apply
  std::string_view meaning;
  std::string_view needs = "";  // of draws that no run of ours made: a statistic, or what such draws never have
};
std::span<const Check> diagnose_checks();

// A mean with its standard error; known if the error can be trusted.
struct KnownMean {
  double value = NAN, error = NAN;
  bool known = false;
};
KnownMean known_mean(const Chains&);

// Checks with files of their own.
std::vector<Judgement> judge_extremes(const Evidence&);
std::vector<Judgement> judge_agreement(const Evidence&);

// The first sentence is the verdict; then one for each fault, worst first as in the table of checks.
Finding diagnose(const Samples&);

std::vector<Figure> diagnose_figures(const Evidence&);

}  // namespace kelvin
