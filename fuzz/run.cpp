// SPDX-License-Identifier: Apache-2.0
// Files of a run. The first byte says which; the checksum that the file must end with is made to fit, so that what lies
// behind it is reached.
#include "fuzz/target.h"
#include "kelvin/core/crc32c.h"
#include "kelvin/trajectory/checkpoint.h"
#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/sealed.h"

namespace {

using namespace kelvin;

std::string with_checksum(std::string_view body) {
  return fmt::format("{},\n  \"checksum\": \"{:08x}\"\n}}\n", body, crc32c(body));
}

void read_record_of(std::string_view body) {
  RunRecord record;
  read_recorded(record, unsealed(with_checksum(body), "run.json"), "");
  must(identity_of(record) == identity_of(record));
}

void read_manifest_of(std::string_view body) {
  const Manifest manifest = parse_manifest(with_checksum(body), "manifest.json");
  must(parse_manifest(manifest_bytes(manifest), "manifest.json").draws == manifest.draws);
}

void read_line_of(std::string_view body) {
  std::uint32_t sum = 0;
  const std::string line = fmt::format("{},\"checksum\":\"{:08x}\"}}", body, crc32c(body));
  LogLine read;
  read_recorded(read, unsealed_line(line, "log.jsonl", 0, sum), "");
  must(sum == crc32c(body));
}

void read_checkpoint_of(std::string_view body) {
  std::string bytes(body);
  const std::uint32_t sum = checksum(bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  unpacked_checkpoint(bytes, "run", 0);
}

constexpr void (*readers[])(std::string_view) = {read_record_of, read_manifest_of, read_line_of, read_checkpoint_of};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  return survives([&] { readers[data[0] % std::size(readers)](text_of(data + 1, size - 1)); });
}
