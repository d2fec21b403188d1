// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kelvin/core/text.h"

namespace kelvin {
namespace {

TEST(Visible, ControlsAreSpelledOutAndTextIsNot) {
  for (const char* text : {"plain", "two\nlines\tand a tab", "r\u00e9sum\u00e9 \u03bb \u4e2d \U0001f600 \u2028", ""})
    EXPECT_EQ(visible(text), text);
  EXPECT_EQ(visible("\x1b[2J\x1b]0;title\x07"), "\\u001b[2J\\u001b]0;title\\u0007");
  EXPECT_EQ(visible("a\rb\x7f\b"), "a\\u000db\\u007f\\u0008");
  EXPECT_EQ(visible("\u009b31m"), "\\u009b31m") << "a control beyond ASCII";
  EXPECT_EQ(visible("\u202etxt.exe\u2066"), "\\u202etxt.exe\\u2066") << "other directions of writing";
  EXPECT_EQ(visible(std::string("\0", 1)), "\\u0000");
  EXPECT_EQ(visible("\xc2"), "\xc2") << "cut short";
}

}  // namespace
}  // namespace kelvin
