// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/csv.h"

#include "tests/files.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> cells(const Csv& csv) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < csv.rows(); ++i)
    for (std::size_t j = 0; j < csv.columns(); ++j) all.emplace_back(csv.cell(i, j));
  return all;
}

TEST(Csv, HeaderAndRows) {
  const Csv csv = parse_csv("a,b,c\n1,2,x\n3,4.5e-3,y\n", "f");
  EXPECT_TRUE(csv.has_header);
  EXPECT_THAT(csv.names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(cells(csv), ElementsAre("1", "2", "x", "3", "4.5e-3", "y"));
  EXPECT_THAT(csv.lines, ElementsAre(2, 3));
  EXPECT_EQ(csv.number(1, 1), 4.5e-3);
}

TEST(Csv, AHeaderIsALineWithoutNumbersBeforeLinesWithSome) {
  EXPECT_TRUE(parse_csv("a,b\n1,2\n", "f").has_header);
  EXPECT_TRUE(parse_csv("a,b\nx,y\nx,2\n", "f").has_header);
  EXPECT_FALSE(parse_csv("1,cat\n2,dog\n", "f").has_header);
  EXPECT_FALSE(parse_csv("red,cat\nblue,dog\n", "f").has_header) << "all lines are of the same kind";
  EXPECT_FALSE(parse_csv("red,cat\n1,dog\n", "f", Header::no).has_header);
  EXPECT_THAT(parse_csv("150,4,setosa\n1,2,0\n", "f", Header::yes).names, ElementsAre("150", "4", "setosa"));
}

TEST(Csv, WithoutHeaderColumnsAreNumberedAndTheLastIsY) {
  EXPECT_THAT(parse_csv("1,2,3\n", "f").names, ElementsAre("x1", "x2", "y"));
  EXPECT_THAT(parse_csv("1\n2\n", "f").names, ElementsAre("x1"));
}

TEST(Csv, QuotedFieldsMayHoldCommasLineEndsAndQuotes) {
  const Csv csv = parse_csv("\"a,1\",b\n\"say \"\"hi\"\"\",1\n\"two\nlines\",2\n\"\",3\n", "f");
  EXPECT_THAT(csv.names, ElementsAre("a,1", "b"));
  EXPECT_THAT(cells(csv), ElementsAre("say \"hi\"", "1", "two\nlines", "2", "", "3"));
  EXPECT_THAT(csv.lines, ElementsAre(2, 3, 5)) << "a line end inside quotes is a line of the file";
  EXPECT_THAT(cells(parse_csv("1,\"x\"", "f")), ElementsAre("1", "x")) << "a quote may close at the very end";
}

TEST(Csv, CommentsBlankLinesCarriageReturnsAndByteOrderMarksAreSkipped) {
  const Csv csv = parse_csv("\xef\xbb\xbf# made by hand\r\na,b\r\n\r\n  # more\r\n1,2\r\n3,4", "f");
  EXPECT_THAT(csv.names, ElementsAre("a", "b"));
  EXPECT_THAT(cells(csv), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(csv.lines, ElementsAre(5, 6));
  EXPECT_THAT(cells(parse_csv("1,2\r3,4\r", "f")), ElementsAre("1", "2", "3", "4")) << "line ends of old";
}

TEST(Csv, TheDelimiterIsFoundInTheFirstLine) {
  EXPECT_THAT(cells(parse_csv("1;2 3\n", "f")), ElementsAre("1", "2 3"));
  EXPECT_THAT(cells(parse_csv("1\t2\t\n3\t\t4\n", "f")), ElementsAre("1", "2", "", "3", "", "4"));
  EXPECT_THAT(cells(parse_csv("  1   2 3  \n4 \t 5\t6 \n", "f")), ElementsAre("1", "2", "3", "4", "5", "6"));
  EXPECT_THAT(cells(parse_csv("# a;b\n \"x;y\" , 2 \n", "f")), ElementsAre("x;y", "2")) << "not in comments or quotes";
  EXPECT_THAT(cells(parse_csv("1,,3\n", "f")), ElementsAre("1", "", "3"));
}

TEST(Csv, GzipIsReadAsIfPlain) {
  const Directory dir;
  const std::string text = "a,b\n1,2\n";
  EXPECT_EQ(cells(read_csv(dir.write_gz("t.csv.gz", text))), cells(read_csv(dir.write("t.csv", text))));
  std::string long_text;
  for (int i = 0; i < 5000; ++i) long_text += fmt::format("{},{}\n", i, i * i % 7919);
  const std::string packed = bytes_of(dir.write_gz("long.gz", long_text));
  EXPECT_EQ(read_csv(dir.path("long.gz")).rows(), 5000);
  const std::string cut = dir.write("cut.gz", packed.substr(0, packed.size() / 2));
  EXPECT_THAT(error_of([&] { read_csv(cut); }), HasSubstr("cut.gz\": "));
}

// Beyond the ten bytes of the header a checksum covers everything but a few bits that mean nothing.
TEST(Csv, GzipCutOrAlteredAnywhereIsAnErrorThatNamesTheFile) {
  const Directory dir;
  const std::string packed = bytes_of(dir.write_gz("t.gz", "x,y\n1,2\n3,4\n0.5,17\n"));
  for (std::size_t n = 2; n < packed.size(); ++n) {
    const std::string cut = dir.write("cut.gz", packed.substr(0, n));
    EXPECT_THAT(error_of([&] { read_csv(cut); }), HasSubstr("cut.gz")) << n;
  }
  for (std::size_t n = 10; n < packed.size(); ++n)
    for (const int flip : {1, 128, 255}) {
      std::string bad = packed;
      bad[n] = char(bad[n] ^ flip);
      const std::string altered = dir.write("altered.gz", bad);
      const std::string message =
          error_of([&] { EXPECT_THAT(cells(read_csv(altered)), ElementsAre("1", "2", "3", "4", "0.5", "17")) << n; });
      EXPECT_THAT(message, testing::AnyOf("", HasSubstr("altered.gz"))) << n;
    }
}

TEST(Csv, ErrorsNameFileAndLine) {
  const auto message = [](const char* text) { return error_of([&] { parse_csv(text, "f.csv"); }); };
  EXPECT_EQ(message("a,b\n1,2\n1,2,3\n"), "f.csv line 3: expected 2 fields as in line 1, found 3");
  EXPECT_THAT(message("1,2\n#\n1\n"), HasSubstr("f.csv line 3: expected 2 fields as in line 1, found 1"));
  EXPECT_THAT(message("1,2\n3,\"4\n5,6\n"), HasSubstr("f.csv line 2: a quote opens here and never closes"));
  EXPECT_THAT(message("1,\"2\"3\n"), HasSubstr("f.csv line 1: text after a closing quote"));
  EXPECT_THAT(message(""), HasSubstr("f.csv: no rows of data"));
  EXPECT_THAT(message("# only this\n\n"), HasSubstr("f.csv: no rows of data"));
  EXPECT_THAT(error_of([&] { parse_csv("a,b\n", "f.csv", Header::yes); }), HasSubstr("no rows of data"));
  EXPECT_THAT(error_of([&] { parse_csv(std::string("1\0002", 3), "f.csv"); }), HasSubstr("neither text nor"));
  EXPECT_THAT(error_of([&] { read_csv("no/such.csv"); }), HasSubstr("cannot read \"no/such.csv\": No such file"));
  EXPECT_THAT(error_of([&] { read_csv("/"); }), HasSubstr("is a directory"));
}

TEST(Csv, BadNumbersAreNamedWithTheirColumn) {
  const Csv csv = parse_csv("age,y\n1,2\nold,3\n,4\nnan,5\n-inf,6\n1e999,7\n", "f.csv");
  const auto message = [&](std::size_t row) { return error_of([&] { csv.number(row, 0); }); };
  EXPECT_EQ(message(0), "");
  EXPECT_EQ(message(1), "f.csv line 3: column \"age\" must hold numbers, not \"old\"");
  EXPECT_THAT(message(2), HasSubstr("f.csv line 4: column \"age\" is empty"));
  for (const std::size_t row : {3, 4, 5}) EXPECT_THAT(message(row), HasSubstr("every number must be finite"));
}

TEST(Csv, NumbersAreWholeTexts) {
  EXPECT_EQ(as_number("+1.5"), 1.5);
  EXPECT_EQ(as_number("-2e3"), -2000.0);
  EXPECT_EQ(as_number("1e-999"), 0.0);
  for (const char* text : {"", "+", "+-1", "1x", "1 2", "0x10", "--1"}) EXPECT_FALSE(as_number(text)) << text;
}

// Any damage to a valid text is an error or a table, never a crash, and tables stay rectangular.
TEST(Csv, CutAtEveryLengthItStaysATableOrAnError) {
  const std::string text = "# c\n\"a\",b\r\n1,\"x\"\"\n\"\n 2\t, y\n";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const std::string message = error_of([&] {
      const Csv csv = parse_csv(text.substr(0, n), "f");
      EXPECT_EQ(csv.ends.size(), csv.rows() * csv.columns());
    });
    EXPECT_THAT(message, testing::AnyOf("", testing::StartsWith("f")));
  }
}

}  // namespace
}  // namespace kelvin
