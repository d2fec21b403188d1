// SPDX-License-Identifier: Apache-2.0
// Feeds a target every file of its corpus, and a number of alterations of them that is the same every time, where no
// fuzzing engine is at hand:  replay_csv fuzz/corpus/csv 10000
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "kelvin/core/noise.h"

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A few random changes: a byte replaced, a piece dropped, a piece doubled, a piece of another input put in.
std::string altered(const std::vector<std::string>& corpus, std::uint64_t n) {
  const kelvin::Stream stream{kelvin::stream_key(1, "replay"), 0, n, 0};
  std::size_t drawn = 0;
  const auto below = [&](std::size_t limit) {
    return std::size_t(kelvin::below(std::uint32_t(std::max<std::size_t>(limit, 1)), stream, drawn++));
  };
  std::string text = corpus[below(corpus.size())];
  for (std::size_t change = below(4) + 1; change > 0; --change) {
    const std::string& other = corpus[below(corpus.size())];
    const std::size_t at = below(text.size() + 1), length = below(std::min<std::size_t>(text.size() - at, 64) + 1);
    switch (below(4)) {
      case 0:
        if (at < text.size()) text[at] = char(below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, other.substr(below(other.size() + 1), length + 1));
    }
  }
  return text;
}

}  // namespace

int main(int count, char** words) {
  using Clock = std::chrono::steady_clock;
  if (count != 3) return std::fprintf(stderr, "usage: %s corpus alterations\n", words[0]), 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(words[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const auto& file : files) corpus.push_back(bytes_of(file));
  if (corpus.empty()) return std::fprintf(stderr, "%s: no inputs\n", words[1]), 1;
  const std::uint64_t alterations = std::stoull(words[2]);
  for (std::uint64_t n = 0; n < corpus.size() + alterations; ++n) {
    const std::string input = n < corpus.size() ? corpus[n] : altered(corpus, n - corpus.size());
    const std::string name = n < corpus.size() ? files[n].string() : "alteration " + std::to_string(n - corpus.size());
    const auto begin = Clock::now();
    try {
      // a copy of its own size, so that a sanitizer sees every byte read beyond the end
      const std::vector<std::uint8_t> exact(input.begin(), input.end());
      LLVMFuzzerTestOneInput(exact.data(), exact.size());
    } catch (const std::exception& e) {
      return std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what()), 1;
    }
    if (std::chrono::duration<double>(Clock::now() - begin).count() > 5)  // a second, and a slow machine
      return std::fprintf(stderr, "%s: took too long\n", name.c_str()), 1;
  }
  std::printf("%zu inputs and %llu alterations\n", corpus.size(), static_cast<unsigned long long>(alterations));
}
