// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/sealed.h"

#include <charconv>

#include "kelvin/core/crc32c.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {
namespace {

// A text ends with `close`; its seal takes the place of that.
struct Seal {
  std::string_view before, after, close;
  std::size_t size() const { return before.size() + digits + after.size(); }
  static constexpr std::size_t digits = 8;
};
constexpr Seal of_files = {",\n  \"checksum\": \"", "\"\n}\n", "\n}"};
constexpr Seal of_lines = {",\"checksum\":\"", "\"}", "}"};

std::string with_seal(const Seal& seal, std::string text, std::uint32_t of, std::uint32_t& sum) {
  text.resize(text.size() - seal.close.size());
  sum = crc32c(text, of);
  return fmt::format("{}{}{:08x}{}", text, seal.before, sum, seal.after);
}

bool claimed(const Seal& seal, std::string_view text, std::uint32_t& sum) {
  if (text.size() < seal.size() || !text.ends_with(seal.after)) return false;
  const std::string_view end = text.substr(text.size() - seal.size());
  const std::string_view number = end.substr(seal.before.size(), Seal::digits);
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), sum, 16);
  return end.starts_with(seal.before) && error == std::errc() && stop == number.data() + number.size();
}

Value without_seal(const Seal& seal, std::string_view text, const std::string& file, std::uint32_t of,
                   std::uint32_t& sum) {
  if (!claimed(seal, text, sum)) throw damaged(file, "it does not end with its checksum");
  const std::string_view body = text.substr(0, text.size() - seal.size());
  if (crc32c(body, of) != sum) throw damaged(file, "its checksum does not fit");
  return parse_json(std::string(body) + std::string(seal.close), file);
}

}  // namespace

std::string sealed(const Value::Group& value, std::uint32_t of) {
  std::uint32_t sum = 0;
  return with_seal(of_files, to_json(value, 2), of, sum);
}

std::string sealed_line(const Value::Group& value, std::uint32_t of, std::uint32_t& sum) {
  return with_seal(of_lines, to_json(value), of, sum) + "\n";
}

Value unsealed(std::string_view text, const std::string& file, std::uint32_t of) {
  std::uint32_t sum = 0;
  return without_seal(of_files, text, file, of, sum);
}

Value unsealed_line(std::string_view line, const std::string& file, std::uint32_t of, std::uint32_t& sum) {
  return without_seal(of_lines, line, file, of, sum);
}

bool claimed_by_line(std::string_view line, std::uint32_t& sum) { return claimed(of_lines, line, sum); }

}  // namespace kelvin
