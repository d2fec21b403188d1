// SPDX-License-Identifier: Apache-2.0
// The page: web/dist/report.html, which is part of the program, with a document put into it. It needs no other file and
// no network.
#pragma once
#include <string>
#include <string_view>

#include "kelvin/core/value.h"

namespace kelvin {

std::string_view empty_page();                   // as built from web/
std::string report_page(const Value& document);  // what report_document returns

}  // namespace kelvin
