// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/tuning.h"

#include <cmath>

#include "kelvin/core/choice.h"

namespace kelvin {
namespace {

constexpr Rescaling all_rescalings[] = {
    {"unit", MassShape::none, "the coordinates as they are"},
    {"diagonal", MassShape::diagonal, "each coordinate in units of its own standard deviation"},
    {"dense", MassShape::dense, "coordinates without correlations: one part, memory for the square of its numbers"},
};

constexpr CovarianceForm forms[] = {
    {"diagonal", false, "the variance of each entry, averaged over evaluations"},
    {"low_rank", true, "the covariance of the latest examples, correlations included"},
};

void between(std::string_view key, double x, double least, double most) {
  if (!(x >= least && x < most)) throw Error("{} must be at least {} and below {}, not {}", key, least, most, x);
}

}  // namespace

std::span<const Rescaling> rescalings() { return all_rescalings; }

std::span<const CovarianceForm> covariance_forms() { return forms; }

double TempoSettings::psi(double zeta) const {
  const double x = std::pow(zeta, power);
  return std::isinf(x) ? least : least * (x + most) / (x + least);
}

const Rescaling& Tuning::rescaling() const { return row_named(adapt.metric, rescalings(), "metric"); }

bool Tuning::learns() const { return adapt.step || adapt.friction || rescaling().shape != MassShape::none; }

void check_tuning(const Tuning& tuning) {
  between("jitter.step", tuning.jitter.step, 0, 1);
  between("jitter.length", tuning.jitter.length, 0, 1);
  between("adapt.acceptance", tuning.adapt.acceptance, 0.01, 1);
  between("adapt.disagreement", tuning.adapt.disagreement, 1e-6, 1);
  between("adapt.energy_variance", tuning.adapt.energy_variance, 1e-12, 1);
  between("tempo.least", tuning.tempo.least, 1e-6, 1e6);
  between("tempo.most", tuning.tempo.most, tuning.tempo.least, 1e6);
  between("tempo.power", tuning.tempo.power, 1e-3, 10);
  between("tempo.rate", tuning.tempo.rate, 1e-9, 1e9);
  between("tempo.scale", tuning.tempo.scale, 1e-300, INFINITY);
  between("covariance.keep", tuning.covariance.keep, 0, 1);
  const bool low_rank = row_named(tuning.covariance.form, covariance_forms(), "form of covariance").low_rank;
  between("covariance.examples", double(tuning.covariance.examples), 2, low_rank ? 65 : 1e6);
  between("covariance.every", double(tuning.covariance.every), 1, 1e9);
  constexpr std::uint64_t shortest = 20;
  if (tuning.learns() && tuning.warmup < shortest)
    throw Error("[adapt] learns during the warm-up, which has {} steps; set warmup to at least {}, better 1000",
                tuning.warmup, shortest);
}

}  // namespace kelvin
