// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/tati.h"

#include <algorithm>

namespace kelvin {
namespace {

// clang-format off
constexpr TatiName all_tati_names[] = {
    {"StochasticGradientLangevinDynamics", "sampler", "scheme = \"sgld\""},
    {"GeometricLangevinAlgorithm_1stOrder", "sampler", "scheme = \"gla1\""},
    {"GeometricLangevinAlgorithm_2ndOrder", "sampler", "scheme = \"gla2\""},
    {"HamiltonianMonteCarlo_1stOrder", "sampler", "scheme = \"hmc\" (their leg of first order does not keep the law)"},
    {"HamiltonianMonteCarlo_2ndOrder", "sampler", "scheme = \"hmc\""},
    {"CovarianceControlledAdaptiveLangevinThermostat", "sampler", "scheme = \"ccadl\""},
    {"CovarianceControlledAdaptiveLangevin", "sampler", "scheme = \"ccadl\""},
    {"GradientDescent", "optimizer", "scheme = \"sgd\""},
    {"BarzilaiBorweinGradientDescent", "optimizer", "scheme = \"bbgd\""},

    {"averages_file", "option", "kelvin analyse averages RUN"},
    {"batch_data_files", "option", "data.file"},
    {"batch_data_file_type", "option", "nothing: files are told apart by their first bytes"},
    {"batch_size", "option", "batch.size"},
    {"burn_in_steps", "option", "warmup"},
    {"collapse_walkers", "option", "coupling.collapse"},
    {"covariance_after_steps", "option", "coupling.refresh"},
    {"covariance_blending", "option", "coupling.blending"},
    {"diffusion_map_method", "option", "--target of kelvin analyse diffusion_map"},
    {"directions_file", "option", "kelvin analyse covariance RUN, which keeps directions"},
    {"do_accumulates", "option", "nothing: statistics cost next to nothing"},
    {"do_hessians", "option", "kelvin landscape hessian RUN"},
    {"dropout", "option", "part.NAME.mask = { name = \"dropout\", share = 1 - dropout }"},
    {"every_nth", "option", "every"},
    {"fix_parameters", "option", "part.NAME.blocks: blocks of no part are frozen"},
    {"friction_constant", "option", "part.NAME.friction"},
    {"hamiltonian_dynamics_time", "option", "the number in scheme = \"R{(BAB)10}\", times the step"},
    {"hidden_activation", "option", "model.activation"},
    {"hidden_dimension", "option", "model.layers = [inputs, ..., outputs]"},
    {"in_memory_pipeline", "option", "nothing: rows are in memory"},
    {"input_columns", "option", "data.inputs and data.derived"},
    {"input_dimension", "option", "model.layers = [inputs, ..., outputs]"},
    {"inter_ops_threads", "option", "--threads"},
    {"intra_ops_threads", "option", "--threads"},
    {"inverse_temperature", "option", "part.NAME.temperature = 1 / inverse_temperature"},
    {"learning_rate", "option", "part.NAME.step"},
    {"max_steps", "option", "steps"},
    {"number_of_eigenvalues", "option", "--count"},
    {"number_walkers", "option", "walkers"},
    {"optimizer", "option", "part.NAME.scheme"},
    {"output_activation", "option", "model.output"},
    {"output_dimension", "option", "model.layers = [inputs, ..., outputs]"},
    {"parse_parameters_file", "option", "from"},
    {"parse_steps", "option", "from = \"RUN:draw\""},
    {"prior_factor", "option", "part.NAME.prior = { name = \"walls\", strength = ... }"},
    {"prior_power", "option", "part.NAME.prior = { name = \"walls\", power = ... }"},
    {"prior_lower_boundary", "option", "part.NAME.prior = { name = \"walls\", lower = ... }"},
    {"prior_upper_boundary", "option", "part.NAME.prior = { name = \"walls\", upper = ... }"},
    {"progress", "option", "nothing: progress is shown; -q hides it"},
    {"restore_model", "option", "kelvin resume RUN, or from = \"RUN\""},
    {"save_model", "option", "nothing: every run is stored with checkpoints"},
    {"run_file", "option", "-o RUN: RUN/samples.zarr/sample_stats"},
    {"sampler", "option", "part.NAME.scheme"},
    {"sigma", "option", "part.NAME.sigma"},
    {"sigmaA", "option", "part.NAME.sigma"},
    {"sql_db", "option", "RUN/run.json, which has the seconds"},
    {"step_width", "option", "part.NAME.step"},
    {"summaries_path", "option", "kelvin report RUN"},
    {"trajectory_file", "option", "-o RUN: RUN/samples.zarr/posterior"},
    {"use_reweighting", "option", "--target of kelvin analyse diffusion_map"},
    {"verbose", "option", "nothing: remarks are shown; -q hides them"},
    {"drop_burnin", "option", "--skip"},
    {"landmarks", "option", "--bins of kelvin analyse free_energy"},
    {"train_test_ratio", "option", "data.test"},
    {"interval_weights", "option", "--axis of kelvin landscape grid"},
    {"interval_biases", "option", "--axis of kelvin landscape grid"},
    {"samples_weights", "option", "--axis of kelvin landscape grid"},
    {"exclude_parameters", "option", "--exclude of kelvin landscape grid"},
    {"samples_biases", "option", "--axis of kelvin landscape grid"},

    {"loss", "option", "model.loss"},
    {"log_loss", "loss", "loss = \"log\""},
    {"hinge_loss", "loss", "loss = \"hinge\""},
    {"absolute_difference", "loss", "loss = \"absolute\""},
    {"sigmoid_cross_entropy", "loss", "loss = \"binary_cross_entropy\""},
    {"cosine_distance", "loss", "loss = \"cosine\""},

    {"TATiDatasetWriter", "tool", "data.generator, or `kelvin new spiral`"},
    {"TATiDatasetParser", "tool", "`kelvin data FILE`"},
    {"TATiOptimizer", "tool", "`kelvin train`"},
    {"TATiSampler", "tool", "`kelvin sample`"},
    {"TATiLossFunctionSampler", "tool", "`kelvin landscape grid`, or `kelvin landscape trajectory`"},
    {"TATiInputSpaceSampler", "tool", "`kelvin predict RUN --data FILE`, or `kelvin boundary`"},
    {"TATiAnalyser", "tool", "`kelvin analyse`"},
    {"TATiExplorer", "tool", "`kelvin sample` with several walkers, then `kelvin analyse diffusion_map` and `kelvin train`"},
    {"NumericalDiff", "tool", "`kelvin compare`"},

    {"average_energies", "analysis", "averages"},
    {"average_trajectory", "analysis", "averages"},
    {"ensemble_average_trajectory", "analysis", "averages"},
    {"covariance_per_walker", "analysis", "covariance --per-walker"},
    {"free_energy_levelsets", "analysis", "free_energy"},
    {"free_energy_histograms", "analysis", "free_energy"},
    {"integrated_autocorrelation_time_covariance", "analysis", "autocorrelation, or covariance, which has the times"},
    {"integrated_autocorrelation_time_covariance_per_walker", "analysis", "covariance --per-walker"},

    {"simulation", "method", "kelvin.Simulation"},
    {"get_options", "method", "options"},
    {"set_options", "method", "change(...)"},
    {"get_losses", "method", "`kelvin list losses`"},
    {"get_activations", "method", "`kelvin list activations`"},
    {"non_simplified_access", "method", "nothing: parameters[k] is always that of walker k"},
};
// clang-format on

}  // namespace

std::span<const TatiName> tati_names() { return all_tati_names; }

const TatiName* tati_name(std::string_view name) {
  const auto at = std::ranges::find(all_tati_names, name, &TatiName::name);
  return at == std::end(all_tati_names) ? nullptr : &*at;
}

}  // namespace kelvin
