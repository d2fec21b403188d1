// SPDX-License-Identifier: Apache-2.0
#include "kelvin/ensemble/comm.h"

#include <algorithm>

#include "kelvin/core/pack.h"

namespace kelvin {
namespace {

template <class T, class Better>
std::vector<T> best_of(Comm& comm, const std::vector<T>& mine, Better better) {
  if (comm.size() == 1) return mine;
  Packer pack;
  pack(mine);
  std::vector<T> best = mine, theirs;
  for (const std::string& bytes : comm.everyone(pack.bytes)) {
    Unpacker{bytes}(theirs);
    for (std::size_t k = 0; k < best.size(); ++k)
      if (better(theirs[k], best[k])) best[k] = theirs[k];
  }
  return best;
}

}  // namespace

std::vector<std::uint64_t> Comm::least(const std::vector<std::uint64_t>& mine) {
  return best_of(*this, mine, std::less<>());
}

std::vector<double> Comm::most(const std::vector<double>& mine) { return best_of(*this, mine, std::greater<>()); }

}  // namespace kelvin
