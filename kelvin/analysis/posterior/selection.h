// SPDX-License-Identifier: Apache-2.0
// The walkers, draws and parameters an analysis was asked for, read from a run a piece at a time.
#pragma once
#include <functional>

#include "kelvin/analysis/analysis.h"
#include "kelvin/numeric/statistics.h"

namespace kelvin {

// Options of analyses that look at some of the draws,
struct DrawSelection {
  long walker = -1, every = 1, skip = 0;
  template <class Visit>
  void fields(Visit&& field) {
    field("walker", walker, "this walker only, from 0; -1 takes all");
    field("every", every, "every so many stored draws");
    field("skip", skip, "leave out so many draws at the beginning");
  }
};

// and at some of the parameters.
struct ParameterSelection : DrawSelection {
  std::string part;
  std::vector<std::string> blocks;
  template <class Visit>
  void fields(Visit&& field) {
    field("part", part, "the parameters of this part only");
    field("blocks", blocks, "the parameters of these blocks only, with * and ?; a leading ! leaves out");
    DrawSelection::fields(field);
  }
};

struct ChosenBlock {
  std::string name, part;                  // part: empty for a frozen block
  std::vector<std::size_t> shape;          // of one draw
  std::size_t offset = 0, size = 0;        // in the parameters of the whole run, laid out as its recipe says
  std::string entry(std::size_t i) const;  // layer1.weight[0,2]
};

struct Chosen {
  Samples samples;
  std::vector<std::size_t> walkers, draws;
  std::vector<ChosenBlock> blocks;
  std::size_t size = 0;        // numbers in a draw of the chosen blocks
  std::size_t parameters = 0;  // of the whole run
  std::size_t rows() const { return walkers.size() * draws.size(); }
  std::string words() const;  // "1000 draws of 4 walkers"
};

// Names that match one of the globs, in their own order; a leading ! leaves out.
bool matches_any(const std::vector<std::string>& globs, std::string_view name);

Chosen choose(const Samples&, const ParameterSelection&);
Chosen thinned(Chosen, std::size_t most_rows);  // evenly spaced draws, no more than that of all walkers together

// The chosen draws of a walker, some at a time: rows of `size` numbers, one after another.
using VisitRows = std::function<void(std::span<const double>)>;
void each_piece(const Chosen&, std::size_t walker, const VisitRows&);

// Rows that can be gone through again and again: from memory if they fit there, else from the disk.
struct Rows {
  std::size_t count = 0, width = 0;
  std::function<void(const VisitRows&)> each;
};
Rows rows_of(const Chosen&);
Rows rows_of(std::vector<double> numbers, std::size_t width);

// One number per draw, of each chosen walker.
struct ChosenQuantity {
  std::string name, part;  // part: empty if it belongs to all of them
  Chains walkers;
};
std::vector<ChosenQuantity> quantities(const Chosen&, const std::vector<std::string>& globs);
std::vector<ChosenQuantity> usual_quantities(const Chosen&,
                                             const std::vector<std::string>& globs);  // or, without globs

// Of a part, or of all if they have the same; refuses one that changed during the run.
double temperature_of(const Samples&, const std::string& part);

}  // namespace kelvin
