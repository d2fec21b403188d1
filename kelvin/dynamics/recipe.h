// SPDX-License-Identifier: Apache-2.0
// A recipe: which blocks form which part, and how each part moves. Made from settings and a potential's blocks, checked
// once.
#pragma once
#include <map>
#include <optional>

#include "kelvin/core/settings.h"
#include "kelvin/dynamics/constraint.h"
#include "kelvin/dynamics/schedule.h"
#include "kelvin/dynamics/scheme.h"
#include "kelvin/dynamics/tuning.h"
#include "kelvin/energy/energy.h"

namespace kelvin {

struct PartSettings {
  std::vector<std::string> blocks = {"*"};
  std::string scheme = "BAOAB";
  Choice step = Choice::number_of("constant", "value", 0.01);
  Choice friction = Choice::number_of("constant", "value", 1);
  Choice temperature;
  Choice mass = Choice::number_of("constant", "value", 1);
  Choice sigma = Choice::number_of("constant", "value", 0.01);
  Choice eps = Choice::number_of("constant", "value", 0.1);
  double xi = 0;
  std::string damping = "xi";
  double momentum = 0.9, dampening = 0, weight_decay = 0, beta1 = 0.9, beta2 = 0.999, floor = 1e-8, trust = 1;
  std::string role;
  Choice penalty, mask, gradient_noise;
  Choice prior;
  Choice start;
  Choice constraint;
  template <class Visit>
  void fields(Visit&& field) {
    field("blocks", blocks,
          "names of its blocks, with * and ?, or groups such as \"@last\" (`kelvin list block_groups`); a leading ! "
          "leaves out: [\"*\", \"!*.bias\"]");
    field("scheme", scheme, "letters, or the name of a known scheme");
    field("step", step, "time of one pass through the scheme: a number or a schedule");
    field("friction", friction, "coupling to the heat bath, per time; inf is allowed; a number or a schedule");
    field("temperature", temperature,
          "0 trains, \"posterior\" samples the posterior (docs/units.md); a number or a schedule; by default 0 for "
          "`kelvin train`, \"posterior\" for `kelvin sample`");
    field("mass", mass, "mass of every entry; a number or a schedule");
    field("sigma", sigma, "adaptive Langevin: noise on p, per root of time; a number or a schedule");
    field("eps", eps, "adaptive Langevin: how fast xi follows the kinetic temperature; a number or a schedule");
    field("xi", xi, "adaptive Langevin: the friction it starts with");
    field("damping", damping, "adaptive Langevin: the friction on p, \"xi\" or \"eps xi\"; see docs/training.md");
    field("momentum", momentum, "optimizers h, n and l: share of the last update that is kept");
    field("dampening", dampening, "optimizer h: share of the gradient that is left out of the momentum");
    field("weight_decay", weight_decay,
          "adds weight_decay q to the gradient (U gets weight_decay q^2/2); with AdamW, LARS and LAMB as those do it");
    field("beta1", beta1, "Adam and its kin: decay of the mean gradient");
    field("beta2", beta2, "Adam and its kin: decay of the mean squared gradient");
    field("floor", floor, "Adam and its kin: added to the root of the mean square (PyTorch's eps)");
    field("trust", trust, "LARS and LAMB: size of an update in units of the block's own size");
    field("penalty", penalty, "added to U, not divided by N: a row of `kelvin list penalties`");
    field("mask", mask, "entries left out of some evaluations: a row of `kelvin list masks`, such as dropout");
    field("gradient_noise", gradient_noise,
          "variance of normals added to every entry of the gradient before a letter reads it: a number or a schedule "
          "of the evaluation");
    field("role", role, "what the part does in the preset; by default what its name says");
    field("prior", prior,
          "in place of model.prior: a row of `kelvin list priors`; a bare number is a Gaussian's scale");
    field("start", start, "initial values: a row of `kelvin list initialisers`; a bare number fills");
    field("constraint", constraint,
          "what its weights stay on: a row of `kelvin list constraints`, such as { name = \"circle\", radius = 0.5 }");
  }
};

// The two conventions of adaptive Langevin: dp = -xi p dt or dp = -eps xi p dt, with dxi = eps (p.p/m - n T) dt in
// both.
struct Damping {
  std::string_view name;
  double (*per_xi)(double eps);
  std::string_view meaning;
};
std::span<const Damping> dampings();

struct PartRecipe {
  std::string name;
  Scheme scheme;
  Schedule step, friction, temperature, mass, sigma, eps;
  const Damping* damping;
  double xi;  // at the start
  PartConstants constants;
  std::size_t offset = 0, size = 0;               // its span of q
  std::vector<std::uint32_t> frozen = {};         // entries of the span that stay put
  std::vector<BlockConstraint> constraints = {};  // of its blocks, in their order
  std::size_t freedom() const;                    // degrees of freedom: entries less frozen ones and equations
};

struct Recipe {
  std::vector<Block> blocks;  // arranged: the parts' blocks one part after another, then the frozen ones
  std::vector<PartRecipe> parts;
  std::map<std::string, std::string> part_of;  // block name -> part name; frozen blocks have none
  std::map<std::size_t, double> fixed;         // place in q -> value given for a frozen entry
  std::size_t size = 0;
  std::uint64_t begins = 0;  // the step at which it takes over
  Tuning tuning = {};
  bool weighed = false;   // draws carry weights
  bool tempered = false;  // its last part is the tempering variable, of which no run stores statistics
  bool heats = false;     // the temperature of the other parts depends on it
  std::size_t told_parts() const { return parts.size() - (tempered ? 1 : 0); }
  std::vector<Recipe> later;  // of the phases after this one; the same parts, moving otherwise
  std::shared_ptr<const OwnLetters> own_letters = nullptr;  // that its schemes may point to
};

// Schemes may contain letters of one's own besides those of the table.
Recipe make_recipe(const std::map<std::string, PartSettings>&, const std::vector<std::string>& freeze,
                   std::vector<Block> blocks, const Horizon&, std::shared_ptr<const OwnLetters> = nullptr);

// Puts a block of one part on a manifold of one's own.
void constrain(Recipe&, const std::string& block, OwnConstraint);

// Parts meet at joint letters: the same number in each, braces and N at the same meetings. Refused by name otherwise.
void check_meetings(const std::vector<PartRecipe>&);

// "*" stands for any text, "?" for any one character.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace kelvin
