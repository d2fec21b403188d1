// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <numeric>

#include "kelvin/io/idx.h"
#include "kelvin/io/npy.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::StartsWith;

using Bytes = std::initializer_list<unsigned char>;
std::string bytes(Bytes list) { return {list.begin(), list.end()}; }

// ---- IDX

TEST(Idx, UnsignedBytesWithTwoDimensions) {
  const InputArray a = parse_idx(bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 1, 2, 127, 128, 255}), "f");
  EXPECT_THAT(a.shape, ElementsAre(2, 3));
  EXPECT_THAT(a.values, ElementsAre(0, 1, 2, 127, 128, 255));
}

TEST(Idx, OtherTypesAreBigEndian) {
  const auto values = [](unsigned char type, Bytes data) {
    return parse_idx(bytes({0, 0, type, 1, 0, 0, 0, 1}) + bytes(data), "f").values;
  };
  EXPECT_THAT(values(0x09, {0xfe}), ElementsAre(-2));
  EXPECT_THAT(values(0x0b, {0xff, 0x00}), ElementsAre(-256));
  EXPECT_THAT(values(0x0c, {0x00, 0x01, 0x00, 0x02}), ElementsAre(65538));
  EXPECT_THAT(values(0x0d, {0x3f, 0xc0, 0, 0}), ElementsAre(1.5));
  EXPECT_THAT(values(0x0e, {0xc0, 0x04, 0, 0, 0, 0, 0, 0}), ElementsAre(-2.5));
}

TEST(Idx, WhiteScalesUnsignedBytesOnly) {
  EXPECT_THAT(parse_idx(bytes({0, 0, 8, 1, 0, 0, 0, 2, 51, 255}), "f", 255).values, ElementsAre(51 / 255.0, 1));
  EXPECT_THAT(parse_idx(bytes({0, 0, 9, 1, 0, 0, 0, 1, 51}), "f", 255).values, ElementsAre(51));
}

TEST(Idx, CutOrLengthenedFilesAreErrorsThatNameTheFile) {
  const std::string good = bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4});
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_THAT(error_of([&] { parse_idx(good.substr(0, n), "f.idx"); }), StartsWith("f.idx: ")) << n;
  EXPECT_THAT(error_of([&] { parse_idx(good + "x", "f.idx"); }), HasSubstr("(2, 2) takes 4 bytes but the file has 5"));
  EXPECT_THAT(error_of([&] { parse_idx(bytes({0, 0, 7, 1, 0, 0, 0, 0}), "f"); }), HasSubstr("not an IDX file"));
}

TEST(Idx, ImpossibleShapesAskForNoMemory) {
  std::string huge = bytes({0, 0, 14, 3});
  huge.append(12, '\xff');
  EXPECT_THAT(error_of([&] { parse_idx(huge, "f"); }), HasSubstr("too large to be true"));
}

TEST(Idx, GzipIsReadAsIfPlain) {
  const Directory dir;
  EXPECT_THAT(read_idx(dir.write_gz("f.gz", bytes({0, 0, 8, 1, 0, 0, 0, 2, 5, 6}))).values, ElementsAre(5, 6));
}

// ---- NPY

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += {char(version), '\0', char(header.size() & 255), char(header.size() >> 8)};
  if (version > 1) out += {'\0', '\0'};
  return out + header + data;
}
std::string described(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}
template <class T>
std::string raw(std::initializer_list<T> list) {
  return {reinterpret_cast<const char*>(list.begin()), list.size() * sizeof(T)};
}
std::vector<double> one(const std::string& descr, const std::string& data) {
  return parse_npy(npy(described(descr, "(1,)"), data), "f").values.list();
}

TEST(Npy, EveryNumberType) {
  EXPECT_THAT(one("<f4", raw<float>({-1.5f})), ElementsAre(-1.5));
  EXPECT_THAT(one("<f8", raw<double>({1e300})), ElementsAre(1e300));
  EXPECT_THAT(one("|i1", raw<std::int8_t>({-7})), ElementsAre(-7));
  EXPECT_THAT(one("<i2", raw<std::int16_t>({-700})), ElementsAre(-700));
  EXPECT_THAT(one("<i4", raw<std::int32_t>({-70000})), ElementsAre(-70000));
  EXPECT_THAT(one("<i8", raw<std::int64_t>({-7000000000})), ElementsAre(-7e9));
  EXPECT_THAT(one("|u1", raw<std::uint8_t>({200})), ElementsAre(200));
  EXPECT_THAT(one("<u2", raw<std::uint16_t>({60000})), ElementsAre(60000));
  EXPECT_THAT(one("<u4", raw<std::uint32_t>({4000000000})), ElementsAre(4e9));
  EXPECT_THAT(one("<u8", raw<std::uint64_t>({1ull << 63})), ElementsAre(0x1p63));
  EXPECT_THAT(one("|b1", raw<std::uint8_t>({1})), ElementsAre(1));
  EXPECT_THAT(one(">f8", bytes({0xc0, 0x04, 0, 0, 0, 0, 0, 0})), ElementsAre(-2.5));
  EXPECT_THAT(one(">i2", bytes({0x01, 0x02})), ElementsAre(258));
}

TEST(Npy, HalfPrecisionNumbers) {
  const auto half = [](std::uint16_t bits) { return one("<f2", raw<std::uint16_t>({bits}))[0]; };
  EXPECT_EQ(half(0x3c00), 1.0);
  EXPECT_EQ(half(0xc500), -5.0);
  EXPECT_EQ(half(0x7bff), 65504.0) << "the largest";
  EXPECT_EQ(half(0x0001), 0x1p-24) << "the smallest";
  EXPECT_EQ(half(0xfc00), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(half(0x7e00)));
}

TEST(Npy, VersionsTwoAndThree) {
  for (const int version : {1, 2, 3}) {
    const InputArray a = parse_npy(npy(described("<f8", "(2, 1)"), raw<double>({3, 4}), version), "f");
    EXPECT_THAT(a.shape, ElementsAre(2, 1)) << version;
    EXPECT_THAT(a.values, ElementsAre(3, 4));
  }
}

TEST(Npy, FortranOrderIsTurnedIntoCOrder) {
  // Entry (i, j, k) holds 100 i + 10 j + k; the first index runs fastest in the file.
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += raw<double>({100.0 * i + 10 * j + k});
  const InputArray a = parse_npy(npy(described("<f8", "(2, 3, 4)", "True"), data), "f");
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(100 * i + 10 * j + k);
  EXPECT_THAT(a.values, ElementsAreArray(expected));
}

TEST(Npy, ScalarsAndEmptyArrays) {
  EXPECT_THAT(parse_npy(npy(described("<f8", "()"), raw<double>({3})), "f").values, ElementsAre(3));
  EXPECT_TRUE(parse_npy(npy(described("<f8", "(0, 7)"), ""), "f").values.empty());
  EXPECT_TRUE(parse_npy(npy(described("<f8", "(7, 0)", "True"), ""), "f").values.empty());
}

TEST(Npy, HostileHeadersAreErrors) {
  const auto message = [](const std::string& header, const std::string& data = "") {
    return error_of([&] { parse_npy(npy(header, data), "f.npy"); });
  };
  EXPECT_THAT(message(described("<f8", "(4611686018427387904,)")), HasSubstr("too large to be true"));
  EXPECT_THAT(message(described("<f8", "(4294967296, 4294967296, 4294967296)")), HasSubstr("too large to be true"));
  EXPECT_THAT(message(described("<f8", "(99999999999999999999999,)")), HasSubstr("too large to be true"));
  EXPECT_THAT(message(described("<f8", "(1000000000,)")), HasSubstr("takes 8000000000 bytes but the file has 0"));
  EXPECT_THAT(message(described("<f8", "(1,)"), raw<double>({1, 2})), HasSubstr("too long"));
  EXPECT_THAT(message(described("<f8", "(-1,)")), HasSubstr("the NPY header is not"));
  EXPECT_THAT(message(described("|O", "(1,)")), HasSubstr("type \"|O\" cannot be read; known types: f2, f4"));
  EXPECT_THAT(message(described("<U3", "(1,)")), HasSubstr("type \"<U3\""));
  EXPECT_THAT(message("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}"), HasSubstr("records"));
  for (const char* header : {"", "{", "{}", "{'descr': '<f8'}", "{'descr'", "{'descr': '<f8", "nonsense",
                             "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (1"})
    EXPECT_THAT(message(header), HasSubstr("f.npy: the NPY header is not")) << header;
  EXPECT_THAT(error_of([&] { parse_npy(npy(described("<f8", "()"), "", 4), "f"); }), HasSubstr("version 4"));
}

TEST(Npy, CutAtEveryLengthIsAnError) {
  for (const int version : {1, 2}) {
    const std::string good = npy(described("<f4", "(3,)"), raw<float>({1, 2, 3}), version);
    for (std::size_t n = 0; n < good.size(); ++n)
      EXPECT_THAT(error_of([&] { parse_npy(good.substr(0, n), "f.npy"); }), StartsWith("f.npy: ")) << n;
  }
}

TEST(Npy, WhatIsWrittenIsReadBackAndAligned) {
  const Directory dir;
  const std::vector<float> values = {1.25f, -3, 1e-30f, 7, 0.1f, 5};
  write_npy<float>(dir.path("f.npy"), {{2, 3}, values});
  const Array back = read_npy(dir.path("f.npy"));
  EXPECT_THAT(back.shape, ElementsAre(2, 3));
  EXPECT_THAT(back.values, ElementsAreArray(values));
  EXPECT_EQ((bytes_of(dir.path("f.npy")).size() - 6 * sizeof(float)) % 64, 0) << "NumPy aligns the numbers so";
  const std::vector<double> scalar = {0.1};
  write_npy<double>(dir.path("s.npy"), {{}, scalar});
  EXPECT_TRUE(read_npy(dir.path("s.npy")).shape.empty());
  EXPECT_THAT(read_npy(dir.path("s.npy")).values, ElementsAre(0.1));
  EXPECT_THAT(error_of([&] { write_npy<double>(dir.path("x"), {{2}, scalar}); }), HasSubstr("cannot have the shape"));
  EXPECT_THAT(error_of([&] { write_npy<double>("no/such/x.npy", {{}, scalar}); }), HasSubstr("cannot write"));
}

// ---- NPZ

TEST(Npz, RoundTripKeepsNamesShapesAndBits) {
  const Directory dir;
  const std::vector<double> w = {0.1, 1e-300, -3, 4, 5, 6}, b = {7};
  const std::vector<float> f = {0.1f, 2};
  write_npz<double>(dir.path("d.npz"), {{"layer1.weight", {{3, 2}, w}}, {"layer1.bias", {{1}, b}}});
  write_npz<float>(dir.path("f.npz"), {{"a", {{2}, f}}});
  const auto doubles = read_npz(dir.path("d.npz")), floats = read_npz(dir.path("f.npz"));
  ASSERT_EQ(doubles.size(), 2);
  EXPECT_THAT(doubles.at("layer1.weight").shape, ElementsAre(3, 2));
  EXPECT_THAT(doubles.at("layer1.weight").values, ElementsAreArray(w));
  EXPECT_THAT(doubles.at("layer1.bias").values, ElementsAreArray(b));
  EXPECT_THAT(floats.at("a").values, ElementsAreArray(f));
}

TEST(Npz, EqualArraysGiveEqualBytes) {
  const Directory dir;
  const std::vector<double> w = {1, 2};
  for (const char* name : {"1.npz", "2.npz"}) write_npz<double>(dir.path(name), {{"w", {{2}, w}}});
  const std::string first = bytes_of(dir.path("1.npz"));
  EXPECT_EQ(first, bytes_of(dir.path("2.npz")));
  EXPECT_EQ(first.substr(10, 4), bytes({0, 0, 33, 0})) << "the time in the archive is fixed, not the clock's";
}

TEST(Npz, CutAtEveryLengthOrDamagedAnywhereIsAnErrorNotACrash) {
  const Directory dir;
  const std::vector<double> w = {1, 2, 3};
  write_npz<double>(dir.path("w.npz"), {{"w", {{3}, w}}});
  const std::string good = bytes_of(dir.path("w.npz"));
  ASSERT_THAT(parse_npz(good, "w.npz").at("w").values, ElementsAreArray(w));
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_THAT(error_of([&] { parse_npz(good.substr(0, n), "w.npz"); }), StartsWith("w.npz")) << n;
  for (std::size_t n = 0; n < good.size(); ++n)
    for (const int flip : {1, 128, 255}) {
      std::string bad = good;
      bad[n] = char(bad[n] ^ flip);
      try {  // harmless fields exist (times, versions), but no damage may change the numbers
        for (const auto& [name, array] : parse_npz(bad, "w.npz")) EXPECT_THAT(array.values, ElementsAreArray(w)) << n;
      } catch (const Error& e) {
        EXPECT_THAT(e.what(), StartsWith("w.npz"));
      }
    }
}

TEST(Npz, WritingErrorsAreReported) {
  const std::vector<double> w = {1};
  EXPECT_THAT(error_of([&] { write_npz<double>("no/such/w.npz", {{"w", {{1}, w}}}); }), HasSubstr("cannot write"));
  EXPECT_THAT(error_of([&] { write_npz<double>("w.npz", {}); }), HasSubstr("at least one array"));
}

}  // namespace
}  // namespace kelvin
