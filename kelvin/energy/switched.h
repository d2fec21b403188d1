// SPDX-License-Identifier: Apache-2.0
// Infinite-switch simulated tempering (Martinsson, Lu, Leimkuhler and Vanden-Eijnden 2019): the sum of the laws at many
// temperatures T/g_k, 1 = g_1 > ... > g_K, each divided by its Z_k, sampled as one law
//   D(U) = 1/K sum_k exp(-g_k U/T) / Z_k,   W = -T log D,   grad W = gbar(U) grad U,
// with gbar the mean of g_k over the terms of the sum. A draw stands for exp(-U/T) with the weight exp(-U/T)/(Z_1 D).
#pragma once
#include <cstdint>

#include "kelvin/energy/law.h"

namespace kelvin {

struct Switching {
  double temperature = 1;
  double highest = 2;          // 1/g_K; the g_k are a constant ratio apart
  std::size_t nodes = 20;      // K
  std::uint64_t learning = 0;  // evaluations during which Z_k -> <exp(-g_k U/T) / D> is learnt; frozen afterwards
};

template <class Real>
std::unique_ptr<Law<Real>> switching_law(const Switching&);

}  // namespace kelvin
