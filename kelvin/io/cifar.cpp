// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/cifar.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t side = 32, pixels = side * side, channels = 3, image_bytes = channels * pixels;
constexpr std::size_t record_10 = 1 + image_bytes, record_100 = 2 + image_bytes;
const Shape cifar_shape = {channels, side, side};
constexpr std::string_view recoded_ending = ".bin.med";

std::string unpacked_name(std::string file) {
  for (const std::string_view ending : {".gz", ".xz"})
    if (file.ends_with(ending)) file.resize(file.size() - ending.size());
  return file;
}

// What the numbers before it foretell of number i of a plane: the median of those to the left and above and of their
// sum less the one between them (LOCO-I).
int foretold(const int* plane, std::size_t i) {
  const std::size_t row = i / side, column = i % side;
  const int above = row > 0 ? plane[i - side] : column > 0 ? plane[i - 1] : 0;
  const int left = column > 0 ? plane[i - 1] : above;
  const int between = row > 0 && column > 0 ? plane[i - side - 1] : left;
  return std::max(std::min(left, above), std::min(std::max(left, above), left + above - between));
}

Cifar parse_recoded(std::string_view bytes, const std::string& file) {
  const std::size_t n = bytes.size() / record_10;
  if (n == 0 || bytes.size() % record_10 != 0)
    throw Error("{}: has {} bytes, which is no multiple of {}; it is cut short", file, bytes.size(), record_10);
  Cifar out{.images = n, .pixels = std::vector<std::uint8_t>(n * image_bytes), .labels = {}, .fine = {}};
  out.labels.assign(bytes.begin(), bytes.begin() + long(n));
  constexpr std::size_t channel_of_plane[] = {1, 0, 2};  // G, R - G, B - G
  for (std::size_t image = 0; image < n; ++image)
    for (std::size_t k = 0; k < channels; ++k) {
      const char* coded = bytes.data() + n + (k * n + image) * pixels;
      std::uint8_t* to = out.pixels.data() + image * image_bytes;
      int plane[pixels];
      for (std::size_t i = 0; i < pixels; ++i) {
        const int green = k > 0 ? to[i * channels + 1] : 0;
        const int value = (std::uint8_t(coded[i]) + foretold(plane, i) + green) & 255;
        to[i * channels + channel_of_plane[k]] = std::uint8_t(value);
        plane[i] = value - green;
      }
    }
  return out;
}

// The lines of a file that names classes, if there is one.
std::vector<std::string> class_names(const fs::path& file) {
  if (!fs::is_regular_file(file)) return {};
  std::istringstream in(read_bytes(file.string()));
  std::vector<std::string> names;
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

Sheet labels_of(const std::vector<std::uint8_t>& labels, const std::string& file, std::string_view names_file) {
  Sheet sheet;
  sheet.file = file;
  sheet.names = {"label"};
  sheet.rows = labels.size();
  const std::vector<std::string> names = class_names(fs::path(file).parent_path() / names_file);
  if (names.empty()) {
    sheet.values = std::vector<double>(labels.begin(), labels.end());
    return sheet;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= names.size())
      throw Error("{}: image {} is of class {}, but \"{}\" names only {}; one of the two files is damaged", file, i + 1,
                  labels[i], names_file, names.size());
    sheet.texts.push_back(names[labels[i]]);
  }
  return sheet;
}

// The first of these names, with the endings of packed files, that is in the directory.
std::string found_among(const fs::path& directory, const std::string& name) {
  for (const char* ending : {".bin", ".bin.gz", ".bin.xz", ".bin.med", ".bin.med.gz", ".bin.med.xz"})
    if (fs::exists(directory / (name + ending))) return (directory / (name + ending)).string();
  return "";
}

}  // namespace

Cifar parse_cifar(std::string_view bytes, const std::string& file) {
  if (unpacked_name(file).ends_with(recoded_ending)) return parse_recoded(bytes, file);
  const std::string name = fs::path(file).filename().string();
  const bool named_100 = name.starts_with("train.bin") || name.starts_with("test.bin");
  const bool fine = named_100 || bytes.size() % record_10 != 0;
  const std::size_t record = fine ? record_100 : record_10, n = bytes.size() / record;
  if (n == 0 || bytes.size() % record != 0)
    throw Error("{}: has {} bytes, but images of CIFAR-10 take {} each and those of CIFAR-100 {}; it is cut short",
                file, bytes.size(), record_10, record_100);
  Cifar out{.images = n, .pixels = std::vector<std::uint8_t>(n * image_bytes), .labels = {}, .fine = {}};
  for (std::size_t image = 0; image < n; ++image) {
    const char* from = bytes.data() + image * record;
    out.labels.push_back(std::uint8_t(from[0]));
    if (fine) out.fine.push_back(std::uint8_t(from[1]));
    from += record - image_bytes;
    std::uint8_t* to = out.pixels.data() + image * image_bytes;
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < pixels; ++i) to[i * channels + c] = std::uint8_t(from[c * pixels + i]);
  }
  return out;
}

bool is_cifar(const std::string& file, std::string_view bytes) {
  const std::string name = unpacked_name(file);
  const bool whole = bytes.size() % record_10 == 0 || bytes.size() % record_100 == 0;
  return !bytes.empty() && (name.ends_with(recoded_ending) || (name.ends_with(".bin") && whole));
}

Source read_cifar(std::string_view bytes, const std::string& file, const DataSettings& s) {
  Cifar cifar = parse_cifar(bytes, file);
  Source source;
  source.inputs.file = file;
  source.inputs.names = column_names(image_bytes, "x");
  source.inputs.rows = cifar.images;
  source.inputs.values = InputValues(std::move(cifar.pixels), 255);
  source.inputs.shape = cifar_shape;
  const bool coarse = !cifar.fine.empty() && s.targets.size() == 1 && s.targets[0].text == "coarse";
  if (cifar.fine.empty()) source.targets = labels_of(cifar.labels, file, "batches.meta.txt");
  else if (coarse) source.targets = labels_of(cifar.labels, file, "coarse_label_names.txt");
  else source.targets = labels_of(cifar.fine, file, "fine_label_names.txt");
  source.chosen = coarse;
  return source;
}

bool is_cifar_directory(const std::string& directory) {
  return !found_among(directory, "data_batch_1").empty() || !found_among(directory, "test_batch").empty() ||
         (!found_among(directory, "train").empty() && !found_among(directory, "test").empty());
}

Sources read_cifar_directory(const std::string& directory, const DataSettings& s) {
  const auto read = [&](const std::string& name) {
    const std::string file = found_among(directory, name);
    if (file.empty())
      throw Error("the directory \"{}\" has no {}.bin; give one with all files of CIFAR-10 or CIFAR-100, or name files",
                  directory, name);
    return read_cifar(read_bytes(file), file, s);
  };
  Sources all;
  if (found_among(directory, "train").empty()) {
    for (int k = 1; k <= 5; ++k) all.train.push_back(read(fmt::format("data_batch_{}", k)));
    all.test.push_back(read("test_batch"));
  } else {
    all.train.push_back(read("train"));
    all.test.push_back(read("test"));
  }
  return all;
}

}  // namespace kelvin
