// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/encode.h"

#include <filesystem>
#include <map>

#include "apps/cli/command.h"
#include "kelvin/io/npy.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

struct Options {
  std::string run, out;
  std::size_t layer = 1;
  bool force = false;
};

void encode(const Options& options) {
  const Samples samples = open_samples(options.run);
  if (samples.draws == 0) throw Error("\"{}\" has no draws; there is nothing to encode with", options.run);
  const std::filesystem::path out = options.out;
  with_replay(samples, remark, [&]<class Real>(const Replay<Real>& replay) {
    const Problem<Real>& problem = replay.problem;
    if (!problem.train) throw Error("\"{}\" is a run of a toy, which has no layers", options.run);
    const auto q = replay.point(samples.draws - 1, 0);
    std::map<std::string, const Dataset*> files;
    for (const auto& [name, rows] : {std::pair{"train.npy", &problem.data.train},
                                     {"validation.npy", &problem.data.validation},
                                     {"test.npy", &problem.data.test}})
      if (rows->rows > 0) files[(out / name).string()] = rows;
    for (const auto& [file, rows] : files)
      if (std::filesystem::exists(file) && !options.force)
        throw Error("\"{}\" exists already; give another --out, or --force to replace it", file);
    make_directories(out);
    for (const auto& [file, rows] : files) {
      const auto values = encoded<Real>(problem, q, options.layer, *rows);
      write_npy<Real>(file, {{rows->rows, values.size() / rows->rows}, values});
      print(file + "\n");
    }
  });
}

}  // namespace

void add_encode(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand(
      "encode", "what a hidden layer makes of a run's rows, at its last draw: data for the next of a stack");
  command.add_option("run", options->run, "directory of a run")->required();
  command.add_option("--layer", options->layer, "hidden layer, from 1 (default)");
  command.add_option("-o,--out", options->out, "directory for train.npy, validation.npy and test.npy")->required();
  command.add_flag("--force", options->force, "replace the files that are there");
  command.footer("Example:  kelvin encode runs/autoencoder -o codes");
  command.callback([options] { encode(*options); });
}

}  // namespace kelvin::cli
