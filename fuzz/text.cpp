// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/text.h"

#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  if (size == 0) return 0;
  return survives([&] {
    TextSettings settings;
    settings.unit = data[0] & 1 ? "characters" : "words";
    settings.vocabulary = data[0] >> 1 == 1 ? 0 : data[0] >> 1;
    settings.steps = 3;
    const std::string text(text_of(data + 1, size - 1));
    const Vocabulary vocabulary = vocabulary_of({{"f.txt", text}}, settings, {});
    const auto tokens = numbers_of(text, "f.txt", settings, vocabulary);
    for (const std::uint32_t token : tokens) must(token < vocabulary.tokens().size());
    must(tokens.size() <= size);
    const Dataset rows = rows_of_text(tokens, settings, 2, vocabulary);
    must(rows.inputs.size() == rows.rows * 3 && rows.targets.size() == rows.inputs.size());
  });
}
