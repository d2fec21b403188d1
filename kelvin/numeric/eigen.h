// SPDX-License-Identifier: Apache-2.0
// Dense matrices, with the solvers that many files use made once for all of them: most of what compiling them costs is
// making them anew. They take a matrix, so give them Eigen::MatrixXd(expression).
#pragma once
#include <Eigen/Dense>

extern template class Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;
extern template Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>::compute(
    const Eigen::EigenBase<Eigen::MatrixXd>&, int);
extern template class Eigen::LLT<Eigen::MatrixXd>;
extern template Eigen::LLT<Eigen::MatrixXd>& Eigen::LLT<Eigen::MatrixXd>::compute(
    const Eigen::EigenBase<Eigen::MatrixXd>&);
