// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra. Matrices are plain numbers, column by column where nothing else is said; for a symmetric one
// that is row by row too. Only sources of this folder know the libraries that do the work.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace kelvin {

struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> numbers;
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns) : rows(rows), columns(columns), numbers(rows * columns) {}
  double& operator()(std::size_t i, std::size_t j) { return numbers[j * rows + i]; }
  double operator()(std::size_t i, std::size_t j) const { return numbers[j * rows + i]; }
};
Matrix corner(const Matrix&, std::size_t rows, std::size_t columns);  // at the top, to the left

// ---- eigenvalues of symmetric matrices

std::vector<double> eigenvalues(std::span<const double> symmetric);  // of n x n numbers; rising

struct SymmetricEigen {
  std::vector<double> values;   // rising
  std::vector<double> vectors;  // n x n, one a column, of length 1
  std::span<const double> vector(std::size_t k) const;
};
SymmetricEigen symmetric_eigen(std::span<const double> symmetric);

// The same for many matrices of one size, without allocating.
class SymmetricSolver {
 public:
  explicit SymmetricSolver(std::size_t size);
  ~SymmetricSolver();
  void solve(std::span<const double> symmetric, std::span<double> values, std::span<double> vectors);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

struct Eigenpairs {
  std::vector<double> values;                // falling
  std::vector<std::vector<double>> vectors;  // of length 1, the entry of largest size positive; there may be fewer
};
Eigenpairs all_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t vectors);

// A matrix that is known by its products with vectors.
struct Operator {
  std::size_t size = 0;
  std::function<void(std::span<const double> v, std::span<double> Hv)> times;
};

// By implicitly restarted Lanczos iterations, to 1e-10 of the eigenvalues.
Eigenpairs leading_eigenpairs(const Operator&, std::size_t count);
Eigenpairs leading_eigenpairs(std::span<const double> matrix, std::size_t size, std::size_t count);

// ---- maps x' = M x + N z, again and again

double spectral_radius(const Matrix& M);  // what the longest x grows by each time, in the end
// C = M C M^T + N N^T, of an M that contracts; z are independent normals.
Matrix lasting_covariance(const Matrix& M, const Matrix& N);

// ---- solving

// A = L L^T for a symmetric A, of which only the lower triangle is read.
class Cholesky {
 public:
  explicit Cholesky(std::span<const double> symmetric);
  ~Cholesky();
  bool positive_definite() const;
  std::vector<double> solve(std::span<const double> columns) const;  // A^-1 of one column or several
  std::vector<double> inverse() const;
  std::vector<double> lower() const;  // L

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
  std::size_t size_;
};

void solve_lower(std::span<const double> lower, std::span<double> x);  // x becomes L^-1 x

Matrix least_squares(const Matrix& A, const Matrix& B);  // X with A X nearest to B, the smallest one of several

// Columns of `tall` numbers each, one after the other: they become Q of a matrix = QR, with the signs that leave no
// negative number on the diagonal of R. Where they are dependent, other directions take their place.
void make_orthonormal(std::size_t tall, std::size_t narrow, double* columns);

// ---- products

// A v without a temporary, for small square matrices.
void small_product(std::span<const double> matrix, std::span<const double> v, std::span<double> out);

// g = K (x - mean), and returns (x - mean).g / 2.
double spring_energy(std::span<const double> K, std::span<const double> mean, std::span<const double> x,
                     std::span<double> g);

// Rows of `width` numbers, one after another: X.
struct RowsView {
  std::span<const double> numbers;
  std::size_t width;
  std::size_t count() const { return numbers.size() / width; }
  std::span<const double> row(std::size_t i) const { return numbers.subspan(i * width, width); }
};
std::vector<double> product(const RowsView& X, std::span<const double> v);                        // X v
void add_turned_product(const RowsView& X, std::span<const double> along, std::span<double> to);  // to += X^T along
void add_column_sums(const RowsView& X, std::span<double> to);
std::vector<double> less(const RowsView& X, std::span<const double> row);  // X, each row less this one
std::vector<double> solve_product(const RowsView& A, const RowsView& B, std::span<const double> v);  // (A B^T)^-1 v
double square_norm(std::span<const double>);
double largest_size(std::span<const double>);  // of the entries

// Columns of mean 0 and the given lengths.
void centre_and_scale(std::span<double> rows, std::span<const double> lengths);

template <class Real>
struct RowMajor {
  const Real* numbers;
  std::size_t rows, columns;
};
// W^T W - 1 or, of a wide W, W W^T - 1; and the sum of its squares.
template <class Real>
struct OffOrthogonal {
  std::vector<Real> numbers;
  double square;
};
template <class Real>
OffOrthogonal<Real> off_orthogonal(const RowMajor<Real>& W);
// out += factor A B
template <class Real>
void add_product(Real factor, const RowMajor<Real>& A, const RowMajor<Real>& B, Real* out);

// ---- roots of 1 + c X X^T, X known by the products of its columns

// With the columns `counting` of all whose products are given, taken about their mean: the root is 1 + X stretching
// X^T, its inverse 1 + X shrinking X^T.
struct LowRankRoot {
  std::vector<double> stretching, shrinking;
  double log_determinant = 0;
};
LowRankRoot low_rank_root(std::span<const double> products, std::span<const std::size_t> counting, double c);

// ---- entry by entry

void to_exponentials(std::span<double>);

}  // namespace kelvin
