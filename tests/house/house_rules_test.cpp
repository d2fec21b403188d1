// SPDX-License-Identifier: Apache-2.0
// Rules of the house that a machine can check.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path source = KELVIN_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<fs::path> sources(std::initializer_list<const char*> folders) {
  std::vector<fs::path> out;
  for (const char* folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(source / folder))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") out.push_back(entry.path());
  EXPECT_GT(out.size(), 5u);
  return out;
}

// The flow, which is also the include order: a folder may include itself, core, and folders to its left.
const std::vector<std::string> flow = {"core",     "numeric", "data", "function",   "energy",   "dynamics",   "chain",
                                       "ensemble", "run",     "io",   "trajectory", "analysis", "experiment", "report"};

TEST(HouseRules, IncludesPointLeft) {
  const std::regex include("#include \"([a-z]+)/([a-z_]+)");
  for (const fs::path& path : sources({"kelvin"})) {
    const std::string folder = *std::next(fs::relative(path, source).begin());  // kelvin/FOLDER/...
    const auto mine = std::find(flow.begin(), flow.end(), folder);
    ASSERT_NE(mine, flow.end()) << folder << " is not part of the flow";
    const std::string text = text_of(path);
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      EXPECT_EQ((*it)[1], "kelvin") << path;
      EXPECT_LE(std::find(flow.begin(), flow.end(), (*it)[2].str()) - flow.begin(), mine - flow.begin())
          << path << " includes " << (*it)[2] << ", which lies to its right";
    }
  }
}

TEST(HouseRules, TheLibraryNeverPrintsExitsOrReadsTheClock) {
  const std::regex forbidden(
      R"(std::c(out|err|log)\b|\b(printf|puts|fprintf|exit|abort)\s*\(|fmt::print|steady_clock|system_clock|\btime\s*\(\s*(0|NULL|nullptr))");
  for (const fs::path& path : sources({"kelvin"})) {
    std::stringstream lines(text_of(path));
    for (std::string line; std::getline(lines, line);)
      EXPECT_FALSE(std::regex_search(line.substr(0, line.find("//")), forbidden)) << path << ": " << line;
  }
}

// They belong to the program, and other threads rely on them.
TEST(HouseRules, TheLibraryLeavesWorkingDirectoryAndEnvironmentAlone) {
  const std::regex forbidden(R"(\bf?ch[d]ir\s*\(|current_path\s*\(\s*[^)\s]|\b(set|put|unset)env\s*\()");
  for (const fs::path& path : sources({"kelvin"})) EXPECT_FALSE(std::regex_search(text_of(path), forbidden)) << path;
}

// Rows, draws of other runs and the time are given to a run as functions.
TEST(HouseRules, ARunOpensNoFile) {
  const std::regex include(R"(#include <(fstream|filesystem)>)");
  for (const fs::path& path : sources({"kelvin/chain", "kelvin/ensemble", "kelvin/run"}))
    EXPECT_FALSE(std::regex_search(text_of(path), include)) << path;
}

TEST(HouseRules, SourcesAreAsciiAndSayTheirLicence) {
  for (const fs::path& path : sources({"kelvin", "apps", "tests", "bench", "fuzz"})) {
    const std::string text = text_of(path);
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return c < 128 && (c >= 32 || c == '\n');
    })) << path;
    EXPECT_TRUE(text.starts_with("// SPDX-License-Identifier: Apache-2.0\n")) << path;
  }
}

// It takes longer to compile than everything else in a source of apps/cli.
TEST(HouseRules, OneSourceKnowsTheParserOfCommandLines) {
  const std::regex include(R"(#include [<"]CLI\b)");
  std::vector<fs::path> knowing;
  for (const fs::path& path : sources({"kelvin", "apps", "tests"}))
    if (std::regex_search(text_of(path), include)) knowing.push_back(fs::relative(path, source));
  EXPECT_EQ(knowing, std::vector<fs::path>{"apps/cli/command_line.cpp"});
}

// Whoever opens a source can keep it in mind. Tables are as long as what they list.
TEST(HouseRules, SourcesAndFunctionsAreShort) {
  constexpr int longest_source = 450, longest_function = 80;
  const std::regex other(R"(^(namespace|extern|struct|class|enum|union|template <.*> (struct|class))\b|^[^(]*=)");
  for (const fs::path& path : sources({"kelvin", "apps", "tests"})) {
    std::stringstream lines(text_of(path));
    int n = 0, began = 0;  // began: the line at which a function of the file's own level opens
    for (std::string line; std::getline(lines, line);) {
      ++n;
      const bool opens = line.ends_with('{') && line[0] != ' ' && line[0] != '}' && line[0] != '#';
      if (began == 0 && opens && !std::regex_search(line, other)) began = n;
      if (began == 0 || !line.starts_with('}')) continue;
      EXPECT_LE(n - began + 1, longest_function) << path << " line " << began;
      began = 0;
    }
    EXPECT_LE(n, longest_source) << path;
  }
}

TEST(HouseRules, NamesHaveAJob) {
  const std::regex lazy(R"(\b(class|struct)\s+\w*(Base|Impl|Manager|Helper|Factory)\b|[^.>:\w](get|set)_\w+\s*\()");
  for (const fs::path& path : sources({"kelvin", "apps"})) {
    EXPECT_FALSE(std::regex_search(text_of(path), lazy)) << path;
    for (const char* name : {"utils", "common", "helpers", "misc"})
      EXPECT_EQ(path.stem().string().find(name), std::string::npos) << path;
  }
}

// It took two thirds of the time to compile everything.
TEST(HouseRules, OneSourceKnowsTheLibraryForJson) {
  const std::regex include(R"(#include [<"]nlohmann\b)");
  std::vector<fs::path> knowing;
  for (const fs::path& path : sources({"kelvin", "apps", "tests", "bench", "fuzz"}))
    if (std::regex_search(text_of(path), include)) knowing.push_back(fs::relative(path, source));
  EXPECT_EQ(knowing, std::vector<fs::path>{"kelvin/io/json.cpp"});
}

// Run files are read in one place.
TEST(HouseRules, OneSourceKnowsTheLibraryForToml) {
  const std::regex include(R"(#include [<"]toml)");
  std::vector<fs::path> knowing;
  for (const fs::path& path : sources({"kelvin", "apps", "tests", "bench", "fuzz"}))
    if (std::regex_search(text_of(path), include)) knowing.push_back(fs::relative(path, source));
  EXPECT_EQ(knowing, std::vector<fs::path>{"kelvin/core/toml.cpp"});
}

// It took a quarter of the time to compile everything.
TEST(HouseRules, OnlyNumericKnowsTheLibraryForMatrices) {
  const std::regex include(R"(#include [<"](unsupported/)?(Eigen|Spectra|kelvin/numeric/eigen\.h)\b)");
  for (const fs::path& path : sources({"kelvin", "apps"})) {
    const std::string name = fs::relative(path, source);
    if (!name.starts_with("kelvin/numeric/")) EXPECT_FALSE(std::regex_search(text_of(path), include)) << name;
  }
}

// Two types of one name in the library would be mixed up by the linker without a word.
TEST(HouseRules, TypesHaveNamesOfTheirOwn) {
  const std::regex type(R"(\n(struct|class|enum class|enum) (\w+)[^;\n]*\{)");
  std::map<std::string, fs::path> declared;
  for (const fs::path& path : sources({"kelvin"})) {
    if (path.extension() != ".h") continue;
    const std::string text = text_of(path);
    for (std::sregex_iterator it(text.begin(), text.end(), type), end; it != end; ++it)
      EXPECT_EQ(declared.emplace((*it)[2], path).first->second, path) << (*it)[2] << " is declared twice";
  }
}

// A function that several sources share is kept once by the linker, from whichever source it pleases: if from one
// compiled for newer instructions, older machines would crash far from any vector loop.
TEST(HouseRules, SourcesPerInstructionSetShareNothing) {
  int objects = 0;
  for (const auto& entry : fs::recursive_directory_iterator(KELVIN_BUILD_DIR "/CMakeFiles")) {
    if (!entry.path().string().ends_with(".simd.cpp.o")) continue;
    ++objects;
    std::FILE* names = popen(("nm --defined-only '" + entry.path().string() + "'").c_str(), "r");
    char line[4096];
    while (std::fgets(line, sizeof line, names)) {
      const std::string text = line;
      const bool shared = text.find(" W ") != std::string::npos;
      const bool ours = text.find("6kelvin8portable") != std::string::npos ||
                        text.find("6kelvin4avx2") != std::string::npos ||
                        text.find("6kelvin6avx512") != std::string::npos;
      EXPECT_TRUE(!shared || ours) << entry.path() << ": " << text;
    }
    pclose(names);
  }
  EXPECT_GE(objects, 5);
}

}  // namespace
