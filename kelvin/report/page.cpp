// SPDX-License-Identifier: Apache-2.0
#include "kelvin/report/page.h"

#include "kelvin/core/error.h"
#include "kelvin/io/json.h"

// The bytes of the file between two labels; a literal of this size would be slow to compile.
asm(R"(
.section .rodata
kelvin_page_begin: .incbin ")" KELVIN_REPORT_PAGE R"("
kelvin_page_end: .byte 0
.previous
)");
extern const char page_begin[] asm("kelvin_page_begin");
extern const char page_end[] asm("kelvin_page_end");

namespace kelvin {

namespace {

// Inside <script> the text must not look like its end or like a comment: JSON spells < as an escape as well.
std::string inside_script(const Value& document) {
  std::string text;
  for (const char c : to_json(document))
    if (c == '<') text += "\\u003c";
    else text += c;
  return text;
}

std::string as_html(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c == '<') out += "&lt;";
    else if (c == '&') out += "&amp;";
    else out += c;
  return out;
}

void put(std::string& page, std::string_view place, const std::string& text) {
  const std::size_t at = page.find(place);
  if (at == std::string::npos) throw Error("the page has no place \"{}\"; build it anew with ./run web", place);
  page.replace(at, place.size(), text);
}

}  // namespace

std::string_view empty_page() { return {page_begin, std::size_t(page_end - page_begin)}; }

std::string report_page(const Value& document) {
  std::string page(empty_page());
  put(page, "<title>Kelvin report</title>", "<title>" + as_html(document.as<std::string>("title")) + "</title>");
  put(page, R"(id="report">null<)", R"(id="report">)" + inside_script(document) + "<");
  return page;
}

}  // namespace kelvin
