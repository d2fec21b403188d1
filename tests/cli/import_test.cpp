// SPDX-License-Identifier: Apache-2.0
// Draws of other programs where a command takes a run: what is found in a run's export is what is found in the run.
#include "kelvin/trajectory/import.h"

#include <cmath>

#include "kelvin/io/npy.h"
#include "kelvin/trajectory/samples.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Json printed(const Desk& desk, const std::string& arguments) {
  const Outcome ran = desk.kelvin(arguments + " --json");
  EXPECT_EQ(ran.code, 0) << ran.error;
  return ran.code == 0 ? Json::parse(ran.out) : Json();
}

void succeed(const Desk& desk, const std::string& arguments) {
  const Outcome ran = desk.kelvin(arguments);
  EXPECT_EQ(ran.code, 0) << ran.error;
}

void refuse(const Desk& desk, const std::string& arguments, const std::string& sentence) {
  const Outcome ran = desk.kelvin(arguments);
  EXPECT_NE(ran.code, 0) << arguments << " was taken";
  EXPECT_THAT(ran.error, HasSubstr(sentence)) << arguments;
}

// Two coordinates in double precision: every format of text holds all its digits.
void sample(const Desk& desk) {
  desk.write("turned.toml",
             "steps = 8000\nwarmup = 500\nevery = 2\nwalkers = 2\n"
             "model = { toy = { name = \"gaussian\", covariance = [2.5, 1.5, 1.5, 2.5], mean = [3.0] } }\n"
             "part.all = { temperature = 1, step = 0.5, friction = 1 }\n");
  succeed(desk, "sample turned.toml -q -o run");
}

// Tables of the two, row by row; numbers that stand in both must be the same.
void expect_same_rows(const Json& one, const Json& other, double tolerance) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t k = 0; k < one.size(); ++k)
    for (const auto& [column, cell] : one.at(k).entries()) {
      const Json there = other.at(k).at(column);
      if (cell.null() || cell.value().text()) {
        EXPECT_EQ(cell, there) << column;
      } else {
        EXPECT_NEAR(double(cell), double(there), tolerance * std::max(1.0, std::abs(double(cell)))) << column;
      }
    }
}

Json rows_named(const Json& rows, const std::string& prefix) {
  Value::List out;
  for (const Json& row : rows)
    if (row.at("quantity").as<std::string>().starts_with(prefix)) out.push_back(row.value());
  return Json(Value(std::move(out)));
}

class Import : public testing::Test {
 protected:
  void SetUp() override { sample(desk); }
  Desk desk;
};

TEST_F(Import, AnalysesOfExportsAreThoseOfTheRun) {
  succeed(desk, "export run --to csv -o draws.csv");
  succeed(desk, "export run --to netcdf -o draws.nc");
  const Samples samples = open_samples(desk.path("run"));
  std::vector<double> q;
  for (std::size_t w = 0; w < 2; ++w)
    for (const double x : samples.block("q", w)) q.push_back(x);
  write_npz<double>(desk.path("draws.npz"), {{"q", {{2, samples.draws, 2}, q}}});
  for (const std::string name : {"draws.csv", "draws.nc", "draws.npz"}) {
    SCOPED_TRACE(name);
    const bool energies = name != "draws.npz";
    const auto table = [&](const std::string& arguments) {
      return printed(desk, arguments).at("tables").at(0).at("rows");
    };
    expect_same_rows(table("analyse covariance run"), table("analyse covariance " + name), 1e-9);
    expect_same_rows(table("analyse diffusion_map run --points 200"),
                     table("analyse diffusion_map " + name + " --points 200"), 1e-9);
    expect_same_rows(table("analyse free_energy run --coordinate q[0]"),
                     table("analyse free_energy " + name + " --coordinate q[0] --temperature 1"), 1e-9);
    const std::string some = energies ? " --quantities 'q?0?' --quantities potential" : " --quantities 'q?0?'";
    if (energies) {  // draws without a step are counted, so that their times in steps differ
      expect_same_rows(table("analyse averages run" + some), table("analyse averages " + name + some), 1e-9);
      expect_same_rows(table("analyse autocorrelation run" + some), table("analyse autocorrelation " + name + some),
                       1e-9);
    }
    const Json run = printed(desk, "summary run"), file = printed(desk, "summary " + name);
    expect_same_rows(rows_named(run, "q["), rows_named(file, "q["), 1e-9);
    EXPECT_EQ(rows_named(run, "q[").size(), 2u);
    if (energies) expect_same_rows(rows_named(run, "potential"), rows_named(file, "potential"), 1e-9);
  }
  succeed(desk, "sample turned.toml -q --seed 2 -o other");  // negative control: draws of another seed
  succeed(desk, "export other --to csv -o other.csv");
  EXPECT_NE(printed(desk, "summary draws.csv"), printed(desk, "summary other.csv"));
}

TEST_F(Import, DiagnosesSayWhatTheyCannotJudge) {
  succeed(desk, "export run --to netcdf -o draws.nc");
  const Outcome with = desk.kelvin("diagnose draws.nc");
  EXPECT_THAT(with.out, StartsWith("Healthy as far as can be judged: no check of these draws fails"));
  EXPECT_THAT(with.out, HasSubstr("check \"step\" cannot be made: these draws come without the temperatures"));
  EXPECT_THAT(with.out, HasSubstr("every walker has"));
  EXPECT_THAT(with.out, testing::Not(HasSubstr("without energy")));
  std::vector<double> x(2 * 400);  // two chains in different places
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(double(i * i)) + (i < 400 ? 0 : 5);
  write_npz<double>(desk.path("x.npz"), {{"x", {{2, 400}, x}}});
  const Outcome without = desk.kelvin("diagnose x.npz");
  EXPECT_THAT(without.out, HasSubstr("check \"drift\" cannot be made: these draws come without energy"));
  EXPECT_THAT(without.out, HasSubstr("chains disagree: rhat of x is"));
  EXPECT_EQ(without.code, 0) << without.error;
}

TEST_F(Import, WhatNeedsAModelIsRefused) {
  succeed(desk, "export run --to csv -o draws.csv");
  for (const std::string command : {"predict draws.csv", "landscape line draws.csv", "boundary draws.csv",
                                    "analyse leave_one_out draws.csv", "compare draws.csv draws.csv"})
    refuse(desk, command, "\"draws.csv\" holds draws alone");
  refuse(desk, "analyse diffusion_map draws.csv --target", "\"draws.csv\" holds draws alone; --target needs");
  refuse(desk, "analyse free_energy draws.csv --coordinate q[0]",
         "\"draws.csv\" tells no temperature; give --temperature");
}

TEST_F(Import, ImportedRunsAreKept) {
  for (const std::string walker : {"0", "1"})
    succeed(desk, "export run --to stan-csv --walker " + walker + " -o walker" + walker + ".csv");
  succeed(desk, "import walker0_1.csv walker1_2.csv -o imported");
  const Samples run = open_samples(desk.path("run")), samples = open_samples(desk.path("imported"));
  EXPECT_EQ(samples.walkers, 2u);
  EXPECT_THAT(samples.blocks, ElementsAre("q"));
  EXPECT_TRUE(samples.record.imported());
  for (std::size_t w = 0; w < 2; ++w) {
    const auto ours = run.block("q", w), theirs = samples.block("q", w);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
      EXPECT_NEAR(ours[i], theirs[i], 1e-7 * std::max(1.0, std::abs(ours[i])));
    const auto U = run.statistic("potential", w), lp = samples.statistic("potential", w);
    for (std::size_t i = 0; i < U.size(); ++i) EXPECT_NEAR(U[i], lp[i], 1e-7 * std::max(1.0, U[i]));  // N = 1
  }
  succeed(desk, "analyse covariance imported");  // its directions are kept
  succeed(desk, "analyse free_energy imported --coordinate v0 --temperature 1");
  succeed(desk, "export imported --to netcdf -o again.nc");
  refuse(desk, "import walker0_1.csv -o imported", "\"imported\" exists already");
  succeed(desk, "verify imported");
  refuse(desk, "resume imported --steps 10", "\"imported\" holds draws of another program");
  succeed(desk, "report imported");
}

TEST(ImportTables, ColumnsBecomeArraysOfChains) {
  const Directory directory;
  const auto read = [&](const std::string& name, const std::string& text) {
    const std::string files[] = {directory.write(name, text)};
    return read_draws(files);
  };
  // Stan: comments, the first index fastest, statistics that end in two underscores.
  const ImportedDraws stan = read("stan.csv",
                                  "# stan_version = 2\nlp__,accept_stat__,divergent__,mu,L.1.1,L.2.1,L.1.2,L.2.2\n"
                                  "# Adaptation terminated\n-1,0.9,0,5,11,21,12,22\n-2,0.8,1,6,31,41,32,42\n");
  ASSERT_EQ(stan.blocks.size(), 2u);
  EXPECT_EQ(stan.blocks[0].name, "mu");
  EXPECT_THAT(stan.blocks[0].shape, ElementsAre());
  EXPECT_THAT(stan.blocks[1].shape, ElementsAre(2, 2));
  EXPECT_THAT(stan.blocks[1].values, ElementsAre(11, 12, 21, 22, 31, 32, 41, 42));
  ASSERT_EQ(stan.statistics.size(), 3u);
  EXPECT_EQ(stan.statistics[2].name, "diverging");
  // Plain columns with their chain, rows of chains mixed; an array that lacks an entry is none.
  const ImportedDraws mixed = read("mixed.csv",
                                   "chain,draw,a[0],a[1],b[0],b[2]\n1,0,1,2,3,4\n2,0,10,20,30,40\n"
                                   "1,1,5,6,7,8\n2,1,50,60,70,nan\n");
  EXPECT_EQ(mixed.chains, 2u);
  EXPECT_EQ(mixed.draws, 2u);
  ASSERT_EQ(mixed.blocks.size(), 3u);
  EXPECT_THAT(mixed.blocks[0].values, ElementsAre(1, 2, 5, 6, 10, 20, 50, 60));
  EXPECT_EQ(mixed.blocks[1].name, "b[0]");
  EXPECT_TRUE(std::isnan(mixed.blocks[2].values[3]));
  // Without names.
  EXPECT_EQ(read("plain.csv", "1,2\n3,4\n").blocks[1].name, "x2");

  const auto said = [&](const std::string& text) { return error_of([&] { read("bad.csv", text); }); };
  EXPECT_THAT(said("chain,x\n1,1\n1,2\n2,3\n"), HasSubstr("every chain needs equally many"));
  EXPECT_THAT(said("chain,x\n1,1\n2,no\n"), HasSubstr("line 3: column \"x\" must hold numbers, not \"no\""));
  EXPECT_THAT(said("chain,draw\n1,1\n2,2\n"), HasSubstr("holds no draws"));
  EXPECT_THAT(said("a/b,x\n1,1\n"), HasSubstr("an array cannot be named \"a/b\""));
}

TEST(ImportTables, BadFilesAreRefusedInOneSentence) {
  const Desk desk;
  write_npz<double>(desk.path("flat.npz"), {{"x", {{3}, std::vector<double>{1, 2, 3}}}});
  refuse(desk, "summary flat.npz", "array \"x\" has 1 dimension; arrays of draws have the dimensions chain, draw");
  const std::vector<double> x(8, 1.0);
  write_npz<double>(desk.path("uneven.npz"), {{"x", {{2, 4}, x}}, {"y", {{4, 2}, x}}});
  refuse(desk, "summary uneven.npz", "array \"y\" has 2 draws of 4 chains where others have 4 of 2");
  desk.write("text.nc", "no netCDF");
  refuse(desk, "summary text.nc", "\"text.nc\" cannot be read as netCDF; is it whole?");
  refuse(desk, "summary nothing.nc", "\"nothing.nc\"");
  refuse(desk, "summary nothing.csv", "nothing.csv");
  refuse(desk, "import nothing.txt -o run",
         "\"nothing.txt\" is no file of draws; give one that ends in .npz, .csv or .nc");
}

}  // namespace
}  // namespace kelvin
