// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/draw_statistics.h"

#include <algorithm>

namespace kelvin {
namespace {

bool changes_steps(const Recipe& r) {
  const Scheme& scheme = r.parts.front().scheme;
  return scheme.proposes || scheme.own_time || r.tuning.learns();
}
bool errs_in_energy(const Recipe& r) { return r.parts.front().scheme.unit_speed && !r.parts.front().scheme.proposes; }
bool travels(const Recipe& r) { return r.parts.front().scheme.travels; }
bool constrained(const Recipe& r) {
  return std::ranges::any_of(std::span(r.parts).first(r.told_parts()),
                             [](const PartRecipe& part) { return !part.constraints.empty(); });
}
// energy is the Hamiltonian U + p.p/2m; lp is -N U, the log posterior up to a constant.
const DrawStatistic all_draw_statistics[] = {
    {"step", "<i8", false, [](const Reading& r, std::size_t, double, const Clock&) { return double(r.step); }},
    {"potential", "<f8", false, [](const Reading& r, std::size_t, double, const Clock&) { return r.energy; }},
    {"lp", "<f8", false, [](const Reading& r, std::size_t, double rows, const Clock&) { return -rows * r.energy; }},
    {"energy", "<f8", false,
     [](const Reading& r, std::size_t, double, const Clock&) {
       double H = r.energy;
       for (const PartReading& p : r.parts) H += p.kinetic_energy;
       return H;
     }},
    {"acceptance_rate", "<f8", false, [](const Reading& r, std::size_t, double, const Clock&) { return r.statistic; }},
    {"step_size", "<f8", false, [](const Reading& r, std::size_t, double, const Clock&) { return r.taken; },
     changes_steps},
    {"tree_depth", "<i8", false, [](const Reading& r, std::size_t, double, const Clock&) { return double(r.depth); },
     travels},
    {"n_steps", "<i8", false, [](const Reading& r, std::size_t, double, const Clock&) { return double(r.leaps); },
     travels},
    {"energy_error", "<f8", false, [](const Reading& r, std::size_t, double, const Clock&) { return r.energy_error; },
     errs_in_energy},
    {"log_weight", "<f8", false, [](const Reading& r, std::size_t, double, const Clock&) { return r.log_weight; },
     [](const Recipe& r) { return r.weighed; }},
    {"alpha", "<f8", false, [](const Reading& r, std::size_t, double, const Clock&) { return r.alpha; },
     [](const Recipe& r) { return r.tempered; }},
    {"alpha_temperature", "<f8", false,
     [](const Reading& r, std::size_t, double, const Clock&) { return r.parts.back().kinetic_temperature; },
     [](const Recipe& r) { return r.tempered; }},
    {"replica", "<i8", false, [](const Reading& r, std::size_t, double, const Clock&) { return double(r.replica); },
     [](const Recipe&) { return true; }, [](const RunSettings& s) { return s.exchange.used(); }},
    {"diverging", "|b1", false,
     [](const Reading& r, std::size_t, double, const Clock&) { return double(r.diverging); }},
    {"time", "<f8", false, [](const Reading&, std::size_t, double, const Clock& now) { return now(); }},
    {"kinetic_energy", "<f8", true,
     [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].kinetic_energy; }},
    {"kinetic_temperature", "<f8", true,
     [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].kinetic_temperature; }},
    {"virial", "<f8", true, [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].virial; }},
    {"configurational_temperature", "<f8", true,
     [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].configurational_temperature; }},
    {"xi", "<f8", true, [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].xi; }},
    {"constraint_residual", "<f8", true,
     [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].residual; }, constrained},
    {"tangency_residual", "<f8", true,
     [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].tangency; }, constrained},
    {"projection_fallbacks", "<f8", true,
     [](const Reading& r, std::size_t k, double, const Clock&) { return r.parts[k].fallbacks; }, constrained},
};

}  // namespace

std::span<const DrawStatistic> draw_statistics() { return all_draw_statistics; }

}  // namespace kelvin
