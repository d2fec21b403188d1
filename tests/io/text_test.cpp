// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/toml.h"
#include "kelvin/io/text.h"

#include <cstdlib>

#include "kelvin/core/settings.h"
#include "kelvin/io/load.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Texts : testing::Test {
  Directory dir;
  DataSettings settings;
  Splits load_as(const std::string& toml, const std::string& text) {
    settings = DataSettings();
    read(settings, parse_toml(toml, "run.toml"), "data");
    if (settings.file.empty()) settings.file = dir.write("t.txt", text);
    return load(settings, true, 1, nullptr);
  }
  std::string error(const std::string& toml, const std::string& text) {
    return error_of([&] { load_as(toml, text); });
  }
};

TEST_F(Texts, CharactersPredictTheNextOne) {
  const Dataset d = load_as("text = { unit = \"characters\", steps = 3 }", "abcabdab").train;
  EXPECT_THAT(d.vocabulary, ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(d.classes, d.vocabulary);
  EXPECT_EQ(d.steps, 3);
  EXPECT_EQ(d.rows, 2) << "the last token has none that follows it";
  EXPECT_THAT(d.inputs, ElementsAre(0, 1, 2, 0, 1, 3));
  EXPECT_THAT(d.targets, ElementsAre(1, 2, 0, 1, 3, 0));
  EXPECT_EQ(d.input_count(), 3);
  EXPECT_EQ(d.target_count(), 3);
  const Dataset dense = load_as("text = { unit = \"characters\", steps = 3, stride = 2 }", "abcabdab").train;
  EXPECT_THAT(dense.inputs, ElementsAre(0, 1, 2, 2, 0, 1, 1, 3, 0));
  EXPECT_EQ(load_as("text = \"characters\"\nrows = 2", std::string(1000, 'x')).train.rows, 2) << "and 64 steps";
}

TEST_F(Texts, CharactersAreThoseOfUtf8InTheOrderOfTheirCodePoints) {
  const Dataset d = load_as("text = { unit = \"characters\", steps = 1 }",
                            "\xef\xbb\xbfz\xc3\xa9\xe2\x82\xac"
                            "A\n")
                        .train;
  EXPECT_THAT(d.vocabulary, ElementsAre("\n", "A", "z", "\xc3\xa9", "\xe2\x82\xac"));
  EXPECT_THAT(d.inputs, ElementsAre(2, 3, 4, 1));
  const std::string toml = "text = { unit = \"characters\", steps = 1 }";
  EXPECT_THAT(error(toml,
                    "ab\nc\xff"
                    "d"),
              HasSubstr("line 2 has a byte that is no UTF-8 character"));
  EXPECT_THAT(error(toml,
                    "ab\xc3"
                    "d"),
              HasSubstr("no UTF-8 character"));
  EXPECT_EQ(load_as(toml, "ab\xe2\x82").train.rows, 1) << "what the end has cut is left out";
}

TEST_F(Texts, WordsEndTheirLinesAndCountByFrequency) {
  const Dataset d = load_as("text = { unit = \"words\", steps = 2 }", " the cat\tsaw the dog \n\n the cat").train;
  EXPECT_THAT(d.vocabulary, ElementsAre("<eos>", "the", "cat", "dog", "saw"));
  EXPECT_THAT(d.inputs, ElementsAre(1, 2, 4, 1, 3, 0, 0, 1));
  EXPECT_THAT(d.targets, ElementsAre(2, 4, 1, 3, 0, 0, 1, 2));
}

TEST_F(Texts, RareTokensBecomeUnknown) {
  const std::string text = "a a a a b b b c c d\n";
  const Dataset d = load_as("text = { unit = \"words\", steps = 1, vocabulary = 3 }", text).train;
  EXPECT_THAT(d.vocabulary, ElementsAre("<unk>", "a", "b"));
  EXPECT_THAT(d.inputs, ElementsAre(1, 1, 1, 1, 2, 2, 2, 0, 0, 0));
  EXPECT_THAT(
      load_as("text = { unit = \"words\", steps = 1, vocabulary = 3 }", "<unk> a a b b <unk>\n").train.vocabulary,
      ElementsAre("<unk>", "a", "b"))
      << "of the text's own";
  EXPECT_THAT(load_as("text = { unit = \"words\", vocabulary = 99, steps = 1 }", text).train.vocabulary.size(), 5);
}

TEST_F(Texts, OtherTextsHaveTheVocabularyOfTheTrainingText) {
  const std::string toml = "text = { unit = \"characters\", steps = 2 }\ntest_file = \"" + dir.path("test.txt") + "\"";
  dir.write("test.txt", "cbabc");
  const Splits s = load_as(toml, "abcabcabc");
  EXPECT_THAT(s.test.inputs, ElementsAre(2, 1, 0, 1));
  EXPECT_EQ(s.test.classes, s.train.classes);
  dir.write("test.txt", "abc\nab");
  EXPECT_THAT(error(toml, "abcabc"), HasSubstr("test.txt: line 1 has \"\\n\", which the training text has not"));
  dir.write("test.txt", "abxab");
  EXPECT_THAT(load_as("text = { unit = \"characters\", steps = 2, vocabulary = 3 }\ntest_file = \"" +
                          dir.path("test.txt") + "\"",
                      "aaabbcd")
                  .test.inputs,
              ElementsAre(1, 2, 0, 1))
      << "<unk>, a, b";
  EXPECT_THAT(load_rows(dir.write("more.txt", "abcba"), "", settings, s.train).inputs, ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(error_of([&] { load_rows(dir.write("more.txt", "ab"), "", settings, s.train); }),
              HasSubstr("has 2 tokens; a row takes 2 and the one that follows"));
}

TEST_F(Texts, PartsOfATextAreWholeStretchesAtItsEnd) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += char('0' + i / 10);
  const Splits s = load_as("text = { unit = \"characters\", steps = 3 }\nvalidation = 0.2\ntest = 0.1", text);
  const std::vector<double> train = s.train.inputs.list();
  EXPECT_EQ(*std::ranges::max_element(train), 6);
  EXPECT_THAT(s.validation.inputs.list(), testing::Contains(7));
  EXPECT_THAT(s.validation.inputs.list(), testing::Each(testing::AllOf(testing::Ge(7), testing::Le(8))));
  EXPECT_THAT(s.test.inputs.list(), testing::Each(9));
  EXPECT_EQ(s.test.rows, 3);
  EXPECT_EQ(load_as("text = { unit = \"characters\", steps = 3 }\ntest = 2", text).test.rows, 2) << "a number of rows";
  EXPECT_THAT(error("text = { unit = \"characters\", steps = 30 }\ntest = 0.8", text), HasSubstr("leaves too few"));
  EXPECT_THAT(error("text = { unit = \"characters\", steps = 200 }", text),
              HasSubstr("has 100 tokens; a row takes 200"));
}

TEST_F(Texts, TextsOfATableHaveTargets) {
  const std::string toml = "text = { unit = \"words\", column = \"sentence\", steps = 3 }\ntest_file = \"" +
                           dir.write("test.tsv", "sentence\tlabel\nbad new film\t0\n") + "\"";
  const Splits s = load_as(toml, "sentence\tlabel\ngood film\t1\na film so long , so good\t1\nbad\t0\n");
  EXPECT_THAT(s.train.vocabulary, ElementsAre("<pad>", "<unk>", "film", "good", "so", ",", "a", "bad", "long"));
  EXPECT_THAT(s.train.inputs, ElementsAre(0, 3, 2, 6, 2, 4, 0, 0, 7));
  EXPECT_THAT(s.train.classes, ElementsAre("0", "1"));
  EXPECT_THAT(s.train.targets, ElementsAre(1, 1, 0));
  EXPECT_EQ(s.train.steps, 0) << "one target a text";
  EXPECT_THAT(s.test.inputs, ElementsAre(7, 1, 2));
  EXPECT_THAT(s.test.targets, ElementsAre(0));
  const Dataset more = load_rows(dir.write("more.tsv", "sentence\tlabel\nso bad\t1\n"), "", settings, s.train);
  EXPECT_THAT(more.inputs, ElementsAre(0, 4, 7));
  EXPECT_THAT(more.targets, ElementsAre(1));
  EXPECT_THAT(error("text = { unit = \"words\", column = \"text\" }", "sentence\tlabel\ngood\t1\n"),
              HasSubstr("no column \"text\""));
}

TEST_F(Texts, WhatDoesNotGoWithTextsIsRefused) {
  const std::string text = "text = { unit = \"characters\", steps = 1 }\n";
  for (const char* more : {"derived = [\"x\"]", "standardise = \"inputs\"", "inputs = [0]", "labels_file = \"l\"",
                           "augment = \"flip\"", "classes = [1]", "shape = [1, 1, 1]"})
    EXPECT_THAT(error(text + more, "abc"), HasSubstr("does not go with data.text")) << more;
  EXPECT_THAT(error("text = \"letters\"", "abc"), HasSubstr("known: characters, words"));
  EXPECT_THAT(error("text = { unit = \"words\", steps = 0 }", "abc"), HasSubstr("a row has 1 to 2^20 tokens"));
  EXPECT_THAT(error("text = { unit = \"words\", vocabulary = 1 }", "abc"), HasSubstr("from 2 on"));
}

// The files of one's own machine, with their published numbers of tokens.
TEST_F(Texts, PublishedTexts) {
  const char* given = std::getenv("KELVIN_TEXTS");
  if (!given) GTEST_SKIP() << "set KELVIN_TEXTS to a directory with ptb.train.txt and others, plain or packed";
  const auto loaded = [&](const std::string& train, const std::string& test, const std::string& unit) {
    DataSettings s;
    s.file = given + ("/" + train);
    if (!test.empty()) s.test_file = given + ("/" + test);
    s.text.unit = unit;
    s.text.steps = 1;
    return load(s, true, 1, nullptr);
  };
  const Splits ptb = loaded("ptb.train.txt.xz", "ptb.test.txt.xz", "words");
  EXPECT_EQ(ptb.train.rows, 929589 - 1);
  EXPECT_EQ(ptb.test.rows, 82430 - 1);
  EXPECT_EQ(ptb.train.classes.size(), 10000);
  const Splits wiki = loaded("wiki.train.tokens.xz", "wiki.test.tokens.xz", "words");
  EXPECT_EQ(wiki.train.rows, 2088628 - 1);
  EXPECT_EQ(wiki.test.rows, 245569 - 1);
  EXPECT_EQ(wiki.train.classes.size(), 33278);
  EXPECT_EQ(loaded("tinyshakespeare_input.txt.xz", "", "characters").train.classes.size(), 65);
}

}  // namespace
}  // namespace kelvin
