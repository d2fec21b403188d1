// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/encode.h"

#include <filesystem>
#include <map>

#include "apps/cli/command.h"
#include "kelvin/io/npy.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

struct EncodeArguments {
  std::string run, out;
  std::size_t layer = 1;
  bool force = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("run", run, "directory of a run", argument);
    field("layer", layer, "hidden layer, from 1 (default)");
    field("out", out, "directory for train.npy, validation.npy and test.npy", {.required = true});
    field("force", force, "replace the files that are there");
  }
};

void encode_rows(const EncodeArguments& options) {
  const Samples samples = open_samples(options.run);
  if (samples.draws == 0) throw Error("\"{}\" has no draws; there is nothing to encode with", options.run);
  const std::filesystem::path out = options.out;
  with_stored_run(samples, remark, [&]<class Real>(const StoredRun<Real>& run) {
    const Problem<Real>& problem = run.problem;
    if (!problem.train) throw Error("\"{}\" is a run of a toy, which has no layers", options.run);
    const auto q = run.point(samples.draws - 1, 0);
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

Command encode_command() {
  return {.name = "encode",
          .summary = "what a hidden layer makes of a run's rows, at its last draw: data for the next of a stack",
          .footer = "Example:  kelvin encode runs/autoencoder -o codes",
          .call = calls(encode_rows)};
}

}  // namespace kelvin::cli
