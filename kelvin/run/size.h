// SPDX-License-Identifier: Apache-2.0
// What a run will need, from its settings, before anything is allocated.
#pragma once
#include <limits>
#include <string>

#include "kelvin/data/dataset.h"
#include "kelvin/run/settings.h"

namespace kelvin {

// Bytes that a machine still has for a run; without end where nobody has looked.
struct Room {
  double memory = std::numeric_limits<double>::infinity(), disk = std::numeric_limits<double>::infinity();
};

// In bytes. Memory is the least that it can be: states, moments, draws that wait for the disk, rows.
struct RunSize {
  double parameters = 0, walkers = 0, draws = 0;  // draws: of each walker
  double draw = 0, memory = 0, disk = 0;          // draw: a single one
  std::string text() const;                       // "12.3 MB of memory and 340 MB of disk"
};

// The rows of a run without data are none.
RunSize size_of(const RunSettings&, double parameters, const Splits&);

// The parameters of a network by its settings and the shape of a row.
double parameters_of(const ModelSettings&, const Shape& input);

// How many rows a generator will make, without their numbers; none where there is no generator.
Splits planned_rows(const DataSettings&);

// Refuses rows that are to be made, or a run, for which there is no room.
void check_generated_rows(const DataSettings&, const Room&);
void check_size(const RunSize&, const Room&);

}  // namespace kelvin
