// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/image_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"
#include "kelvin/io/picture.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;

bool has_picture_name(const fs::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// Entries in the order of their names: not every file system keeps one.
std::vector<fs::path> entries(const fs::path& directory, bool folders) {
  std::vector<fs::path> list;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (!hidden && (folders ? entry.is_directory() : entry.is_regular_file() && has_picture_name(entry.path())))
      list.push_back(entry.path());
  }
  std::ranges::sort(list);
  return list;
}

bool holds_classes(const fs::path& directory) {
  return fs::is_directory(directory) && std::ranges::any_of(entries(directory, true), [](const fs::path& folder) {
           return !entries(folder, false).empty();
         });
}

// Pictures and their labels, one after another. The first one in colour makes all so.
class ImageRows {
 public:
  void add(const fs::path& file, std::string label) {
    Picture picture = parse_picture(read_bytes(file.string()), file.string());
    if (labels_.empty()) {
      shape_ = picture.shape;
      first_ = file;
    }
    if (picture.shape[0] > shape_[0]) to_colour();
    if (picture.shape[0] < shape_[0]) picture = in_colour(std::move(picture));
    if (picture.shape != shape_)
      throw Error("\"{}\" has {} x {} pixels but \"{}\" has {} x {}; all pictures must be of one size", file.string(),
                  picture.shape[1], picture.shape[2], first_.string(), shape_[1], shape_[2]);
    pixels_.insert(pixels_.end(), picture.pixels.begin(), picture.pixels.end());
    labels_.push_back(std::move(label));
  }

  Source source(const std::string& from) && {
    if (labels_.empty())
      throw Error("\"{}\" names no picture; give PNG or JPEG files in a folder for each class", from);
    Source source;
    source.inputs.file = from;
    source.inputs.names = column_names(shape_.size(), "x");
    source.inputs.rows = labels_.size();
    source.inputs.values = InputValues(std::move(pixels_), 255);
    source.inputs.shape = shape_;
    source.targets.emplace();
    source.targets->file = from;
    source.targets->names = {"label"};
    source.targets->rows = labels_.size();
    source.targets->texts = std::move(labels_);
    return source;
  }

 private:
  void to_colour() {
    Picture all = in_colour({{1, pixels_.size(), 1}, std::move(pixels_)});
    pixels_ = std::move(all.pixels);
    shape_ = {3, shape_[1], shape_[2]};
  }

  Shape shape_;
  fs::path first_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::string> labels_;
};

Source by_folder(const fs::path& directory) {
  ImageRows rows;
  for (const fs::path& folder : entries(directory, true))
    for (const fs::path& file : entries(folder, false)) rows.add(file, folder.filename().string());
  return std::move(rows).source(directory.string());
}

// The column of such a table that names pictures; none: 2.
std::size_t picture_column(const Csv& table) {
  if (table.columns() != 2 || table.rows() == 0) return 2;
  for (const std::size_t j : {0, 1})
    if (has_picture_name(std::string(table.cell(table.rows() - 1, j)))) return j;
  return 2;
}

}  // namespace

bool is_image_list(const Csv& table) { return picture_column(table) < 2; }

Source read_image_list(const Csv& table) {
  const std::size_t files = picture_column(table);
  const fs::path directory = fs::path(table.file).parent_path();
  ImageRows rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const fs::path file = std::string(table.cell(i, files));
    if (i == 0 && !has_picture_name(file)) continue;  // the names of the columns
    rows.add(directory / file, std::string(table.cell(i, 1 - files)));
  }
  return std::move(rows).source(table.file);
}

bool is_image_folder(const std::string& directory) {
  return holds_classes(directory) || holds_classes(fs::path(directory) / "train");
}

Sources read_image_folder(const std::string& directory, const DataSettings&) {
  Sources all;
  const fs::path root = directory;
  if (!holds_classes(root / "train")) {
    all.train.push_back(by_folder(root));
    return all;
  }
  all.train.push_back(by_folder(root / "train"));
  if (holds_classes(root / "test")) all.test.push_back(by_folder(root / "test"));
  for (const char* name : {"validation", "valid", "val"})
    if (all.validation.empty() && holds_classes(root / name)) all.validation.push_back(by_folder(root / name));
  return all;
}

}  // namespace kelvin
