// SPDX-License-Identifier: Apache-2.0
// Quantiles of distributions, to about 1e-12, and functions that their moments need.
#pragma once

namespace kelvin {

double normal_quantile(double share);
double beta_share(double a, double b, double x);  // I_x(a, b), the regularised incomplete beta function
double beta_quantile(double share, double a, double b);
double gamma_share(double a, double x);  // P(a, x), the regularised incomplete gamma function
double chi_square_quantile(double share, double freedom);
double student_share(double freedom, double t);  // probability of less than t
double log_gamma(double x);  // of x > 0; unlike std::lgamma it may be called by several threads at once
double digamma(double x);    // d log gamma(x) / dx
double trigamma(double x);   // its derivative

}  // namespace kelvin
