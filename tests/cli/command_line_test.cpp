// SPDX-License-Identifier: Apache-2.0
// Command lines that are not understood: one sentence of ours, exit code 2, nothing done. And help, which is not one.
#include <filesystem>

#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

struct Line {
  const char *arguments, *sentence;
};

const Line misunderstood[] = {
    {"", "give a command after `kelvin`; `kelvin --help` lists them"},
    {"smaple run.toml", "no command \"smaple\"; known: new, data, model, train, sample, "},
    {"smaple", "did you mean \"sample\"?"},
    {"nosuch", "no command \"nosuch\"; known: new, "},
    {"nosuch --help", "no command \"nosuch\""},
    {"smaple --help", "did you mean \"sample\"?"},
    {"smaple -h", "did you mean \"sample\"?"},
    {"--help smaple", "did you mean \"sample\"?"},
    {"smaple run.toml --help --version", "did you mean \"sample\"?"},
    {"landscape", "give a command after `kelvin landscape`; `kelvin landscape --help` lists them"},
    {"landscape lien run",
     "no command \"landscape lien\"; known: line, surface, grid, trajectory, hessian; did you mean \"line\"?"},
    {"landscape lien --help", "did you mean \"line\"?"},
    {"--verson", "--verson stands where a command should; `kelvin --help` lists them; did you mean \"--version\"?"},
    {"--json summary run", "--json stands where a command should"},
    {"summary", "run is required; `kelvin summary --help` says what it is"},
    {"export run", "--to is required; `kelvin export --help`"},
    {"summary run more", "summary has no place for \"more\"; `kelvin summary --help` shows what it takes"},
    {"summary run --jsno",
     "summary takes no --jsno; `kelvin summary --help` lists the options; did you mean \"--json\"?"},
    {"sample run.toml --thread=2",
     "sample takes no --thread; `kelvin sample --help` lists the options; did you mean "
     "\"--threads\"?"},
    {"sample run.toml -z", "sample takes no -z"},
    {"landscape hessian run --of loss", "landscape hessian takes no --of"},
    {"watch run -- --once", "watch has no place for \"--once\""},
    {"sample run.toml --seed", "--seed needs a value after it; `kelvin sample --help` says which"},
    {"sample run.toml -o", "--out needs a value after it"},
    {"sample run.toml --seed many", "--seed must be a whole number, not \"many\""},
    {"sample run.toml --seed 1.5", "--seed must be a whole number, not \"1.5\""},
    {"sample run.toml --seed 99999999999999999999", "--seed must be a whole number"},
    {"sample run.toml --seed -1", "--seed must be at least 0, not -1"},
    {"sample run.toml --seed 1 --seed 2", "--seed is given 2 times; give it once"},
    {"sample run.toml --threads 0", "--threads must be at least 1, not 0"},
    {"sample run.toml --threads -2", "--threads must be at least 1, not -2"},
    {"landscape line run --threads -1", "--threads must be from 1 to 1024, not -1"},
    {"boundary run --grid -1", "--grid must be at least 0, not -1"},
    {"boundary run --level high", "--level must be a number, not \"high\""},
    {"check --curvature nan", "--curvature must be greater than 0, not nan"},
    {"boundary run --extent 1,2,3", "--extent takes 4 numbers separated by commas"},
    {"boundary run --extent 1,2,3,4,5", "--extent takes 4 numbers separated by commas, not 5"},
    {"predict run --quantiles 0.1,half", "--quantiles must be numbers separated by commas, not \"half\""},
    {"check --steps 5", "--steps must be from 1000 to 1000000000, not 5"},
    {"check --curvature 0", "--curvature must be greater than 0, not 0"},
    {"data run.toml --rows tset", "--rows must be train, validation or test, not \"tset\"; did you mean \"test\"?"},
    {"resume run --steps 1 --until 2", "--steps and --until exclude each other; leave one out"},
    {"report run --figure trace", "--figure is given without --png; give both"},
    {"summary run --json=maybe", "--json takes no value"},
};

TEST(CommandLine, EveryMistakeGetsOneSentenceAndExitCodeTwo) {
  const Desk desk;
  for (const auto& [arguments, sentence] : misunderstood) {
    const Outcome got = desk.kelvin(arguments);
    EXPECT_EQ(got.code, 2) << arguments;
    EXPECT_EQ(got.out, "") << arguments;
    EXPECT_THAT(got.error, testing::StartsWith("kelvin: ")) << arguments;
    EXPECT_THAT(got.error, HasSubstr(sentence)) << arguments;
    EXPECT_EQ(std::count(got.error.begin(), got.error.end(), '\n'), 1) << arguments << ": " << got.error;
  }
}

TEST(CommandLine, HelpIsWhereItIsAskedFor) {
  const Desk desk;
  for (const char* arguments : {"--help", "-h"}) {
    const Outcome general = desk.kelvin(arguments);
    EXPECT_EQ(general.code, 0);
    EXPECT_THAT(general.out, HasSubstr("Usage: kelvin [OPTIONS] SUBCOMMAND")) << arguments;
    EXPECT_THAT(general.out, HasSubstr("\n  sample                      draw from the posterior\n"));
  }
  for (const char* arguments : {"summary --help", "--help summary", "summary -h", "summary run --help --nonsense"}) {
    const Outcome help = desk.kelvin(arguments);
    EXPECT_EQ(help.code, 0) << arguments;
    EXPECT_THAT(help.out, HasSubstr("Usage: kelvin summary [OPTIONS] run\n")) << arguments;
  }
  EXPECT_THAT(desk.kelvin("landscape --help").out, HasSubstr("Usage: kelvin landscape [OPTIONS] SUBCOMMAND"));
  EXPECT_THAT(desk.kelvin("landscape surface --help").out, HasSubstr("\n  --spanned-by TEXT=covariance\n"));
  EXPECT_THAT(desk.kelvin("--version").out, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

// How each kind of option is described.
TEST(CommandLine, HelpSaysWhatAnOptionTakes) {
  const Desk desk;
  const struct {
    const char *command, *line;
  } lines[] = {
      {"sample", "  file TEXT REQUIRED          run file (TOML)\n"},
      {"sample", "  --set TEXT ...              change a setting"},
      {"sample", "  --seed INT:NONNEGATIVE      change the seed\n"},
      {"sample", "  -o,--out TEXT               directory of the run"},
      {"sample", "  --threads UINT:POSITIVE     threads"},
      {"sample", "  -q,--quiet                  no progress"},
      {"new", "Usage: kelvin new [OPTIONS] kind [source]\n"},
      {"compare", "Usage: kelvin compare [OPTIONS] runs...\n"},
      {"experiment", "Usage: kelvin experiment [OPTIONS] [names...]\n"},
      {"boundary", "  --extent FLOAT x 4          xmin,"},
      {"data", "  --rows TEXT:{train,validation,test}\n"},
      {"check", "  --steps INT:1000 to 1000000000\n"},
      {"resume", "  --until INT:POSITIVE Excludes: --steps\n"},
      {"report", "  --figure TEXT Needs: --png  only this figure"},
  };
  for (const auto& [command, line] : lines)
    EXPECT_THAT(desk.kelvin(std::string(command) + " --help").out, HasSubstr(line)) << command;
}

TEST(CommandLine, ValuesMayBeWrittenInSeveralWays) {
  const Desk desk;
  desk.write("toy.toml", "steps = 10\nmodel = { toy = \"gaussian\" }\npart.all = { step = 0.1, temperature = 1 }\n");
  for (const char* arguments :
       {"sample toy.toml -qo run --force", "sample -q --out=run --force toy.toml",
        "sample --force -q -o run -- toy.toml", "sample toy.toml -q -o run --force --threads 1e0",
        "sample toy.toml -q --quiet -o run --force --json=false",
        "sample toy.toml -q -o run --force --set steps=20 --set every=5"}) {
    const Outcome ran = desk.kelvin(arguments);
    EXPECT_EQ(ran.code, 0) << arguments << ": " << ran.error;
    EXPECT_EQ(ran.out, "") << arguments;
    EXPECT_TRUE(std::filesystem::exists(desk.path("run/run.json"))) << arguments;
    std::filesystem::remove_all(desk.path("run"));
  }
}

}  // namespace
}  // namespace kelvin
