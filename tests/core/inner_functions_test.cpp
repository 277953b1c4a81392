// The functions of the rules that learn by a non-linear inner step: against their plain definitions, and
// against the results of an independent implementation (tests/data/golden/pieces.npz).

#include <cmath>
#include <filesystem>
#include <random>

#include "core/formula/expression.h"
#include "core/io/npz.h"
#include "core/numbers/gelu.h"
#include "core/numbers/layer_norm.h"
#include "core/numbers/matrix_functions.h"
#include "tests/catch.h"
#include "tests/core/function_values.h"
#include "tests/folders.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Matrix<double> number(double value) { return Matrix<double>::Constant(1, 1, value); }

/// max|x - y|; infinite where the shapes differ.
double distance(const Matrix<double>& x, const Matrix<double>& y) {
  if (x.rows() != y.rows() || x.cols() != y.cols()) return std::numeric_limits<double>::infinity();
  return x.size() == 0 ? 0 : (x - y).cwiseAbs().maxCoeff();
}

/// The results of the independent implementation, vectors as rows.
class Pieces {
 public:
  Matrix<double> operator[](const std::string& name) const {
    const Array& array = npz_.arrays.at(name);
    Matrix<double> matrix(array.rank() == 1 ? 1 : array.shape[0], array.shape.back());
    for (Index flat = 0; flat < array.size(); ++flat) matrix.data()[flat] = array[flat];
    return matrix;
  }

 private:
  Npz npz_ = read_npz(std::filesystem::path(test_data_folder()) / "golden" / "pieces.npz");
};

/// 1/2 |LN(y) - target|^2 of one row.
double loss(const LayerNorm<double>& norm, const Matrix<double>& y, const Matrix<double>& target) {
  return 0.5 * (norm(y) - target).squaredNorm();
}

}  // namespace

TEST_CASE("layer norm, its gradient and GELU give the golden results") {
  const Pieces golden;
  const Matrix<double> Z = golden["in_z"];
  const LayerNorm<double> norm = {golden["in_ln_weight"].row(0), golden["in_ln_bias"].row(0), 1e-6};
  CHECK(distance(norm(Z), golden["out_layernorm"]) <= 1e-14);
  const auto standardised = norm.standardise(Z);
  const Matrix<double> delta =
      (norm.stretch(standardised.rows) - golden["in_target"]).array().rowwise() * norm.gain.array();
  const Matrix<double> gradient = golden["out_layernorm_l2_grad"];
  CHECK(distance(LayerNorm<double>::gradient(delta, standardised), gradient) <= 1e-13);
  CHECK(distance(gelu(Z), golden["out_gelu"]) <= 1e-15);
  CHECK(distance(gelu_derivative(Z), golden["out_gelu_grad"]) <= 1e-14);

  const Matrix<double> eps = number(1e-6);
  const Matrix<double> H = of("row_standardise", {Z, eps});
  const Matrix<double> stretched =
      of("add_to_rows", {H.array().rowwise() * norm.gain.array(), golden["in_ln_bias"].transpose()});
  CHECK(distance(stretched, golden["out_layernorm"]) <= 1e-14);
  CHECK(distance(of("row_layer_norm_gradient", {delta, H, of("row_deviation", {Z, eps})}), gradient) <=
        1e-13);
  CHECK(distance(of("gelu", {Z}), golden["out_gelu"]) <= 1e-15);
  CHECK(distance(of("gelu_derivative", {Z}), golden["out_gelu_grad"]) <= 1e-14);
}

TEST_CASE("the steps of Newton and Schulz give the golden results") {
  const Pieces golden;
  const Matrix<double> G = golden["in_G"];
  const NewtonSchulz& muon = newton_schulz_steps("muon");
  CHECK(distance(newton_schulz(G, muon), golden["out_newton_schulz5"]) <= 1e-13);
  CHECK(distance(newton_schulz(Matrix<double>(G.transpose()), muon), golden["out_newton_schulz5_T"]) <=
        1e-13);
  CHECK(distance(newton_schulz(G, newton_schulz_steps("tuned")), golden["out_newton_schulz5_tuned"]) <=
        1e-13);
}

TEST_CASE("the steps of Newton and Schulz bring singular values near 1, and leave 0 alone") {
  std::mt19937 random(1);
  const Matrix<double> M = 1e5 * random_matrix(random, 16, 24);
  Record record;
  Recorder recorder(record);
  const Vector<double> s = singular_values(newton_schulz(M, newton_schulz_steps("muon"), &recorder));
  CHECK(s.maxCoeff() < 1.2);
  CHECK(s.minCoeff() > 0.6);
  const Matrix<double>& spectra = record.at("spectra");
  CHECK(spectra(0, 0) / spectra(15, 0) > 3);
  CHECK(distance(of("spectra", {record.at("X_0"), record.at("X_1"), record.at("X_2"), record.at("X_3"),
                                record.at("X_4"), record.at("X_5")}),
                 spectra) == 0);
  for (const Matrix<double>& nothing : {Matrix<double>(Matrix<double>::Zero(3, 5)), number(0)}) {
    CHECK(newton_schulz(nothing, newton_schulz_steps("tuned")).isZero(0));
    CHECK(newton_schulz(Matrix<float>(nothing.cast<float>()), newton_schulz_steps("muon")).isZero(0));
  }
  // In f32 the square of such a number is infinite, or 0.
  for (const float size : {1e30F, 1e-30F}) {
    const Matrix<float> X =
        newton_schulz(Matrix<float>(size * Matrix<float>::Identity(3, 3)), newton_schulz_steps("muon"));
    CHECK(X.allFinite());
    CHECK((size < 1 || X(0, 0) > 0.5F));
  }
}

TEST_CASE("the steps of Newton and Schulz take singular values where their header says", "[newton schulz]") {
  struct Promise {
    const char* steps;
    double from;      // singular values from here to 1, 1 being the norm,
    double smallest;  // end in [smallest, largest]
    double largest;
  };
  // Rounded outwards; the ends are reached to the last digit that is written.
  for (const Promise& promise :
       {Promise{"muon", 1e-3, 0.470, 1.203}, Promise{"muon", 1e-2, 0.681, 1.135},
        Promise{"tuned", 1e-3, 0.474, 1.146}, Promise{"tuned", 1e-2, 0.977, 1.032}}) {
    CAPTURE(promise.steps, promise.from);
    double smallest = 2;
    double largest = 0;
    double grown = 1;  // a value near 0
    for (const NewtonSchulzStep& step : newton_schulz_steps(promise.steps)) grown *= step.a;
    CHECK(std::abs(grown - (std::string(promise.steps) == "muon" ? 485 : 493)) < 0.5);
    constexpr int count = 200000;
    for (int i = 0; i <= count; ++i) {
      const double before = std::pow(promise.from, static_cast<double>(i) / count);
      double s = before;
      for (const auto& [a, b, c] : newton_schulz_steps(promise.steps))
        s = a * s + b * std::pow(s, 3) + c * std::pow(s, 5);
      smallest = std::min(smallest, s);
      largest = std::max(largest, s);
      if (s > grown * before) FAIL("a value is multiplied by more than " << grown);
    }
    CHECK(smallest >= promise.smallest);
    CHECK(smallest < promise.smallest + 1e-3);
    CHECK(largest <= promise.largest);
    CHECK(largest > promise.largest - 1e-3);
  }
}

TEST_CASE("a matrix of Newton and Schulz has the singular values of the polynomial", "[newton schulz]") {
  // Its largest result: 0.0041114 becomes 1.20237. The norm is 1 up to 1e-7 by which all are divided.
  Matrix<double> M = Matrix<double>::Zero(3, 5);
  M(0, 0) = 0.0041114;
  M(1, 2) = 0.02;
  M(2, 4) = std::sqrt(1 - M.squaredNorm());
  const Vector<double> s = singular_values(newton_schulz(M, newton_schulz_steps("muon")));
  CHECK(s.maxCoeff() == Approx(1.20237).epsilon(1e-5));
  CHECK(s.minCoeff() == Approx(0.68183).epsilon(1e-5));
}

TEST_CASE("the gradient of layer norm is that of the loss, by central differences") {
  std::mt19937 random(2);
  const LayerNorm<double> norm = {random_matrix(random, 1, 7).row(0), random_matrix(random, 1, 7).row(0),
                                  1e-6};
  const Matrix<double> y = random_matrix(random, 1, 7);
  const Matrix<double> target = random_matrix(random, 1, 7);
  const auto standardised = norm.standardise(y);
  const Matrix<double> delta = (norm(y) - target).array() * norm.gain.array();
  const Matrix<double> gradient = LayerNorm<double>::gradient(delta, standardised);
  for (Index i = 0; i < 7; ++i) {
    constexpr double h = 1e-6;
    Matrix<double> up = y;
    Matrix<double> down = y;
    up(0, i) += h;
    down(0, i) -= h;
    CHECK(gradient(0, i) ==
          Approx((loss(norm, up, target) - loss(norm, down, target)) / (2 * h)).margin(1e-8));
  }
  CHECK(std::abs(gradient.sum()) < 1e-14);
  CHECK(std::abs(gradient.cwiseProduct(standardised.rows).sum()) < 1e-4);
}

TEST_CASE("one column and the row of it are normalised alike; a single number becomes 0") {
  std::mt19937 random(3);
  for (const Index D : awkward_sizes) {
    const Matrix<double> x = random_matrix(random, D, 1);
    const Matrix<double> delta = random_matrix(random, D, 1);
    const Matrix<double> r = of("deviation", {x, number(1e-6)});
    const Matrix<double> h = of("standardise", {x, number(1e-6)});
    CHECK(distance(r, of("row_deviation", {x.transpose(), number(1e-6)})) == 0);
    CHECK(distance(h.transpose(), of("row_standardise", {x.transpose(), number(1e-6)})) == 0);
    CHECK(distance(of("layer_norm_gradient", {delta, h, r}).transpose(),
                   of("row_layer_norm_gradient", {delta.transpose(), h.transpose(), r})) == 0);
    if (D == 1) CHECK(h(0, 0) == 0);
    if (D == 1) CHECK(of("layer_norm_gradient", {delta, h, r})(0, 0) == 0);
  }
}

TEST_CASE("GELU far from 0 is the number itself or 0, in every precision") {
  for (const double x : {1e3, 1e100, 1e300}) {
    CHECK(gelu(x) == x);
    CHECK(gelu(-x) == 0);
    CHECK(gelu_derivative(x) == 1);
    CHECK(gelu_derivative(-x) == 0);
    CHECK(of("gelu_derivative", {number(x)})(0, 0) == 1);
  }
  CHECK(gelu(1e30F) == 1e30F);
  CHECK(gelu_derivative(-1e30F) == 0);
}

TEST_CASE("biases of rows, norms of columns") {
  std::mt19937 random(4);
  for (const Index L : awkward_sizes) {
    for (const Index D : awkward_sizes) {
      const Matrix<double> X = random_matrix(random, L, D);
      const Matrix<double> b = random_matrix(random, D, 1);
      const Matrix<double> ones = Matrix<double>::Ones(L, 1);
      CHECK(distance(of("add_to_rows", {X, b}), X + ones * b.transpose()) == 0);
      CHECK(distance(of("plus_one", {X}), X + Matrix<double>::Ones(L, D)) == 0);
      CHECK(distance(of("sum_of_rows", {X}), X.transpose() * ones) <= 1e-15);
      CHECK(of("frobenius_norm", {X})(0, 0) == Approx(X.norm()));
      const Matrix<double> lengths = of("column_norms", {X});
      const Matrix<double> factors = of("restoring_factors", {lengths, b.cwiseAbs(), number(1e-5)});
      for (Index j = 0; j < D; ++j) {
        CHECK(lengths(j, 0) == Approx(X.col(j).norm()).margin(1e-15));
        CHECK(factors(j, 0) == Approx(std::abs(b(j, 0)) / (X.col(j).norm() + 1e-5)));
      }
    }
  }
  CHECK_THROWS(of("spectra", std::vector<Matrix<double>>(6, Matrix<double>::Zero(3, 2))));
}

TEST_CASE("all batches at once are the batches one by one") {
  std::mt19937 random(5);
  constexpr Index K = 3;
  constexpr Index V = 2;
  constexpr Index N = 3;
  Matrix<double> first(N, 1);
  first << 0, 4, 8;
  const Matrix<double> X = random_matrix(random, 10, K);
  const Matrix<double> Y = random_matrix(random, 10, V);
  const Matrix<double> G = of("batch_products", {X, Y, first});
  REQUIRE(G.rows() == N * K);
  CHECK(distance(G.middleRows(0, K), X.middleRows(0, 4).transpose() * Y.middleRows(0, 4)) <= 1e-15);
  CHECK(distance(G.middleRows(2 * K, K), X.middleRows(8, 2).transpose() * Y.middleRows(8, 2)) <= 1e-15);

  const Matrix<double> m = random_matrix(random, N, 1);
  const Matrix<double> M_0 = random_matrix(random, K, V);
  const Matrix<double> M = of("batch_momentum", {G, m, M_0});
  CHECK(distance(M.topRows(K), m(0, 0) * M_0 + G.topRows(K)) <= 1e-15);
  CHECK(distance(M.bottomRows(K), m(2, 0) * M.middleRows(K, K) + G.bottomRows(K)) <= 1e-15);
  CHECK(distance(of("last_rows", {M, M_0}), M.bottomRows(K)) == 0);

  Matrix<double> coefficients(5, 3);
  for (Index i = 0; i < 5; ++i) coefficients.row(i) << 3.4445, -4.7750, 2.0315;
  const Matrix<double> steps = of("batch_newton_schulz", {M, coefficients, first});
  CHECK(distance(steps.middleRows(K, K),
                 newton_schulz(Matrix<double>(M.middleRows(K, K)), newton_schulz_steps("muon"))) == 0);

  const Matrix<double> S = of("batch_weights", {M_0, steps});
  REQUIRE(S.rows() == (N + 1) * K);
  CHECK(distance(S.topRows(K), M_0) == 0);
  CHECK(distance(S.bottomRows(K), M_0 + steps.topRows(K) + steps.middleRows(K, K) + steps.bottomRows(K)) <=
        1e-14);
  for (const Index later : {0, 1}) {
    const Matrix<double> O = of("batch_reads", {X, S, first, number(static_cast<double>(later))});
    CHECK(distance(O.row(3), X.row(3) * S.middleRows(later * K, K)) <= 1e-15);
    CHECK(distance(O.row(4), X.row(4) * S.middleRows((1 + later) * K, K)) <= 1e-15);
  }
  CHECK_THROWS(of("batch_momentum", {G, m, X}));
  CHECK_THROWS(of("batch_reads", {X, random_matrix(random, 4, V), first, number(0)}));
}
