// SPDX-License-Identifier: Apache-2.0
// A run as a document: findings in the order in which they are read. The page shows whatever findings there are.
#pragma once
#include <filesystem>

#include "kelvin/analysis/finding.h"
#include "kelvin/core/error.h"

namespace kelvin {

// A single directory may hold findings only, as those of experiments do. Long curves are thinned, which their captions
// say, and numbers rounded to six digits. `made` says when.
Value report_document(const std::vector<std::filesystem::path>& runs, const std::string& made, const Remark&);

// The names under which the page finds its figures.
std::vector<std::string> figure_names(const Value& document);

// At most so many points a curve: the lowest and highest of each stretch of a line, every so many of anything else.
// Returns whether some were left out.
bool thin(Figure&, std::size_t most_points);

}  // namespace kelvin
