// SPDX-License-Identifier: Apache-2.0
// Texts as rows of tokens: those of a language model, whose targets are the tokens that come next, and texts that each
// have a target.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kelvin/io/sheet.h"

namespace kelvin {

inline constexpr std::string_view unknown_token = "<unk>", line_end_token = "<eos>", padding_token = "<pad>";

// What makes a token of a text: a row of the table in text.cpp.
struct TokenUnit {
  std::string_view name;
  void (*each)(std::string_view text, const std::string& file,
               const std::function<void(std::string_view token, std::size_t at)>&);
  bool by_frequency;  // order of the vocabulary; else by code points
};
const TokenUnit& token_unit(const TextSettings&);

class Vocabulary {
 public:
  explicit Vocabulary(std::vector<std::string> tokens);
  Vocabulary(Vocabulary&&) = default;  // the views in numbers_ are of tokens_
  const std::vector<std::string>& tokens() const { return tokens_; }
  // The number of a token, or of <unk>; -1 if there is neither.
  long number(std::string_view token) const;

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  long unknown_ = -1;
};

// The tokens of these texts, each with its file's name; `first` come first, whether they occur or not.
Vocabulary vocabulary_of(const std::vector<std::pair<std::string, std::string>>& texts, const TextSettings&,
                         const std::vector<std::string_view>& first);

// Numbers of the tokens of a text. One that the vocabulary has not is refused with its place.
std::vector<std::uint32_t> numbers_of(std::string_view text, const std::string& file, const TextSettings&,
                                      const Vocabulary&);

// Rows of `steps` tokens, one every `stride`, each with the tokens one further as its targets.
Dataset rows_of_text(std::span<const std::uint32_t> tokens, const TextSettings&, long stride, const Vocabulary&);

Splits load_text(const DataSettings&);
Dataset load_text_rows(const std::string& file, const DataSettings&, const Dataset& like);

// Turns tables with a column of texts into rows of tokens; returns the vocabulary, that of the training texts.
std::vector<std::string> tokenise(Sources&, const DataSettings&);
void tokenise(Source&, const DataSettings&, const Vocabulary&);

}  // namespace kelvin
