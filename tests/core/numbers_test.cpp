#include <cmath>
#include <cstring>
#include <tuple>

#include "core/base/error.h"
#include "core/numbers/arithmetic.h"
#include "core/numbers/features.h"
#include "core/numbers/gelu.h"
#include "core/numbers/layer_norm.h"
#include "core/numbers/matrix_functions.h"
#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/golden.h"
#include "tests/core/random_expression.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// How a format's numbers are written: a sign, these bits for the exponent, and the rest for the fraction.
struct Layout {
  Arithmetic arithmetic;
  int bits;
  int exponent_bits;

  int fraction_bits() const { return bits - 1 - exponent_bits; }
};
constexpr Layout layouts[] = {{Arithmetic::f16, 16, 5}, {Arithmetic::bf16, 16, 8}, {Arithmetic::tf32, 19, 8}};

/// The number that these bits stand for.
double number_of(std::uint32_t bits, const Layout& layout) {
  const int exponent_bits = layout.exponent_bits;
  const int fraction_bits = layout.fraction_bits();
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const double sign = (bits >> (layout.bits - 1)) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0 ? sign * infinity : quiet_nan;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

/// The upper bits of an f32, rounded to nearest even by integer arithmetic; so many are dropped.
double upper_bits(float x, int dropped) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits += (1U << (dropped - 1)) - 1 + ((bits >> dropped) & 1);
  bits &= ~0U << dropped;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace

TEST_CASE("arithmetic: all numbers of f16, bf16 and tf32 stay what they are") {
  for (const Layout& layout : layouts) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 1U << layout.bits; ++bits) {
      const double x = number_of(bits, layout);
      const double y = rounded(x, layout.arithmetic);
      const bool same = std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
      wrong += same ? 0 : 1;
    }
    INFO(name(layout.arithmetic));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arithmetic: halfway between any two neighbours the even one is taken, beside it the nearer") {
  for (const Layout& layout : layouts) {
    const Arithmetic arithmetic = layout.arithmetic;
    const std::uint32_t infinite = ((1U << layout.exponent_bits) - 1) << layout.fraction_bits();
    int wrong = 0;
    for (std::uint32_t bits = 0; bits + 1 < infinite; ++bits) {
      const double below = number_of(bits, layout);
      const double above = number_of(bits + 1, layout);
      const double half = below + (above - below) / 2;
      const double even = bits % 2 == 0 ? below : above;
      for (const double sign : {1.0, -1.0}) {
        wrong += rounded(sign * half, arithmetic) == sign * even ? 0 : 1;
        wrong += rounded(sign * std::nextafter(half, 0), arithmetic) == sign * below ? 0 : 1;
        wrong += rounded(sign * std::nextafter(half, infinity), arithmetic) == sign * above ? 0 : 1;
      }
    }
    INFO(name(layout.arithmetic));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arithmetic: overflow begins halfway beyond the largest number") {
  for (const auto& [arithmetic, largest, step] : {std::tuple(Arithmetic::f16, 65504.0, 32.0),
                                                  {Arithmetic::bf16, 0x1.fep127, 0x1p120},
                                                  {Arithmetic::tf32, (2 - 0x1p-10) * 0x1p127, 0x1p117}}) {
    CHECK(format_of(arithmetic).largest == largest);
    CHECK(rounded(std::nextafter(largest + step / 2, 0), arithmetic) == largest);
    CHECK(rounded(largest + step / 2, arithmetic) == infinity);
    CHECK(rounded(-largest - step / 2, arithmetic) == -infinity);
    CHECK(rounded(1e300, arithmetic) == infinity);
    CHECK(rounded(-infinity, arithmetic) == -infinity);
    CHECK(std::isnan(rounded(quiet_nan, arithmetic)));
    CHECK(rounded(1e-300, arithmetic) == 0);
    CHECK(std::signbit(rounded(-1e-300, arithmetic)));
  }
}

TEST_CASE("arithmetic: f32 is the float of the machine, tf32 and bf16 its upper bits, f64 changes nothing") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    // Exponents of f32 and a little beyond.
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    x = std::ldexp(fraction, static_cast<int>(random() % 320) - 180);
    const auto as_float = static_cast<float>(x);
    REQUIRE(rounded(x, Arithmetic::f32) == static_cast<double>(as_float));
    if (std::isfinite(as_float)) {
      REQUIRE(rounded(static_cast<double>(as_float), Arithmetic::bf16) == upper_bits(as_float, 16));
      REQUIRE(rounded(static_cast<double>(as_float), Arithmetic::tf32) == upper_bits(as_float, 13));
    }
    REQUIRE(rounded(x, Arithmetic::f64) == x);
  }
}

TEST_CASE("arithmetic: matrices and arrays are rounded element by element, names are known") {
  Matrix<double> x(1, 3);
  x << 1 + 0x1p-9, 1e5, 1e-9;
  CHECK(rounded(x, Arithmetic::f16).rightCols(2) == RowVector<double>({{infinity, 0}}));
  CHECK(rounded(x, Arithmetic::bf16)(0, 0) == 1);
  CHECK(rounded(x, Arithmetic::f16)(0, 0) != 1);
  const Arrays arrays = {{"q", Array({2}, std::vector<float>{1.5f, 1e-9f})}};
  CHECK(rounded(arrays, Arithmetic::f16).at("q")[0] == 1.5);
  CHECK(rounded(arrays, Arithmetic::f16).at("q")[1] == 0);
}

TEST_CASE("taylor1 takes the direction of a vector without length to be 0", "[features]") {
  Matrix<double> x(3, 2);
  x << 0, 0, 3, 4, 3e-200, 4e-200;
  const Matrix<double> phi = features<double>("taylor1", x);
  CHECK(phi.row(0) == RowVector<double>({{1, 0, 0}}));
  for (const Index row : {1, 2}) {
    CHECK(phi(row, 1) == Approx(0.6));
    CHECK(phi(row, 2) == Approx(0.8));
  }
  const Function& rows = find_function("row_features/taylor1");
  const std::vector<Matrix<double>> arguments = {x};
  CHECK(furthest_apart(rows.evaluate(arguments), phi) < 1e-15);
}

TEST_CASE("maps go together that make the same number of features of any number of channels") {
  for (const std::string& map : feature_maps()) {
    CHECK(same_feature_count(map, map));
    for (const std::string& other : feature_maps()) {
      INFO(map << ' ' << other);
      if (map == other) continue;
      bool same = map != "favor" && other != "favor";
      for (Index channels = 1; same && channels <= 8; ++channels)
        same = feature_count(map, channels) == feature_count(other, channels);
      CHECK(same_feature_count(map, other) == same);
    }
  }
}

TEST_CASE("conjugate gradients end after as many steps as there are different eigenvalues", "[numbers]") {
  // In exact arithmetic; with eigenvalues 1 to 3 rounding leaves less than 1e-12.
  Matrix<double> A = Matrix<double>::Identity(5, 5);
  A(1, 1) = 2;
  A(2, 2) = A(3, 3) = 3;
  const Vector<double> b = (Vector<double>(5) << 1, -2, 0.5, 4, 3).finished();
  const Matrix<double> rests = conjugate_gradient_rests(A, b, 20);
  REQUIRE(rests.cols() == 4);
  CHECK(rests(0, 0) == 1);
  CHECK(rests(0, 2) > 1e-3);
  CHECK(rests(0, 3) < 1e-12);
  // The first step by hand: along b as far as b.b / b.A b.
  const Vector<double> first = b.squaredNorm() / b.dot(A * b) * b;
  CHECK(rests(0, 1) == Approx((b - A * first).norm() / b.norm()).epsilon(1e-14));
  CHECK(conjugate_gradient_rests(A, b, 2).cols() == 3);
  CHECK(conjugate_gradient_rests(A, Vector<double>::Zero(5), 9) == Matrix<double>::Zero(1, 1));
}

// The functions of the rules that learn by a non-linear inner step: against their plain definitions, and
// against the results of an independent implementation (tests/data/golden/pieces.npz).

namespace {

/// A result of the independent implementation, a vector as a row.
Matrix<double> golden(const std::string& name) {
  static const Npz npz = read_npz(golden_folder() / "pieces.npz");
  const Array& array = npz.arrays.at(name);
  const Matrix<double> matrix = as_matrix(array);
  return array.rank() == 1 ? Matrix<double>(matrix.transpose()) : matrix;
}

}  // namespace

TEST_CASE("layer norm, its gradient and GELU give the golden results") {
  const Matrix<double> Z = golden("in_z");
  const LayerNorm<double> norm = {golden("in_ln_weight").row(0), golden("in_ln_bias").row(0), 1e-6};
  CHECK(furthest_apart(norm(Z), golden("out_layernorm")) <= 1e-14);
  const auto standardised = norm.standardise(Z);
  const Matrix<double> delta =
      (norm.stretch(standardised.rows) - golden("in_target")).array().rowwise() * norm.gain.array();
  const Matrix<double> gradient = golden("out_layernorm_l2_grad");
  CHECK(furthest_apart(LayerNorm<double>::gradient(delta, standardised), gradient) <= 1e-13);
  CHECK(furthest_apart(gelu(Z), golden("out_gelu")) <= 1e-15);
  CHECK(furthest_apart(gelu_derivative(Z), golden("out_gelu_grad")) <= 1e-14);

  const Matrix<double> eps = one_by_one(1e-6);
  const Matrix<double> H = of("row_standardise", {Z, eps});
  const Matrix<double> stretched =
      of("add_to_rows", {H.array().rowwise() * norm.gain.array(), golden("in_ln_bias").transpose()});
  CHECK(furthest_apart(stretched, golden("out_layernorm")) <= 1e-14);
  CHECK(furthest_apart(of("row_layer_norm_gradient", {delta, H, of("row_deviation", {Z, eps})}), gradient) <=
        1e-13);
  CHECK(furthest_apart(of("gelu", {Z}), golden("out_gelu")) <= 1e-15);
  CHECK(furthest_apart(of("gelu_derivative", {Z}), golden("out_gelu_grad")) <= 1e-14);
}

TEST_CASE("the steps of Newton and Schulz give the golden results") {
  const Matrix<double> G = golden("in_G");
  const NewtonSchulz& muon = newton_schulz_steps("muon");
  CHECK(furthest_apart(newton_schulz(G, muon), golden("out_newton_schulz5")) <= 1e-13);
  CHECK(furthest_apart(newton_schulz(Matrix<double>(G.transpose()), muon), golden("out_newton_schulz5_T")) <=
        1e-13);
  CHECK(furthest_apart(newton_schulz(G, newton_schulz_steps("tuned")), golden("out_newton_schulz5_tuned")) <=
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
  CHECK(furthest_apart(of("spectra", {record.at("X_0"), record.at("X_1"), record.at("X_2"), record.at("X_3"),
                                      record.at("X_4"), record.at("X_5")}),
                       spectra) == 0);
  for (const Matrix<double>& nothing : {Matrix<double>(Matrix<double>::Zero(3, 5)), one_by_one(0)}) {
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
  for (const Promise& promise : {Promise{"muon", 1e-3, 0.470, 1.203},
                                 {"muon", 1e-2, 0.681, 1.135},
                                 {"tuned", 1e-3, 0.474, 1.146},
                                 {"tuned", 1e-2, 0.977, 1.032}}) {
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

TEST_CASE("one column and the row of it are normalised alike; a single number becomes 0") {
  std::mt19937 random(3);
  for (const Index D : awkward_sizes) {
    const Matrix<double> x = random_matrix(random, D, 1);
    const Matrix<double> delta = random_matrix(random, D, 1);
    const Matrix<double> r = of("deviation", {x, one_by_one(1e-6)});
    const Matrix<double> h = of("standardise", {x, one_by_one(1e-6)});
    CHECK(furthest_apart(r, of("row_deviation", {x.transpose(), one_by_one(1e-6)})) == 0);
    CHECK(furthest_apart(h.transpose(), of("row_standardise", {x.transpose(), one_by_one(1e-6)})) == 0);
    CHECK(furthest_apart(of("layer_norm_gradient", {delta, h, r}).transpose(),
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
    CHECK(of("gelu_derivative", {one_by_one(x)})(0, 0) == 1);
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
      CHECK(furthest_apart(of("add_to_rows", {X, b}), X + ones * b.transpose()) == 0);
      CHECK(furthest_apart(of("plus_one", {X}), X + Matrix<double>::Ones(L, D)) == 0);
      CHECK(furthest_apart(of("sum_of_rows", {X}), X.transpose() * ones) <= 1e-15);
      CHECK(of("frobenius_norm", {X})(0, 0) == Approx(X.norm()));
      const Matrix<double> lengths = of("column_norms", {X});
      const Matrix<double> factors = of("restoring_factors", {lengths, b.cwiseAbs(), one_by_one(1e-5)});
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
  CHECK(furthest_apart(G.middleRows(0, K), X.middleRows(0, 4).transpose() * Y.middleRows(0, 4)) <= 1e-15);
  CHECK(furthest_apart(G.middleRows(2 * K, K), X.middleRows(8, 2).transpose() * Y.middleRows(8, 2)) <= 1e-15);

  const Matrix<double> m = random_matrix(random, N, 1);
  const Matrix<double> M_0 = random_matrix(random, K, V);
  const Matrix<double> M = of("batch_momentum", {G, m, M_0});
  CHECK(furthest_apart(M.topRows(K), m(0, 0) * M_0 + G.topRows(K)) <= 1e-15);
  CHECK(furthest_apart(M.bottomRows(K), m(2, 0) * M.middleRows(K, K) + G.bottomRows(K)) <= 1e-15);
  CHECK(furthest_apart(of("last_rows", {M, M_0}), M.bottomRows(K)) == 0);

  Matrix<double> coefficients(5, 3);
  for (Index i = 0; i < 5; ++i) coefficients.row(i) << 3.4445, -4.7750, 2.0315;
  const Matrix<double> steps = of("batch_newton_schulz", {M, coefficients, first});
  CHECK(furthest_apart(steps.middleRows(K, K),
                       newton_schulz(Matrix<double>(M.middleRows(K, K)), newton_schulz_steps("muon"))) == 0);

  const Matrix<double> S = of("batch_weights", {M_0, steps});
  REQUIRE(S.rows() == (N + 1) * K);
  CHECK(furthest_apart(S.topRows(K), M_0) == 0);
  CHECK(furthest_apart(S.bottomRows(K),
                       M_0 + steps.topRows(K) + steps.middleRows(K, K) + steps.bottomRows(K)) <= 1e-14);
  for (const Index later : {0, 1}) {
    const Matrix<double> O = of("batch_reads", {X, S, first, one_by_one(static_cast<double>(later))});
    CHECK(furthest_apart(O.row(3), X.row(3) * S.middleRows(later * K, K)) <= 1e-15);
    CHECK(furthest_apart(O.row(4), X.row(4) * S.middleRows((1 + later) * K, K)) <= 1e-15);
  }
  CHECK_THROWS(of("batch_momentum", {G, m, X}));
  CHECK_THROWS(of("batch_reads", {X, random_matrix(random, 4, V), first, one_by_one(0)}));
}
