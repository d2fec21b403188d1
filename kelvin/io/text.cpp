// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"
#include "kelvin/io/rows.h"

namespace kelvin {
namespace {

using Text = std::pair<std::string, std::string>;  // the name of its file, and itself
using EachToken = std::function<void(std::string_view token, std::size_t at)>;

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + std::size_t(std::count(text.begin(), text.begin() + long(at), '\n'));
}

// Bytes of a character of UTF-8, by its first; 0: none begins so.
std::size_t length_of_character(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

// A mark of the order of bytes is no character, nor is what is left of one that the end has cut.
void each_character(std::string_view text, const std::string& file, const EachToken& visit) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (at < text.size()) {
    const std::size_t length = length_of_character(static_cast<unsigned char>(text[at]));
    const std::string_view token = text.substr(at, length);
    const bool continued = std::all_of(token.begin() + (length > 0), token.end(),
                                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; });
    if (length == 0 || !continued)
      throw Error("{}: line {} has a byte that is no UTF-8 character; save the text as UTF-8", file, line_of(text, at));
    if (token.size() == length) visit(token, at);
    at += length;
  }
}

// Words stand between blanks; every line ends with <eos>.
void each_word(std::string_view text, const std::string&, const EachToken& visit) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; };
  bool open = false;  // a line without its end
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') visit(line_end_token, at);
    open = text[at] != '\n' && (open || !blank(text[at]));
    if (text[at] == '\n' || blank(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begins = at;
    while (at < text.size() && text[at] != '\n' && !blank(text[at])) ++at;
    visit(text.substr(begins, at - begins), begins);
  }
  if (open) visit(line_end_token, text.size());
}

constexpr TokenUnit token_units[] = {{"characters", each_character, false}, {"words", each_word, true}};

void check(const TextSettings& s) {
  if (s.steps < 1 || s.steps > 1 << 20) throw Error("data.text.steps is {}; a row has 1 to 2^20 tokens", s.steps);
  if (s.stride < 0) throw Error("data.text.stride is {}; give a number of tokens, or 0 for as many as steps", s.stride);
  if (s.vocabulary < 0 || s.vocabulary == 1)
    throw Error("data.text.vocabulary is {}; give a number of tokens from 2 on, or 0 for all", s.vocabulary);
}

void refuse_for_texts(const DataSettings& s) {
  const auto refuse = [](bool given, std::string_view key) {
    if (given)
      throw Error("data.{} does not go with data.text: the rows of a text are made of its tokens; leave it out", key);
  };
  refuse(s.generator.given(), "generator");
  refuse(!s.derived.empty(), "derived");
  refuse(s.standardise != "none", "standardise");
  refuse(!s.shape.empty(), "shape");
  refuse(!s.augment.empty(), "augment");
  if (!s.text.column.empty()) return;
  refuse(!s.labels_file.empty(), "labels_file");
  refuse(!s.validation_labels_file.empty(), "validation_labels_file");
  refuse(!s.test_labels_file.empty(), "test_labels_file");
  refuse(!s.inputs.empty(), "inputs");
  refuse(!s.targets.empty(), "targets");
  refuse(!s.classes.empty(), "classes");
}

std::vector<Text> read_texts(const Files& files) {
  std::vector<Text> texts;
  for (const std::string& file : files.names)
    if (!file.empty()) texts.emplace_back(file, read_bytes(file));
  return texts;
}

std::vector<std::uint32_t> numbers_of(const std::vector<Text>& texts, const TextSettings& s, const Vocabulary& all) {
  std::vector<std::uint32_t> numbers;
  for (const auto& [file, text] : texts) {
    const auto more = numbers_of(text, file, s, all);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return numbers;
}

// Token numbers as the inputs of rows: in bytes, if there are few.
InputValues token_values(const std::vector<std::uint32_t>& tokens, std::size_t vocabulary) {
  if (vocabulary <= 256) return InputValues(std::vector<std::uint8_t>(tokens.begin(), tokens.end()), 1);
  return std::vector<double>(tokens.begin(), tokens.end());
}

// Tokens at the end of a text that a share of it, or a number of rows, is.
std::size_t stretch(double wanted, std::size_t tokens, const TextSettings& s, std::string_view key) {
  if (!(wanted >= 0) || (wanted >= 1 && wanted != std::floor(wanted)) || wanted > 0x1p40)
    throw Error("{} = {}: it must be a share in [0, 1) of the text, or a whole number of rows", key, wanted);
  if (wanted == 0) return 0;
  const std::size_t steps = std::size_t(s.steps);
  const std::size_t count =
      wanted >= 1 ? std::size_t(wanted) * steps + 1 : std::size_t(std::llround(wanted * double(tokens)));
  return std::max(count, steps + 1);
}

}  // namespace

const TokenUnit& token_unit(const TextSettings& s) {
  return row_named(s.unit, std::span<const TokenUnit>(token_units), "data.text.unit");
}

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  for (std::size_t k = 0; k < tokens_.size(); ++k) numbers_.emplace(tokens_[k], std::uint32_t(k));
  if (const auto at = numbers_.find(unknown_token); at != numbers_.end()) unknown_ = at->second;
}

long Vocabulary::number(std::string_view token) const {
  const auto at = numbers_.find(token);
  return at == numbers_.end() ? unknown_ : long(at->second);
}

Vocabulary vocabulary_of(const std::vector<Text>& texts, const TextSettings& s,
                         const std::vector<std::string_view>& first) {
  check(s);
  const TokenUnit& unit = token_unit(s);
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const auto& [file, text] : texts)
    unit.each(text, file, [&](std::string_view token, std::size_t) { ++counts[token]; });
  std::vector<std::pair<std::string_view, std::size_t>> found(counts.begin(), counts.end());
  const bool lines = first.empty();
  std::erase_if(found, [&](const auto& entry) {
    return std::ranges::count(first, entry.first) > 0 || (!lines && entry.first == line_end_token);
  });
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> tokens(first.begin(), first.end());
  const std::size_t most = std::size_t(s.vocabulary);
  if (most > 0 && tokens.size() + found.size() > most) {
    const auto unknown = [](const auto& entry) { return entry.first == unknown_token; };
    const bool known = std::ranges::count(first, unknown_token) > 0;
    std::erase_if(found, unknown);
    if (!known) tokens.emplace_back(unknown_token);
    found.resize(most > tokens.size() ? most - tokens.size() : 0);
  }
  if (!unit.by_frequency) std::ranges::sort(found);
  for (const auto& [token, count] : found) tokens.emplace_back(token);
  return Vocabulary(std::move(tokens));
}

std::vector<std::uint32_t> numbers_of(std::string_view text, const std::string& file, const TextSettings& s,
                                      const Vocabulary& vocabulary) {
  std::vector<std::uint32_t> numbers;
  token_unit(s).each(text, file, [&](std::string_view token, std::size_t at) {
    const long number = vocabulary.number(token);
    if (number < 0)
      throw Error(
          "{}: line {} has \"{}\", which the training text has not; leave it out, or limit data.text.vocabulary, so "
          "that there is <unk>",
          file, line_of(text, at), token == "\n" ? "\\n" : token);
    numbers.push_back(std::uint32_t(number));
  });
  return numbers;
}

Dataset rows_of_text(std::span<const std::uint32_t> tokens, const TextSettings& s, long stride,
                     const Vocabulary& vocabulary) {
  const std::size_t steps = std::size_t(s.steps), apart = std::size_t(stride);
  Dataset data;
  data.rows = tokens.size() > steps ? (tokens.size() - steps - 1) / apart + 1 : 0;
  data.input_names = column_names(steps, "x");
  data.target_names = column_names(steps, "y");
  data.vocabulary = data.classes = vocabulary.tokens();
  data.steps = steps;
  std::vector<std::uint32_t> inputs;
  inputs.reserve(data.rows * steps);
  data.targets.reserve(data.rows * steps);
  for (std::size_t row = 0; row < data.rows; ++row) {
    const auto begin = tokens.begin() + long(row * apart);
    inputs.insert(inputs.end(), begin, begin + long(steps));
    data.targets.insert(data.targets.end(), begin + 1, begin + long(steps) + 1);
  }
  data.inputs = token_values(inputs, data.vocabulary.size());
  return data;
}

// Validation and test rows are stretches at the end of the text, unless they have files of their own. The vocabulary is
// that of the whole file.
Splits load_text(const DataSettings& s) {
  refuse_for_texts(s);
  const std::vector<Text> texts = read_texts(s.file);
  const Vocabulary vocabulary = vocabulary_of(texts, s.text, {});
  const std::vector<std::uint32_t> all = numbers_of(texts, s.text, vocabulary);
  const std::size_t v = stretch(s.validation, all.size(), s.text, "validation"),
                    t = stretch(s.test, all.size(), s.text, "test"), steps = std::size_t(s.text.steps);
  if (v + t + steps + 1 > all.size())
    throw Error(
        "{}: has {} tokens; a row takes {} and the one that follows, which leaves too few for training after "
        "validation = {} and test = {}",
        s.file.text(), all.size(), steps, s.validation, s.test);
  const auto other = [&](const Files& files, double share, std::string_view key, std::size_t first, std::size_t count) {
    if (!files.empty() && share != 0)
      throw Error("{} = {} asks for a part of the text, but {}_file is given; leave one out", key, share, key);
    if (files.empty()) return rows_of_text(std::span(all).subspan(first, count), s.text, s.text.steps, vocabulary);
    return rows_of_text(numbers_of(read_texts(files), s.text, vocabulary), s.text, s.text.steps, vocabulary);
  };
  const std::size_t n = all.size() - v - t;
  Splits splits;
  splits.train =
      rows_of_text(std::span(all).first(n), s.text, s.text.stride ? s.text.stride : s.text.steps, vocabulary);
  splits.validation = other(s.validation_file, s.validation, "validation", n, v);
  splits.test = other(s.test_file, s.test, "test", n + v, t);
  if (s.rows > 0 && std::size_t(s.rows) < splits.train.rows) {
    splits.train.rows = std::size_t(s.rows);
    splits.train.inputs.keep_first(splits.train.rows * steps);
    splits.train.targets.resize(splits.train.rows * steps);
  }
  return splits;
}

Dataset load_text_rows(const std::string& file, const DataSettings& s, const Dataset& like) {
  const Vocabulary vocabulary(like.vocabulary);
  const std::vector<std::uint32_t> tokens = numbers_of(read_bytes(file), file, s.text, vocabulary);
  if (tokens.size() <= std::size_t(s.text.steps))
    throw Error("{}: has {} tokens; a row takes {} and the one that follows", file, tokens.size(), s.text.steps);
  return rows_of_text(tokens, s.text, s.text.steps, vocabulary);
}

// ---- texts with a target

void tokenise(Source& source, const DataSettings& s, const Vocabulary& vocabulary) {
  Sheet& table = source.inputs;
  if (!table.csv) throw Error("{}: data.text.column needs a table of texts (CSV)", table.file);
  const std::size_t column = columns({{s.text.column}}, table)[0], steps = std::size_t(s.text.steps);
  Columns others = s.targets.empty() ? all_but({column}, table) : columns(s.targets, table);
  if (!source.targets && !others.empty()) {
    Sheet& y = source.targets.emplace();
    y.file = table.file;
    y.names = {table.names[others.back()]};
    y.rows = table.rows;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < table.rows; ++i) {
      const std::string_view cell = table.csv->cell(i, others.back());
      if (const auto x = as_number(cell); x && std::isfinite(*x)) numbers.push_back(*x);
      y.texts.emplace_back(cell);
    }
    if (numbers.size() == table.rows) {
      y.texts.clear();
      y.values = std::move(numbers);
    }
  }
  std::vector<std::uint32_t> tokens(table.rows * steps, 0);  // <pad>
  for (std::size_t i = 0; i < table.rows; ++i) {
    std::vector<std::uint32_t> row = numbers_of(table.csv->cell(i, column), table.file, s.text, vocabulary);
    if (token_unit(s.text).by_frequency && !row.empty()) row.pop_back();  // a cell is no line
    row.resize(std::min(row.size(), steps));
    std::ranges::copy(row, tokens.begin() + long((i + 1) * steps - row.size()));
  }
  table.names = column_names(steps, "x");
  table.names_given = false;
  table.values = token_values(tokens, vocabulary.tokens().size());
  table.csv.reset();
  source.chosen = true;
}

std::vector<std::string> tokenise(Sources& sources, const DataSettings& s) {
  refuse_for_texts(s);
  std::vector<Text> texts;
  for (const Source& source : sources.train) {
    const Sheet& table = source.inputs;
    if (!table.csv) throw Error("{}: data.text.column needs a table of texts (CSV)", table.file);
    const std::size_t column = columns({{s.text.column}}, table)[0];
    std::string& all = texts.emplace_back(table.file, "").second;
    for (std::size_t i = 0; i < table.rows; ++i) all.append(table.csv->cell(i, column)).append(" ");
  }
  const Vocabulary vocabulary = vocabulary_of(texts, s.text, {padding_token, unknown_token});
  for (auto* list : {&sources.train, &sources.validation, &sources.test})
    for (Source& source : *list) tokenise(source, s, vocabulary);
  return vocabulary.tokens();
}

}  // namespace kelvin
