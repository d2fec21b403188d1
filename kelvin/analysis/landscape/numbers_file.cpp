// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/landscape/numbers_file.h"

#include <fmt/format.h>

#include <map>

#include "kelvin/io/npy.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace fs = std::filesystem;

std::string numbers_file_for(const Samples& samples, const NumbersFile& asked, const std::string& name) {
  if (asked.name.empty()) {
    make_directories(samples.run / "analysis");
    return (samples.run / "analysis" / (name + ".csv")).string();
  }
  if (!asked.name.ends_with(".csv") && !asked.name.ends_with(".npz"))
    throw Error("--out \"{}\" must end in .csv or .npz", asked.name);
  if (!asked.force && fs::exists(asked.name)) throw Error("\"{}\" exists already; replace it with --force", asked.name);
  if (const fs::path in = fs::path(asked.name).parent_path(); !in.empty() && !fs::is_directory(in))
    throw Error("\"{}\" cannot be written: there is no directory \"{}\"", asked.name, in.string());
  return asked.name;
}

void write_columns(const std::string& file, const std::vector<NumberColumn>& columns) {
  if (file.ends_with(".npz")) {
    std::map<std::string, ArrayView<double>> arrays;
    for (const NumberColumn& c : columns) arrays[c.name] = {c.shape, c.array.empty() ? c.each_row : c.array};
    const std::string part = file + ".part";
    write_npz(part, arrays);
    return fs::rename(part, file);
  }
  std::string text;
  for (const NumberColumn& c : columns) {
    const char* quote = c.name.find(',') == std::string::npos ? "" : "\"";
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", quote, c.name, quote);
  }
  for (std::size_t k = 0; k < columns.front().each_row.size(); ++k)
    for (std::size_t c = 0; c < columns.size(); ++c)
      text += fmt::format("{}{}", c ? "," : "\n", columns[c].each_row[k]);
  write_file(file, text + "\n");
}

}  // namespace kelvin
