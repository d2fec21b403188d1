// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/linear.h"

#include <Spectra/SymEigsSolver.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kelvin/core/error.h"
#include "kelvin/numeric/eigen.h"

namespace kelvin {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajorXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::size_t side_of(std::span<const double> square) {
  const auto n = std::size_t(std::lround(std::sqrt(double(square.size()))));
  if (n * n != square.size()) throw Error("{} numbers are not a square matrix; give n x n", square.size());
  return n;
}

Eigen::Map<const MatrixXd> square_matrix(std::span<const double> numbers) {
  const auto n = Index(side_of(numbers));
  return {numbers.data(), n, n};
}
Eigen::Map<const MatrixXd> matrix_of(const Matrix& m) { return {m.numbers.data(), Index(m.rows), Index(m.columns)}; }
Eigen::Map<const VectorXd> vector_of(std::span<const double> v) { return {v.data(), Index(v.size())}; }
Eigen::Map<VectorXd> vector_of(std::span<double> v) { return {v.data(), Index(v.size())}; }
Eigen::Map<const RowMajorXd> rows_of(const RowsView& X) { return {X.numbers.data(), Index(X.count()), Index(X.width)}; }

// out += factor A B. The library's loops for products are long to compile and made anew for every kind of operand, so
// all go this way.
template <class Real>
using ColumnsOf = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <class Real>
[[gnu::noinline]] void add_times(Real factor, const Eigen::Ref<const ColumnsOf<Real>>& A,
                                 const Eigen::Ref<const ColumnsOf<Real>>& B, Eigen::Ref<ColumnsOf<Real>> out) {
  out.noalias() += factor * A * B;
}
template <class Real>
ColumnsOf<Real> times(const Eigen::Ref<const ColumnsOf<Real>>& A, const Eigen::Ref<const ColumnsOf<Real>>& B) {
  ColumnsOf<Real> out = ColumnsOf<Real>::Zero(A.rows(), B.cols());
  add_times<Real>(1, A, B, out);
  return out;
}

template <class Dense>
std::vector<double> numbers_of(const Dense& m) {
  return {m.data(), m.data() + m.size()};
}

Matrix plain(const MatrixXd& m) {
  Matrix out(std::size_t(m.rows()), std::size_t(m.cols()));
  out.numbers = numbers_of(m);
  return out;
}

struct OperatorProduct {
  using Scalar = double;
  const Operator& H;
  Eigen::Index rows() const { return Eigen::Index(H.size); }
  Eigen::Index cols() const { return Eigen::Index(H.size); }
  void perform_op(const double* v, double* Hv) const { H.times({v, H.size}, {Hv, H.size}); }
};

std::vector<double> signed_vector(const Eigen::VectorXd& v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  const Eigen::VectorXd out = (v[largest] < 0 ? -1 : 1) * v.normalized();
  return {out.begin(), out.end()};
}

}  // namespace

Matrix corner(const Matrix& m, std::size_t rows, std::size_t columns) {
  return plain(matrix_of(m).topLeftCorner(Index(rows), Index(columns)));
}

Eigenpairs all_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t vectors) {
  const auto n = Eigen::Index(size);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(
      Eigen::MatrixXd(Eigen::Map<const Eigen::MatrixXd>(matrix.data(), n, n)));
  Eigenpairs out;
  for (Eigen::Index k = n; k-- > 0;) {
    out.values.push_back(solved.eigenvalues()[k]);
    if (out.vectors.size() < vectors) out.vectors.push_back(signed_vector(solved.eigenvectors().col(k)));
  }
  return out;
}

Eigenpairs leading_eigenpairs(const Operator& H, std::size_t count) {
  constexpr Eigen::Index most_restarts = 1000;
  constexpr double tolerance = 1e-10;
  if (count < 1 || count >= H.size)
    throw Error("{} leading eigenvalues of {} cannot be found; ask for 1 to {}", count, H.size, H.size - 1);
  OperatorProduct applied{H};
  const std::size_t subspace = std::min(H.size, std::max<std::size_t>(2 * count + 1, 30));
  Spectra::SymEigsSolver<OperatorProduct> solver(applied, Eigen::Index(count), Eigen::Index(subspace));
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, most_restarts, tolerance);
  if (solver.info() != Spectra::CompInfo::Successful)
    throw Error("the {} leading eigenvalues did not converge; ask for fewer with --count", count);
  Eigenpairs out;
  const Eigen::MatrixXd vectors = solver.eigenvectors();
  for (Eigen::Index k = 0; k < Eigen::Index(count); ++k) {
    out.values.push_back(solver.eigenvalues()[k]);
    out.vectors.push_back(signed_vector(vectors.col(k)));
  }
  return out;
}

Eigenpairs leading_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t count) {
  const auto n = Eigen::Index(size);
  const Eigen::Map<const Eigen::MatrixXd> A(matrix.data(), n, n);
  const auto times = [&](std::span<const double> v, std::span<double> Av) {
    Eigen::Map<Eigen::VectorXd>(Av.data(), n).noalias() = A * Eigen::Map<const Eigen::VectorXd>(v.data(), n);
  };
  return leading_eigenpairs({size, times}, count);
}

std::vector<double> eigenvalues(std::span<const double> symmetric) {
  const MatrixXd matrix = square_matrix(symmetric);
  return numbers_of(Eigen::SelfAdjointEigenSolver<MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues());
}

std::span<const double> SymmetricEigen::vector(std::size_t k) const {
  return std::span<const double>(vectors).subspan(k * values.size(), values.size());
}

SymmetricEigen symmetric_eigen(std::span<const double> symmetric) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solved(MatrixXd(square_matrix(symmetric)));
  return {numbers_of(solved.eigenvalues()), numbers_of(solved.eigenvectors())};
}

struct SymmetricSolver::Workspace {
  explicit Workspace(Index size) : matrix(size, size), solver(size) {}
  MatrixXd matrix;
  Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
};

SymmetricSolver::SymmetricSolver(std::size_t size) : workspace_(std::make_unique<Workspace>(Index(size))) {}
SymmetricSolver::~SymmetricSolver() = default;

void SymmetricSolver::solve(std::span<const double> symmetric, std::span<double> values, std::span<double> vectors) {
  auto& [matrix, solver] = *workspace_;
  std::ranges::copy(symmetric, matrix.data());
  solver.compute(matrix);
  std::copy_n(solver.eigenvalues().data(), values.size(), values.begin());
  std::copy_n(solver.eigenvectors().data(), vectors.size(), vectors.begin());
}

// ---- maps

// The limit of |M^n|^(1/n) for n = 1, 2, 4, ...: each square halves what is still missing from its logarithm.
double spectral_radius(const Matrix& M) {
  MatrixXd power = matrix_of(M);
  double log_radius = 0, share = 1;
  constexpr int squares = 60;
  for (int k = 0; k < squares; ++k, share /= 2) {
    const double size = power.norm();
    if (!(size > 0) || !std::isfinite(size)) return size;  // 0, or nothing that has a radius
    log_radius += share * std::log(size);
    power /= size;
    power = times<double>(power, power);
  }
  return std::exp(log_radius);
}

// Doubling: with C = S + M S M^T + ..., S <- S + M S M^T, M <- M M covers twice as many terms each time.
Matrix lasting_covariance(const Matrix& map, const Matrix& noise) {
  const MatrixXd N = matrix_of(noise);
  MatrixXd M = matrix_of(map), S = times<double>(N, MatrixXd(N.transpose()));
  constexpr int doublings = 60;
  for (int k = 0; k < doublings; ++k) {
    const MatrixXd next = S + times<double>(times<double>(M, S), MatrixXd(M.transpose()));
    if (next == S) break;
    S = next;
    M = times<double>(M, M);
  }
  return plain(S);
}

// ---- solving

struct Cholesky::Factor {
  Eigen::LLT<MatrixXd> solver;
};

Cholesky::Cholesky(std::span<const double> symmetric)
    : factor_(std::make_unique<Factor>(Factor{Eigen::LLT<MatrixXd>(MatrixXd(square_matrix(symmetric)))})),
      size_(side_of(symmetric)) {}
Cholesky::~Cholesky() = default;

bool Cholesky::positive_definite() const { return factor_->solver.info() == Eigen::Success; }

std::vector<double> Cholesky::solve(std::span<const double> columns) const {
  const auto n = Index(size_);
  const Eigen::Map<const MatrixXd> right(columns.data(), n, Index(columns.size()) / n);
  return numbers_of(MatrixXd(factor_->solver.solve(right)));
}

std::vector<double> Cholesky::inverse() const {
  return numbers_of(MatrixXd(factor_->solver.solve(MatrixXd::Identity(Index(size_), Index(size_)))));
}

std::vector<double> Cholesky::lower() const { return numbers_of(MatrixXd(factor_->solver.matrixL())); }

void solve_lower(std::span<const double> lower, std::span<double> x) {
  const auto n = Index(x.size());
  auto v = vector_of(x);
  Eigen::Map<const MatrixXd>(lower.data(), n, n).triangularView<Eigen::Lower>().solveInPlace(v);
}

// One-sided Jacobi rotations V until the columns of A V are orthogonal: A = (A V) V^T, and X = V (A V)^+ B.
Matrix least_squares(const Matrix& A, const Matrix& B) {
  const std::size_t n = A.columns;
  Matrix U = A, V(n, n), X(n, B.columns);
  for (std::size_t k = 0; k < n; ++k) V(k, k) = 1;
  const auto dot = [](const Matrix& a, std::size_t i, const Matrix& b, std::size_t j) {
    double sum = 0;
    for (std::size_t k = 0; k < a.rows; ++k) sum += a(k, i) * b(k, j);
    return sum;
  };
  const auto rotate = [](Matrix& a, std::size_t i, std::size_t j, double c, double s) {
    for (std::size_t k = 0; k < a.rows; ++k) {
      const double left = a(k, i);
      a(k, i) = c * left - s * a(k, j);
      a(k, j) = s * left + c * a(k, j);
    }
  };
  constexpr int most_sweeps = 60;
  constexpr double small = 1e-15;
  bool orthogonal = false;
  for (int sweep = 0; sweep < most_sweeps && !orthogonal; ++sweep) {
    orthogonal = true;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const double a = dot(U, i, U, i), b = dot(U, j, U, j), c = dot(U, i, U, j);
        if (std::abs(c) <= small * std::sqrt(a * b)) continue;
        orthogonal = false;
        const double z = (b - a) / (2 * c), t = (z < 0 ? -1 : 1) / (std::abs(z) + std::hypot(1, z));
        const double cosine = 1 / std::hypot(1, t);
        rotate(U, i, j, cosine, cosine * t);
        rotate(V, i, j, cosine, cosine * t);
      }
  }
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, dot(U, i, U, i));
  for (std::size_t i = 0; i < n; ++i) {
    const double square = dot(U, i, U, i);
    if (square <= largest * small * small * double(A.rows)) continue;  // A has no such direction
    for (std::size_t j = 0; j < B.columns; ++j)
      for (std::size_t k = 0; k < n; ++k) X(k, j) += V(k, i) * dot(U, i, B, j) / square;
  }
  return X;
}

// Householder: the reflection 1 - 2 v v^T of step j takes what is left of column j to a multiple of the j-th direction.
// Q is made of the first columns of the reflections' product, which are put into the place of what they were made of.
void make_orthonormal(std::size_t tall, std::size_t narrow, double* columns) {
  const auto column = [&](std::size_t j) { return std::span(columns + j * tall, tall); };
  const auto reflect = [](std::span<const double> v, std::span<double> x) {
    const double along = 2 * std::inner_product(v.begin(), v.end(), x.begin(), 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) x[i] -= along * v[i];
  };
  std::vector<char> turned(narrow);  // the diagonal of R is negative
  for (std::size_t j = 0; j < narrow; ++j) {
    const auto v = column(j).subspan(j);
    const double length = std::sqrt(square_norm(v)), diagonal = v[0] > 0 ? -length : length;
    turned[j] = diagonal < 0;
    v[0] -= diagonal;
    if (const double size = std::sqrt(square_norm(v)); size > 0)
      for (double& x : v) x /= size;
    for (std::size_t k = j + 1; k < narrow; ++k) reflect(v, column(k).subspan(j));
  }
  for (std::size_t j = narrow; j-- > 0;) {
    const std::vector<double> v(column(j).begin() + long(j), column(j).end());
    std::ranges::fill(column(j), 0);
    column(j)[j] = 1;
    for (std::size_t k = j; k < narrow; ++k) reflect(v, column(k).subspan(j));
  }
  for (std::size_t j = 0; j < narrow; ++j)
    for (double& x : column(j)) x = turned[j] ? -x : x;
}

// ---- products

void small_product(std::span<const double> matrix, std::span<const double> v, std::span<double> out) {
  const auto n = Index(v.size());
  vector_of(out).noalias() = Eigen::Map<const MatrixXd>(matrix.data(), n, n).lazyProduct(vector_of(v));
}

double spring_energy(std::span<const double> K, std::span<const double> mean, std::span<const double> x,
                     std::span<double> g) {
  const auto n = Index(x.size());
  const auto q = vector_of(x), centre = vector_of(mean);
  auto slope = vector_of(g);
  slope = Eigen::Map<const MatrixXd>(K.data(), n, n).lazyProduct(q - centre);
  return slope.dot(q - centre) / 2;
}

std::vector<double> product(const RowsView& X, std::span<const double> v) {
  std::vector<double> out(X.count());
  vector_of(std::span<double>(out)).noalias() = rows_of(X) * vector_of(v);
  return out;
}

void add_turned_product(const RowsView& X, std::span<const double> along, std::span<double> to) {
  vector_of(to).noalias() += rows_of(X).transpose() * vector_of(along);
}

void add_column_sums(const RowsView& X, std::span<double> to) {
  vector_of(to) += rows_of(X).colwise().sum().transpose();
}

std::vector<double> less(const RowsView& X, std::span<const double> row) {
  return numbers_of(RowMajorXd(rows_of(X).rowwise() - vector_of(row).transpose()));
}

std::vector<double> solve_product(const RowsView& A, const RowsView& B, std::span<const double> v) {
  const std::size_t n = A.count();
  std::vector<double> square(n * n), x(v.begin(), v.end());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      square[i * n + j] = std::inner_product(A.row(i).begin(), A.row(i).end(), B.row(j).begin(), 0.0);
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return square[i * n + j]; };
  for (std::size_t k = 0; k < n; ++k) {  // elimination, the largest entry of the column first
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    for (std::size_t j = k; j < n && pivot != k; ++j) std::swap(at(k, j), at(pivot, j));
    std::swap(x[k], x[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = at(i, k) / at(k, k);
      for (std::size_t j = k; j < n; ++j) at(i, j) -= factor * at(k, j);
      x[i] -= factor * x[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) x[k] -= at(k, j) * x[j];
    x[k] /= at(k, k);
  }
  return x;
}

double square_norm(std::span<const double> v) { return vector_of(v).squaredNorm(); }
double largest_size(std::span<const double> v) { return vector_of(v).cwiseAbs().maxCoeff(); }

void centre_and_scale(std::span<double> rows, std::span<const double> lengths) {
  const auto width = Index(lengths.size());
  Eigen::Map<RowMajorXd> x(rows.data(), Index(rows.size()) / width, width);
  x.rowwise() -= x.colwise().mean().eval();
  const VectorXd scale = vector_of(lengths).array() / x.colwise().norm().transpose().array();
  x *= scale.asDiagonal();
}

namespace {

// Row by row is the transpose column by column: A B is (B^T A^T)^T.
template <class Real>
Eigen::Map<const ColumnsOf<Real>> transpose_of(const RowMajor<Real>& m) {
  return {m.numbers, Index(m.columns), Index(m.rows)};
}

}  // namespace

template <class Real>
OffOrthogonal<Real> off_orthogonal(const RowMajor<Real>& given) {
  using Matrix = ColumnsOf<Real>;
  const auto turned = transpose_of(given);
  const Matrix W = turned.transpose();
  Matrix off = given.rows >= given.columns ? times<Real>(turned, W) : times<Real>(W, turned);
  off.diagonal().array() -= Real(1);
  return {{off.data(), off.data() + off.size()}, off.template cast<double>().squaredNorm()};
}

template <class Real>
void add_product(Real factor, const RowMajor<Real>& A, const RowMajor<Real>& B, Real* out) {
  add_times<Real>(factor, transpose_of(B), transpose_of(A),
                  Eigen::Map<ColumnsOf<Real>>(out, Index(B.columns), Index(A.rows)));
}

template OffOrthogonal<float> off_orthogonal(const RowMajor<float>&);
template OffOrthogonal<double> off_orthogonal(const RowMajor<double>&);
template void add_product(float, const RowMajor<float>&, const RowMajor<float>&, float*);
template void add_product(double, const RowMajor<double>&, const RowMajor<double>&, double*);

// ---- roots

// X = D C for the chosen points, C taking off their mean.
LowRankRoot low_rank_root(std::span<const double> all, std::span<const std::size_t> counting, double c) {
  const auto n = Index(counting.size());
  const MatrixXd about_mean = MatrixXd::Identity(n, n) - MatrixXd::Constant(n, n, 1 / double(n));
  const MatrixXd products = square_matrix(all)(counting, counting);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solved(times<double>(times<double>(about_mean, products), about_mean));
  const ArrayXd root = (1 + c * solved.eigenvalues().array().max(0)).sqrt();
  const MatrixXd E = times<double>(about_mean, solved.eigenvectors());
  const auto spread = [&](const ArrayXd& by) {
    return numbers_of(times<double>(MatrixXd(E * by.matrix().asDiagonal()), MatrixXd(E.transpose())));
  };
  return {spread(c / (1 + root)), spread(-c / (root * (1 + root))), root.log().sum()};
}

// ---- entry by entry

void to_exponentials(std::span<double> x) {
  auto all = vector_of(x).array();
  all = all.exp();
}

}  // namespace kelvin
