// SPDX-License-Identifier: Apache-2.0
// The wire format of protocol buffers: a message is a sequence of fields, each a key (number and kind) and a value.
// Nothing is copied, and no length is believed before so many bytes are there.
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"

namespace kelvin {

class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) : left_(bytes) {}

  // Goes to the next field; false at the end.
  bool next() {
    if (left_.empty()) return false;
    const std::uint64_t key = take_varint();
    field_ = key >> 3;
    switch (key & 7) {
      case 0:
        number_ = take_varint();
        break;
      case 1:
        value_ = take(8);
        break;
      case 2:
        value_ = take(take_varint());
        break;
      case 5:
        value_ = take(4);
        break;
      default:
        throw Error("a field has an unknown kind, {}", key & 7);
    }
    kind_ = key & 7;
    return true;
  }
  std::uint64_t field() const { return field_; }

  std::int64_t integer() const {
    if (kind_ != 0) throw Error("field {} is not a whole number", field_);
    return std::int64_t(number_);
  }
  std::string_view bytes() const {
    if (kind_ != 2) throw Error("field {} is not a list of bytes", field_);
    return value_;
  }
  WireMessage message() const { return WireMessage(bytes()); }
  float single() const {
    if (kind_ != 5) throw Error("field {} is not a float", field_);
    return number_at<float>(value_, 0, std::endian::little);
  }
  // One of several whole numbers, or some of them packed.
  void add_integers(std::vector<std::int64_t>& to) const {
    if (kind_ == 0) return to.push_back(std::int64_t(number_));
    for (WireMessage packed = message(); !packed.left_.empty();) to.push_back(std::int64_t(packed.take_varint()));
  }
  template <class Real>
  void add_numbers(std::vector<double>& to) const {
    if (kind_ == 0 || value_.size() % sizeof(Real) != 0) throw Error("field {} is no list of numbers", field_);
    for (std::size_t at = 0; at < value_.size(); at += sizeof(Real))
      to.push_back(double(number_at<Real>(value_, at, std::endian::little)));
  }

 private:
  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  std::uint64_t take_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw Error("a whole number is longer than ten bytes");
  }
  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) throw Error("it ends inside a field of {} bytes", count);
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }

  std::string_view left_, value_;
  std::uint64_t field_ = 0, kind_ = 0, number_ = 0;
};

}  // namespace kelvin
