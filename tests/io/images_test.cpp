// SPDX-License-Identifier: Apache-2.0
#include <jpeglib.h>

#include <cstdlib>
#include <numeric>

#include "kelvin/core/settings.h"
#include "kelvin/core/toml.h"
#include "kelvin/io/bytes.h"
#include "kelvin/io/cifar.h"
#include "kelvin/io/load.h"
#include "kelvin/io/npy.h"
#include "kelvin/io/picture.h"
#include "tests/files.h"
#include "tests/png_of.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Images : testing::Test {
  Directory dir;
  Splits load_as(const std::string& toml, const std::string& file, bool wants_classes = true) {
    DataSettings s;
    read(s, parse_toml(toml, "run.toml"), "data");
    s.file = dir.path(file);
    settings = s;
    return load(s, wants_classes, 1, [&](std::string_view r) { remarks.emplace_back(r); });
  }
  std::string error(const std::string& toml, const std::string& file) {
    return error_of([&] { load_as(toml, file); });
  }
  DataSettings settings;
  std::vector<std::string> remarks;
};

std::string as_text(const std::vector<unsigned char>& bytes) { return {bytes.begin(), bytes.end()}; }

// ---- shapes

std::string idx(std::initializer_list<unsigned char> extents, const std::string& numbers) {
  std::string s = {0, 0, 8, char(extents.size())};
  for (const unsigned char n : extents) s += {0, 0, 0, char(n)};
  return s + numbers;
}

TEST_F(Images, ArraysOfThreeAndFourDimensionsAreImages) {
  dir.write("l", idx({2}, {0, 1}));
  const std::string labels = "labels_file = \"" + dir.path("l") + "\"\n";
  dir.write("grey", idx({2, 1, 2}, {1, 2, 3, 4}));
  const Dataset grey = load_as(labels, "grey").train;
  EXPECT_EQ(grey.shape, (Shape{1, 1, 2}));
  EXPECT_TRUE(grey.inputs.bytes()) << "bytes stay bytes";
  const std::string numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // two images of 3 channels, 1 x 2
  dir.write("first", idx({2, 3, 1, 2}, numbers));
  const Dataset first = load_as(labels, "first").train;
  EXPECT_EQ(first.shape, (Shape{3, 1, 2}));
  EXPECT_EQ(first.inputs[1], 2 / 255.0) << "the second channel of the first pixel";
  EXPECT_EQ(first.inputs[6 + 3], 7 / 255.0);
  dir.write("last", idx({2, 1, 2, 3}, numbers));
  const Dataset last = load_as(labels + "layout = \"channels_last\"", "last").train;
  EXPECT_EQ(last.shape, (Shape{3, 1, 2}));
  EXPECT_EQ(last.inputs[1], 1 / 255.0);
  EXPECT_THAT(error(labels + "layout = \"sideways\"", "first"), HasSubstr("known: channels_first, channels_last"));
  std::vector<double> doubles(12);
  std::iota(doubles.begin(), doubles.end(), 0);
  const std::vector<double> y = {0, 1};
  write_npz<double>(dir.path("d.npz"), {{"x", {{2, 3, 1, 2}, doubles}}, {"y", {{2}, y}}});
  const Dataset npz = load_as("", "d.npz").train;
  EXPECT_EQ(npz.shape, (Shape{3, 1, 2}));
  EXPECT_THAT(npz.inputs, ElementsAre(0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11));
}

TEST_F(Images, FlatRowsAreGivenAShape) {
  dir.write("d.csv", "r1,r2,g1,g2,b1,b2,label\n1,2,3,4,5,6,0\n11,12,13,14,15,16,1\n");
  const Splits s = load_as("shape = [3, 1, 2]", "d.csv");
  EXPECT_EQ(s.train.shape, (Shape{3, 1, 2}));
  EXPECT_THAT(s.train.inputs, ElementsAre(1, 3, 5, 2, 4, 6, 11, 13, 15, 12, 14, 16));
  EXPECT_THAT(s.train.input_names, ElementsAre("r1", "g1", "b1", "r2", "g2", "b2")) << "names go with their numbers";
  // The same rows from another file, with names, without them, and without labels.
  for (const char* text : {"r1,r2,g1,g2,b1,b2,label\n1,2,3,4,5,6,0\n", "1,2,3,4,5,6,0\n", "1,2,3,4,5,6\n"}) {
    const Dataset rows = load_rows(dir.write("other.csv", text), "", settings, s.train);
    EXPECT_THAT(rows.inputs, ElementsAre(1, 3, 5, 2, 4, 6)) << text;
    EXPECT_EQ(rows.shape, s.train.shape);
  }
  EXPECT_THAT(error_of([&] { load_rows(dir.write("other.csv", "1,2,3\n"), "", settings, s.train); }),
              HasSubstr("its rows are 3 numbers, but the run's images are 3 x 1 x 2"));
  EXPECT_THAT(load_as("shape = [3, 1, 2]\nlayout = \"channels_last\"", "d.csv").train.inputs,
              ElementsAre(1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16));
  EXPECT_THAT(error("shape = [3, 2, 2]", "d.csv"), HasSubstr("does not fit rows of 6 numbers"));
  EXPECT_THAT(error("shape = [6]", "d.csv"), HasSubstr("must be [channels, height, width]"));
  EXPECT_THAT(error("shape = [3, 1, 2]\nderived = [\"r1^2\"]", "d.csv"), HasSubstr("does not go with data.derived"));
  EXPECT_EQ(load_as("inputs = [\"r1\"]", "d.csv").train.shape.rank(), 0);
}

TEST_F(Images, ChannelsAreStandardised) {
  dir.write("l", idx({2}, {0, 1}));
  dir.write("i", idx({2, 2, 1, 2}, {0, 2, 5, 5, 4, 6, 5, 5}));
  const std::string labels = "labels_file = \"" + dir.path("l") + "\"\n";
  const Dataset d = load_as(labels + "standardise = \"inputs\"", "i").train;
  EXPECT_TRUE(d.inputs.bytes());
  ASSERT_EQ(d.input_units.mean.size(), 4) << "of every column, alike in a channel";
  EXPECT_NEAR(d.input_units.mean[0], 3 / 255.0, 1e-15);
  EXPECT_EQ(d.input_units.mean[2], d.input_units.mean[0]);
  EXPECT_NEAR(d.input_units.scale[0], std::sqrt(5) / 255, 1e-15);
  EXPECT_EQ(d.input_units.scale[1], 1) << "a constant channel is only shifted";
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("1 of 2 channels are constant over the training rows")));
  EXPECT_NEAR(d.inputs[0], -3 / std::sqrt(5), 1e-12);
  EXPECT_EQ(d.inputs[1], 0);
  const Dataset given = load_as(labels + "channel_means = [0.5, 0]\nchannel_deviations = [2, 4]", "i").train;
  EXPECT_NEAR(given.inputs[2], (2 / 255.0 - 0.5) / 2, 1e-15);
  EXPECT_NEAR(given.inputs[3], 5 / 255.0 / 4, 1e-15);
  EXPECT_THAT(error(labels + "channel_means = [1]", "i"), HasSubstr("has 1 numbers, but the rows are images of 2"));
  EXPECT_THAT(error(labels + "channel_deviations = [1, 0]", "i"), HasSubstr("each must be above 0"));
  EXPECT_THAT(error(labels + "channel_means = [1, 2]\nstandardise = \"inputs\"", "i"), HasSubstr("leave one out"));
}

// ---- CIFAR

// An image whose red, green and blue are 1024 numbers each.
std::string cifar_image(int seed) {
  std::string s;
  for (int i = 0; i < 3072; ++i) s += char((seed * 31 + i * 7 + i / 1024) & 255);
  return s;
}

TEST_F(Images, CifarIsReadAsItIsShipped) {
  for (int k = 1; k <= 5; ++k)
    dir.write("data_batch_" + std::to_string(k) + ".bin", char(k - 1) + cifar_image(k) + char(9) + cifar_image(k + 10));
  dir.write_gz("test_batch.bin.gz", char(3) + cifar_image(99));
  dir.write("batches.meta.txt", "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  const Splits s = load_as("", "");
  EXPECT_EQ(s.train.rows, 10);
  EXPECT_EQ(s.test.rows, 1);
  EXPECT_EQ(s.train.shape, (Shape{3, 32, 32}));
  EXPECT_THAT(s.train.classes, ElementsAre("airplane", "automobile", "bird", "cat", "deer", "truck"));
  EXPECT_THAT(s.test.targets, ElementsAre(3));
  const std::string second = cifar_image(11);
  for (const std::size_t pixel : {0, 33, 1023})
    for (const std::size_t c : {0, 1, 2})
      EXPECT_EQ(s.train.inputs[3072 + pixel * 3 + c], std::uint8_t(second[c * 1024 + pixel]) / 255.0);
  EXPECT_TRUE(s.train.inputs.bytes());
  // Its files by name, and the test rows for a prediction.
  settings.file.names = {dir.path("data_batch_2.bin"), dir.path("data_batch_1.bin")};
  const Splits two = load(settings, true, 1, nullptr);
  EXPECT_EQ(two.train.rows, 4);
  EXPECT_EQ(two.train.inputs[0], std::uint8_t(cifar_image(2)[0]) / 255.0);
  EXPECT_EQ(load_rows(dir.path(""), "", settings, s.train).targets, s.test.targets);
  dir.write("data_batch_3.bin", cifar_image(1));
  EXPECT_THAT(error("", ""), HasSubstr("has 3072 bytes, but images of CIFAR-10 take 3073 each"));
  dir.write("data_batch_3.bin", char(10) + cifar_image(1));
  EXPECT_THAT(error("", ""), HasSubstr("image 1 is of class 10, but \"batches.meta.txt\" names only 10"));
  std::filesystem::remove(dir.path("data_batch_3.bin"));
  EXPECT_THAT(error("", ""), HasSubstr("has no data_batch_3.bin"));
}

TEST_F(Images, Cifar100HasFineAndCoarseLabels) {
  dir.write("train.bin", std::string{5, 70} + cifar_image(1) + std::string{4, 60} + cifar_image(2));
  dir.write("test.bin", std::string{5, 70} + cifar_image(3));
  EXPECT_THAT(load_as("", "").train.classes, ElementsAre("60", "70"));
  EXPECT_THAT(load_as("targets = \"coarse\"", "").train.classes, ElementsAre("4", "5"));
}

// The files of one's own machine, where the environment names them: in the shipped form or recoded.
TEST_F(Images, Cifar10) {
  const char* given = std::getenv("KELVIN_CIFAR10");
  if (!given) GTEST_SKIP() << "set KELVIN_CIFAR10 to a directory with its files";
  DataSettings s;
  s.file = given;
  const Splits cifar = load(s, true, 1, nullptr);
  EXPECT_EQ(cifar.train.rows, 50000);
  EXPECT_EQ(cifar.test.rows, 10000);
  for (int c = 0; c < 10; ++c) EXPECT_EQ(std::ranges::count(cifar.train.targets, double(c)), 5000);
  double sums[3] = {};
  for (std::size_t i = 0; i < cifar.train.inputs.size(); ++i) sums[i % 3] += cifar.train.inputs[i];
  const double published[] = {0.4914, 0.4822, 0.4465};
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(sums[c] / (50000.0 * 1024), published[c], 5e-5);
}

// ---- pictures

std::string jpeg_of(const std::vector<unsigned char>& pixels, unsigned width, unsigned height, int channels) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = channels;
  jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < height) {
    JSAMPROW line = const_cast<JSAMPROW>(pixels.data()) + std::size_t(jpeg.next_scanline) * width * unsigned(channels);
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::string out(reinterpret_cast<char*>(memory), size);
  std::free(memory);
  return out;
}

const std::vector<unsigned char> grey_pixels = {0, 50, 100, 150, 200, 250}, colour_pixels = {255, 0, 0, 0, 128, 7};

TEST(Picture, PngKeepsEveryNumber) {
  const Picture grey = parse_picture(png_of(grey_pixels, 3, 2, PNG_FORMAT_GRAY), "f.png");
  EXPECT_EQ(grey.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(grey.pixels, grey_pixels);
  const Picture colour = parse_picture(png_of(colour_pixels, 2, 1, PNG_FORMAT_RGB), "f.png");
  EXPECT_EQ(colour.shape, (Shape{3, 1, 2}));
  EXPECT_EQ(colour.pixels, colour_pixels);
  const std::vector<unsigned char> with_alpha = {255, 0, 0, 10, 0, 128, 7, 255};
  EXPECT_EQ(parse_picture(png_of(with_alpha, 2, 1, PNG_FORMAT_RGBA), "f.png").pixels, colour_pixels);
  EXPECT_THAT(in_colour({{1, 1, 2}, {3, 4}}).pixels, ElementsAre(3, 3, 3, 4, 4, 4));
}

// At the best quality a flat field is within one of itself.
TEST(Picture, JpegIsReadInGreyAndInColour) {
  const std::vector<unsigned char> field(64 * 3, 90);
  const Picture grey = parse_picture(jpeg_of({field.begin(), field.begin() + 64}, 8, 8, 1), "f.jpg");
  EXPECT_EQ(grey.shape, (Shape{1, 8, 8}));
  EXPECT_THAT(grey.pixels, testing::Each(testing::AllOf(testing::Ge(89), testing::Le(91))));
  const Picture colour = parse_picture(jpeg_of(field, 8, 8, 3), "f.jpg");
  EXPECT_EQ(colour.shape, (Shape{3, 8, 8}));
  EXPECT_THAT(colour.pixels, testing::Each(testing::AllOf(testing::Ge(88), testing::Le(92))));
}

TEST(Picture, DamageIsToldInOneSentence) {
  const std::string png = png_of(grey_pixels, 3, 2, PNG_FORMAT_GRAY);
  const std::string jpeg = jpeg_of(std::vector<unsigned char>(64, 90), 8, 8, 1);
  for (std::size_t n = 9; n + 12 < png.size(); n += 3)
    EXPECT_THAT(error_of([&] { parse_picture(png.substr(0, n), "f.png"); }), HasSubstr("f.png: the picture cannot"))
        << n;
  for (std::size_t n = 4; n + 2 < jpeg.size(); n += 17)
    EXPECT_THAT(error_of([&] { parse_picture(jpeg.substr(0, n), "f.jpg"); }), HasSubstr("f.jpg: the picture cannot"))
        << n;
  EXPECT_THAT(error_of([] { parse_picture("GIF89a", "f.gif"); }), HasSubstr("neither a PNG nor a JPEG"));
  std::string turned = png;
  turned[png.size() - 20] ^= 1;
  EXPECT_THAT(error_of([&] { parse_picture(turned, "f.png"); }), HasSubstr("the picture cannot be read"));
  EXPECT_THAT(
      error_of([] { parse_picture(png_of(std::vector<unsigned char>(8), 1, 1, PNG_FORMAT_LINEAR_Y), "f.png"); }),
      HasSubstr("has 16 bits a channel"));
}

// A header may claim what it likes: nothing is allocated for a picture that the file cannot hold. (Its checksum is
// right: a row of 2^25 pixels, and as many rows as make 2^50.)
TEST(Picture, ClaimsAreNotBelieved) {
  std::string png = png_of(grey_pixels, 3, 2, PNG_FORMAT_GRAY);
  const auto put = [&](std::size_t at, std::uint32_t x) {
    for (int k = 0; k < 4; ++k) png[at + std::size_t(k)] = char(x >> (24 - 8 * k));
  };
  const auto claim = [&](std::uint32_t width, std::uint32_t height) {
    put(16, width);
    put(20, height);
    std::uint32_t sum = ~0u;
    for (std::size_t i = 12; i < 29; ++i) {
      sum ^= static_cast<unsigned char>(png[i]);
      for (int k = 0; k < 8; ++k) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    put(29, ~sum);
    return error_of([&] { parse_picture(png, "f.png"); });
  };
  EXPECT_THAT(claim(8000, 8000), HasSubstr("cannot be in"));
  EXPECT_THAT(claim(100000, 100000), HasSubstr("at most 67108864 are read"));
}

TEST_F(Images, FoldersAreClasses) {
  const auto put = [&](const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(dir.path(name)).parent_path());
    dir.write(name, bytes);
  };
  put("all/cat/b.png", png_of(grey_pixels, 3, 2, PNG_FORMAT_GRAY));
  put("all/cat/a.PNG", png_of({1, 2, 3, 4, 5, 6}, 3, 2, PNG_FORMAT_GRAY));
  put("all/ant/z.png", png_of({9, 9, 9, 9, 9, 9}, 3, 2, PNG_FORMAT_GRAY));
  put("all/notes.txt", "no picture");
  const Splits flat = load_as("", "all");
  EXPECT_EQ(flat.train.shape, (Shape{1, 2, 3}));
  EXPECT_THAT(flat.train.classes, ElementsAre("ant", "cat"));
  EXPECT_THAT(flat.train.targets, ElementsAre(0, 1, 1));
  EXPECT_EQ(flat.train.inputs[6], 1 / 255.0) << "in the order of their names";
  put("split/train/cat/a.png", png_of(grey_pixels, 3, 2, PNG_FORMAT_GRAY));
  put("split/train/dog/a.png", png_of(std::vector<unsigned char>(18, 77), 3, 2, PNG_FORMAT_RGB));
  put("split/test/dog/a.png", png_of(std::vector<unsigned char>(18, 5), 3, 2, PNG_FORMAT_RGB));
  const Splits split = load_as("", "split");
  EXPECT_EQ(split.train.shape, (Shape{3, 2, 3})) << "one in colour makes all so";
  EXPECT_EQ(split.train.inputs[3], 50 / 255.0);
  EXPECT_EQ(split.train.inputs[5], 50 / 255.0);
  EXPECT_THAT(split.test.targets, ElementsAre(1));
  EXPECT_EQ(load_rows(dir.path("split"), "", settings, split.train).inputs, split.test.inputs);
  put("all/cat/c.png", png_of({1, 2, 3, 4}, 2, 2, PNG_FORMAT_GRAY));
  EXPECT_THAT(error("", "all"), testing::AllOf(HasSubstr("c.png\" has 2 x 2 pixels"), HasSubstr("z.png\" has 2 x 3")));
}

TEST_F(Images, ATableMayNameFilesAndLabels) {
  dir.write("a.png", png_of(grey_pixels, 3, 2, PNG_FORMAT_GRAY));
  dir.write("b.png", png_of({1, 2, 3, 4, 5, 6}, 3, 2, PNG_FORMAT_GRAY));
  for (const char* text : {"file,label\na.png,owl\nb.png,eel\na.png,owl\n", "a.png,owl\nb.png,eel\na.png,owl\n"}) {
    dir.write("list.csv", text);
    const Dataset d = load_as("", "list.csv").train;
    EXPECT_EQ(d.rows, 3);
    EXPECT_THAT(d.classes, ElementsAre("eel", "owl"));
    EXPECT_THAT(d.targets, ElementsAre(1, 0, 1));
    EXPECT_EQ(d.inputs[7], 2 / 255.0);
  }
  dir.write("list.csv", "a.png,owl\nmissing.png,eel\n");
  EXPECT_THAT(error("", "list.csv"), HasSubstr("missing.png"));
}

// ---- several files, one after another

TEST_F(Images, FilesInAListAreReadOneAfterAnother) {
  dir.write("a.csv", "u,v,y\n1,2,0\n3,4,1\n");
  dir.write("b.csv", "5,6,1\n7,8,x\n");
  DataSettings s;
  read(s, parse_toml("file = [\"" + dir.path("a.csv") + "\", \"" + dir.path("b.csv") + "\"]", "run.toml"), "data");
  EXPECT_THAT(error_of([&] { load(s, false, 1, nullptr); }), HasSubstr("b.csv line 2"));
  dir.write("b.csv", "5,6,1\n7,8,1\n");
  const Dataset d = load(s, true, 1, nullptr).train;
  EXPECT_THAT(d.inputs, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(d.targets, ElementsAre(0, 1, 1, 1));
  DataSettings back;
  read(back, recorded_settings(as_value(s)), "data");
  EXPECT_EQ(back.file, s.file);
  dir.write("b.csv", "5,6,1\n7,8,0.5\n");
  EXPECT_THAT(error_of([&] { load(s, true, 1, nullptr); }), HasSubstr("b.csv line 2: target 0.5 is no class"))
      << "the line of its own file";
  s.labels_file = "c.csv";
  EXPECT_THAT(error_of([&] { load(s, true, 1, nullptr); }), HasSubstr("2 files of rows"));
}

TEST(ReadBytes, XzIsUnpacked) {
  Directory dir;
  const std::vector<unsigned char> packed = {
      0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
      0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x06, 0x6b, 0x65, 0x6c, 0x76, 0x69,
      0x6e, 0x0a, 0x00, 0x00, 0x0e, 0xd3, 0x39, 0xf2, 0x7e, 0x3a, 0xb9, 0x9b, 0x00, 0x01, 0x1f, 0x07,
      0x16, 0x2e, 0xb8, 0x73, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a};
  EXPECT_EQ(read_bytes(dir.write("f.xz", as_text(packed))), "kelvin\n");
  for (std::size_t n = 6; n < packed.size(); ++n) {
    const std::string cut = as_text({packed.begin(), packed.begin() + long(n)});
    EXPECT_THAT(error_of([&] { read_bytes(dir.write("f.xz", cut)); }), HasSubstr("damaged or cut short")) << n;
  }
}

}  // namespace
}  // namespace kelvin
