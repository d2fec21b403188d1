// SPDX-License-Identifier: Apache-2.0
// A hierarchy of zarr groups and arrays on the disk. What a file tells of a group or an array is also an entry of
// .zmetadata, which xarray reads in one go.
#pragma once
#include "kelvin/data/dataset.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {

std::string bytes_of_numbers(const ZarrType&, const std::vector<double>&);

class ZarrTree {
 public:
  explicit ZarrTree(std::filesystem::path root) : root_(std::move(root)) {}
  const std::filesystem::path& root() const { return root_; }
  bool has_group(const std::string& name) const { return told_.contains(name + "/.zgroup"); }
  bool has_array(const std::string& name) const { return told_.contains(name + "/.zarray"); }
  // Of the files that stay as they are, by their names in the tree.
  const std::map<std::string, FileSum>& sums() const { return sums_; }

  void group(const std::string& name, const Value& attributes);  // "" is the root
  void describe(const std::string& array, const ZarrAbout&);
  void describe_growing(const std::string& array, const ZarrAbout&);  // its length will change
  void lengthen(const std::string& array, std::size_t dimension, std::uint64_t length);
  void consolidate();  // .zmetadata

  // Arrays of one chunk.
  void write(const std::string& array, std::string_view type, const std::vector<std::size_t>& shape,
             const std::vector<std::string>& dimensions, const std::string& bytes);
  void write_numbers(const std::string& array, std::string_view type, const std::vector<std::size_t>& shape,
                     const std::vector<std::string>& dimensions, const std::vector<double>&);
  // Rows as doubles, in original units, in chunks of some rows: there may be many, and they may lie in bytes.
  void write_rows(const std::string& array, const InputValues& stored, const Units&, std::size_t columns,
                  const std::vector<std::string>& dimensions);
  void write_names(const std::string& coordinate, const std::vector<std::string>&);  // texts, four bytes a letter
  // One of many chunks, written with others when these are published.
  void write_with(PendingFiles&, const std::filesystem::path& chunk, std::string_view packed);

 private:
  void tell(const std::string& file, Value about);
  void keep(const std::filesystem::path&, std::string_view bytes);

  std::filesystem::path root_;
  Value::Group told_;  // all .zgroup, .zattrs and .zarray, by name
  std::map<std::string, FileSum> sums_;
};

}  // namespace kelvin
