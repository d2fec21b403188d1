// SPDX-License-Identifier: Apache-2.0
// Quantiles of distributions, to about 1e-14.
#pragma once

namespace kelvin {

double normal_quantile(double share);
double beta_share(double a, double b, double x);  // I_x(a, b), the regularised incomplete beta function
double beta_quantile(double share, double a, double b);
double chi_square_quantile(double share, double freedom);  // Wilson and Hilferty's cube: some 1e-3 for freedom >= 3

}  // namespace kelvin
