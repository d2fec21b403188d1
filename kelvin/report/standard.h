// SPDX-License-Identifier: Apache-2.0
// Findings that a report has of every run they apply to, in the order in which they are read. To add one, add its row
// in standard.cpp.
#pragma once
#include <span>

#include "kelvin/analysis/finding.h"
#include "kelvin/core/error.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

struct StandardFinding {
  std::string_view name;  // of the finding
  bool (*applies)(const Samples&);
  Finding (*find)(const Samples&, const Remark&);  // made for the report if none was kept
  bool verdict;                                    // its first sentence is the run's
};
std::span<const StandardFinding> standard_findings();

}  // namespace kelvin
