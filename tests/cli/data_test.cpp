// SPDX-License-Identifier: Apache-2.0
// Images and texts from the command line.
#include <fmt/format.h>

#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

std::string text_of_lines(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "abc abd\n";
  return text;
}

// Twelve images of 2 x 3, whose grey value tells their class.
std::string idx_images() {
  std::string s = {0, 0, 8, 3, 0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 3};
  for (int i = 0; i < 12; ++i) s.append(6, char(i % 2 ? 200 : 20 + i));
  return s;
}
std::string idx_labels() {
  std::string s = {0, 0, 8, 1, 0, 0, 0, 12};
  for (int i = 0; i < 12; ++i) s += char(i % 2);
  return s;
}

struct DataOfFiles : testing::Test {
  Desk desk;
  void SetUp() override {
    desk.write("images", idx_images());
    desk.write("labels", idx_labels());
    desk.write(
        "images.toml",
        "steps = 20\nwalkers = 2\nmodel = { layers = [6, 4, 2], loss = \"softmax_cross_entropy\", prior = 1.0 }\n"
        "batch = 5\npart.all = { blocks = \"*\", scheme = \"BAOAB\", step = 0.1, friction = 1.0 }\n"
        "[data]\nfile = \"images\"\nlabels_file = \"labels\"\nstandardise = \"inputs\"\n");
  }
};

TEST_F(DataOfFiles, ImagesAreToldByChannel) {
  const auto told = desk.kelvin("data images.toml --json");
  ASSERT_EQ(told.code, 0) << told.error;
  EXPECT_THAT(told.out, HasSubstr("channel 1 of 1 x 2 x 3"));
  EXPECT_THAT(told.out, HasSubstr("y = 1"));
}

// The images of a run with changes are drawn as its walkers are: the same on one thread and on two, and after a stop.
TEST_F(DataOfFiles, ChangedImagesGiveTheSameRunOnAnyThreads) {
  const auto last = [&](const std::string& name, const std::string& options) {
    const auto ran = desk.kelvin("sample images.toml -q --force --out " + name + " " + options);
    EXPECT_EQ(ran.code, 0) << ran.error;
    return desk.kelvin("export " + name + " --to npz --out " + name + ".npz --force").code == 0
               ? bytes_of(desk.path(name + ".npz"))
               : std::string();
  };
  const std::string flip = "--set 'data.augment=[\"flip\",\"crop 1\"]'";
  const std::string one = last("one", flip + " --threads 1"), two = last("two", flip + " --threads 2");
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(one, two);
  EXPECT_NE(one, last("plain", ""));
  EXPECT_THAT(
      desk.kelvin("sample images.toml -q --force --out no --set part.all.scheme='{BAB}' --set 'batch=\"full\"' " + flip)
          .error,
      HasSubstr("augment"));
}

TEST_F(DataOfFiles, TextsAreToldByTheirVocabulary) {
  desk.write("t.txt", text_of_lines(100));
  desk.write("text.toml",
             "steps = 1\nmodel = { layers = [8, 5], loss = \"softmax_cross_entropy\", prior = 1.0 }\n"
             "part.all = { blocks = \"*\", scheme = \"BAOAB\", step = 0.1, friction = 1.0 }\n"
             "[data]\nfile = \"t.txt\"\ntext = { unit = \"characters\", steps = 8 }\n");
  const auto told = desk.kelvin("data text.toml");
  ASSERT_EQ(told.code, 0) << told.error;
  EXPECT_THAT(told.out, HasSubstr("8 tokens of a vocabulary of 6"));
}

TEST_F(DataOfFiles, NewWritesRunFilesForImagesAndTexts) {
  desk.write("t.txt", text_of_lines(2000));
  desk.write("table.csv", "a,b,y\n1,2,0\n3,4,1\n");
  const auto text = desk.kelvin("new text t.txt");
  ASSERT_EQ(text.code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("[\"embedding 6 32\", \"lstm 64\", \"dense 6\"]"));
  EXPECT_THAT(desk.kelvin("new images table.csv").error, HasSubstr("holds no images"));
  std::filesystem::create_directory(desk.path("small"));
  for (const char* part : {"train", "t10k"}) {
    desk.write(fmt::format("small/{}-images-idx3-ubyte", part), idx_images());
    desk.write(fmt::format("small/{}-labels-idx1-ubyte", part), idx_labels());
  }
  desk.write("text.toml", text.out);
  ASSERT_EQ(desk.kelvin("new images small -o images.toml --force").code, 0);
  for (const char* file : {"text.toml", "images.toml"}) {
    const auto ran = desk.kelvin(fmt::format("sample {} -o run --force --set steps=2 --set warmup=0", file));
    EXPECT_EQ(ran.code, 0) << ran.error;
    EXPECT_THAT(ran.error, testing::Not(HasSubstr("use filter_response_norm"))) << "no posterior";
  }
}

// 10 000 images of CIFAR are 31 MB of bytes; as doubles they would be 246 MB, as floats 123 MB.
TEST(DataInBytes, ImagesOfManyFilesStayInBytesThroughARun) {
  const Desk desk;
  std::string files;
  for (int k = 1; k <= 5; ++k) {
    std::string batch;
    for (int image = 0; image < 2000; ++image) {
      batch += char(image % 10);
      for (int i = 0; i < 3072; ++i) batch += char((image * 31 + i * 7 + k) & 255);
    }
    const std::string name = fmt::format("batch_{}.bin", k);
    desk.write(name, batch);
    files += fmt::format("{}\"{}\"", k > 1 ? ", " : "", name);
  }
  desk.write(
      "run.toml",
      fmt::format("steps = 2\nbatch = 10\nlog_every = 2\ndata = {{ file = [{}], rows = 9990, standardise = "
                  "\"inputs\" }}\nmodel = {{ layers = [\"conv 3 2\", \"relu\", \"global_pool\", \"dense 10\"], loss "
                  "= \"softmax_cross_entropy\" }}\npart.all.step = 0.01\n",
                  files));
  Process process(desk, "train run.toml -q -o run --threads 1");
  ASSERT_EQ(process.wait(), 0) << process.error();
#if !defined(__SANITIZE_ADDRESS__)  // which holds back what was freed
  EXPECT_LT(process.most_memory(), 170000) << "kilobytes: twice the bytes while files are joined, and the program";
#endif
}

TEST(DataInBytes, TextsInAListAreReadOneAfterAnother) {
  const Desk desk;
  desk.write("one.txt", "abcab");
  desk.write("two.txt", "cabca");
  desk.write("both.txt", "abcabcabca");
  const auto rows = [&](const std::string& file) {
    desk.write("run.toml",
               "data = { file = " + file +
                   ", text = { unit = \"characters\", steps = 3 } }\nmodel = { layers = [\"embedding 3 2\", "
                   "\"dense 3\"], loss = \"softmax_cross_entropy\" }\n");
    const Outcome got = desk.kelvin("data run.toml --rows train");
    EXPECT_EQ(got.code, 0) << got.error;
    return got.out;
  };
  EXPECT_EQ(rows("[\"one.txt\", \"two.txt\"]"), rows("\"both.txt\""));
}

}  // namespace
}  // namespace kelvin
