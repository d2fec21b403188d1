// SPDX-License-Identifier: Apache-2.0
// Checks that a chain can follow a recipe.
#pragma once
#include "kelvin/dynamics/recipe.h"

namespace kelvin {

// Throws, with the part's name and what to do, if its letters ask for what the others, the data or U do not give.
// `all_rows`: every evaluation sees every row; `pieces`: of U.
void check_recipe(const Recipe&, bool all_rows, int pieces);

}  // namespace kelvin
