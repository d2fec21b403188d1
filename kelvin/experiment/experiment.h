// SPDX-License-Identifier: Apache-2.0
// An experiment: the same runs by several methods (arms), some over a grid of settings, each with many seeds; what
// is measured, what was published and what is claimed. One file, experiments/NAME/experiment.toml.
#pragma once

#include "kelvin/core/error.h"
#include "kelvin/run/settings.h"

namespace kelvin {

struct ArmSettings {
  std::string label;
  Value run = Value::Group(), published = Value::Group(), grid = Value::Group();
  template <class Visit>
  void fields(Visit&& field) {
    field("label", label, "its name in tables and figures");
    field("run", run, "settings of a run file that this arm adds to the common ones");
    field("published", published,
          "measure -> the source's number, or one for each step of `at` (and, before that, each place of the grid)");
    field("grid", grid,
          "setting -> its values, or { from, to, count }; the arm is run at every combination. A value that is a list, "
          "such as those of model.layers, is called by its length");
  }
};

// "the mean of `measure` of the arm `more` exceeds that of `than`", or the power with which it grows along an axis.
struct ClaimSettings {
  std::string says, measure = "test.accuracy", statistic = "mean", more, than, along;
  double by = 0;
  long at = 0, than_at = 0;
  template <class Visit>
  void fields(Visit&& field) {
    field("says", says, "the source's statement in our words");
    field("measure", measure, "a row of `kelvin list measures`");
    field("statistic", statistic, "over the seeds: mean, size, sd, least or most");
    field("more", more, "the arm, or the number, said to have more of it");
    field("than", than, "the arm, or the number, said to have less");
    field(
        "along", along,
        "a setting of the grid: compare the power of it with which the absolute value of the statistic grows over the "
        "cells that `more`, or `than`, names");
    field("by", by, "by how much at least");
    field("at", at, "the step at which; 0 is the last");
    field("than_at", than_at, "the step of `than`, if it is another");
  }
};

struct ExperimentSettings {
  std::string title, source, reading, group;
  long seeds = 10, quick = 2, curve = 50, classifier = 0;
  std::vector<long> at;
  std::vector<std::string> measures = {"train.loss", "test.loss", "test.accuracy"};
  std::vector<std::string> histograms;
  double histogram_range = 4;
  Value run = Value::Group();
  std::map<std::string, ArmSettings> arm;
  std::map<std::string, ClaimSettings> claim;
  template <class Visit>
  void fields(Visit&& field) {
    field("title", title, "what it shows");
    field("source", source, "whose figure or table it repeats");
    field("reading", reading, "how what the source leaves open was read, and what differs on purpose");
    field("group", group, "experiments that are run together");
    field("seeds", seeds, "runs of each arm; each has its own data, start and noise");
    field("quick", quick, "with --quick");
    field("curve", curve, "points of the learning curves");
    field("classifier", classifier, "points along each side of a map of the first seed's classifier; 0 makes none");
    field("at", at, "steps whose numbers are tabled; empty: the last");
    field("measures", measures, "rows of `kelvin list measures`");
    field("histograms", histograms, "blocks whose entries are counted at those steps, over all seeds");
    field("histogram_range", histogram_range, "their counts run from minus to plus this");
    field("run", run, "settings of a run file, common to all arms");
    field("arm", arm, "");
    field("claim", claim, "");
  }
};

// One arm at one place of its grid.
struct Cell {
  std::string name, arm;
  std::vector<double> place;  // values of the grid's settings
  RunSettings settings;
};

struct Axis {
  std::string setting;
  std::vector<double> values;         // of a list its length
  std::vector<std::string> assigned;  // the same as TOML
};

struct Experiment {
  std::string name;
  ExperimentSettings settings;
  std::map<std::string, std::vector<Axis>> axes;  // of each arm's grid
  std::vector<Cell> cells;
  std::vector<long> steps;  // at which everything is measured, ascending; those of `at` among them
  std::optional<double> along(const Cell&, const std::string& setting) const;  // its place on that axis, if it has one
  std::string label(const Cell&) const;
};

Experiment read_experiment(const Value&, const std::string& name);

std::optional<double> number_in(const std::string&);  // if it is one and nothing else

// What one seed of one cell came to.
struct Outcome {
  std::size_t cell = 0;
  long seed = 0;
  std::string stopped;                      // why, if the run did not reach its end
  std::vector<std::vector<double>> values;  // measures x steps; nan where it did not get to
  std::vector<std::vector<long>> counts;    // (histograms x at) of 80 bins, the ends holding what lies beyond
  std::vector<double> map;                  // probabilities of the second class, row by row; only of the first seed
  std::vector<double> map_x, map_y;
};
constexpr std::size_t histogram_bins = 80;

Outcome perform(const Experiment&, std::size_t cell, long seed);

Value as_value(const Experiment&, const Outcome&);  // with a fingerprint of all that it depends on
// Nothing if it was made with other settings.
std::optional<Outcome> read_outcome(const Experiment&, const Value&);

}  // namespace kelvin
