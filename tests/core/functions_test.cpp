#include <cmath>
#include <set>

#include "tests/catch.h"
#include "tests/core/random_expression.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Checks the shape and every cell against `cell(row, column)`.
template <class Cell>
void check_cells(const Matrix<double>& value, Index rows, Index columns, const Cell& cell) {
  REQUIRE(value.rows() == rows);
  REQUIRE(value.cols() == columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const double expected = cell(i, j);
      INFO("cell " << i << ", " << j << ": " << value(i, j) << " for " << expected);
      const bool both_nan = std::isnan(expected) && std::isnan(value(i, j));
      REQUIRE((both_nan || value(i, j) == expected || std::abs(value(i, j) - expected) <= 1e-14));
    }
  }
}

/// alpha_{first} ... alpha_{last}, both included, of one channel.
double decays(const Matrix<double>& alpha, Index first, Index last, Index channel) {
  return alpha.col(channel).segment(first, std::max<Index>(last - first + 1, 0)).prod();
}

}  // namespace

TEST_CASE("masks keep the lower triangle, whatever stands above") {
  std::mt19937 random(1);
  for (const Index L : awkward_sizes) {
    for (const Index M : awkward_sizes) {
      Matrix<double> X = random_matrix(random, L, M);
      if (L > 1 && M > 1) X(0, 1) = quiet_nan;
      check_cells(of("lower", {X}), L, M, [&](Index i, Index j) { return j <= i ? X(i, j) : 0; });
      check_cells(of("strictly_lower", {X}), L, M, [&](Index i, Index j) { return j < i ? X(i, j) : 0; });
      check_cells(of("causal", {X, one_by_one(5), one_by_one(4)}), L, M,
                  [&](Index i, Index j) { return 4 + j <= 5 + i ? X(i, j) : -infinity; });
      check_cells(of("causal", {X, one_by_one(0), one_by_one(3)}), L, M,
                  [&](Index i, Index j) { return 3 + j <= i ? X(i, j) : -infinity; });
    }
  }
}

TEST_CASE("products of decays, with zeros and negative decays; early reads see one less, and no own write") {
  std::mt19937 random(2);
  for (const Index L : awkward_sizes) {
    for (const Index early : {0, 1}) {
      const std::string before = early == 1 ? "_before" : "";
      const Matrix<double> scalar = random_matrix(random, L, 1);
      check_cells(of("decay_mask" + before, {scalar}), L, L,
                  [&](Index i, Index j) { return j <= i - early ? decays(scalar, j + 1, i - early, 0) : 0; });
      for (const Index K : {1, 2, 7}) {
        const Matrix<double> alpha = random_matrix(random, L, K);
        check_cells(of("cumulative_decay" + before, {alpha}), L, K,
                    [&](Index i, Index d) { return decays(alpha, 0, i - early, d); });
        const Matrix<double> X = random_matrix(random, L, K);
        const Matrix<double> Y = random_matrix(random, L, K);
        check_cells(of("decay_scores" + before, {X, Y, alpha}), L, L, [&](Index i, Index j) {
          double score = 0;
          for (Index d = 0; d < K && j <= i - early; ++d)
            score += X(i, d) * Y(j, d) * decays(alpha, j + 1, i - early, d);
          return score;
        });
        const Matrix<double> P = random_matrix(random, L, L);
        check_cells(of("read_fading" + before, {P, X, alpha}), L, K, [&](Index i, Index d) {
          double read = 0;
          for (Index j = 0; j <= i - early; ++j)
            read += P(i, j) * X(j, d) * decays(alpha, j + 1, i - early, d);
          return read;
        });
        check_cells(of("remaining_decay", {alpha}), L, K,
                    [&](Index j, Index d) { return decays(alpha, j + 1, L - 1, d); });
        check_cells(of("total_decay", {alpha}), K, 1,
                    [&](Index d, Index) { return decays(alpha, 0, L - 1, d); });
      }
    }
  }
}

TEST_CASE("the solve undoes the multiplication by I + N") {
  std::mt19937 random(3);
  for (const Index L : awkward_sizes) {
    for (const Index D : awkward_sizes) {
      const Matrix<double> N = random_matrix(random, L, L).triangularView<Eigen::StrictlyLower>();
      const Matrix<double> R = random_matrix(random, L, D);
      const Matrix<double> U = of("solve_unit_lower", {N, R});
      check_cells(U, L, D, [&](Index i, Index d) {
        double rest = R(i, d);
        for (Index j = 0; j < i; ++j) rest -= N(i, j) * U(j, d);
        return rest;
      });
      const Matrix<double> product = N * U + U;
      check_cells(product, L, D, [&](Index i, Index d) { return R(i, d); });
    }
  }
}

TEST_CASE("a scan over one matrix per token is the recurrence of these matrices") {
  std::mt19937 random(9);
  for (const Index L : awkward_sizes) {
    for (const Index K : {1, 2, 7}) {
      for (const Index V : {1, 3}) {
        const Matrix<double> A = random_matrix(random, K, V);
        const Matrix<double> delta = random_matrix(random, L, V);
        const Matrix<double> k = random_matrix(random, L, K);
        const Matrix<double> S0 = random_matrix(random, K, V);
        const Matrix<double> E = of("step_decays", {A, delta});
        check_cells(E, L, K * V, [&](Index i, Index cell) {
          return std::exp(A(cell / V, cell % V) * delta(i, cell % V));
        });
        const Matrix<double> B = of("row_outer", {k, delta});
        check_cells(B, L, K * V, [&](Index i, Index cell) { return k(i, cell / V) * delta(i, cell % V); });

        // S_i = E_i o S_{i-1} + B_i, one matrix after the other
        std::vector<Matrix<double>> states = {S0};
        const auto as_state = [&](const Matrix<double>& table, Index i) -> Matrix<double> {
          return table.row(i).reshaped<Eigen::RowMajor>(K, V);
        };
        for (Index i = 0; i < L; ++i)
          states.push_back(as_state(E, i).cwiseProduct(states.back()) + as_state(B, i));
        const Matrix<double> E_bar = of("cumulative_decay", {E});
        const Matrix<double> B_bar = of("scan", {E, B});
        const Matrix<double> all = of("scanned_states", {S0, E_bar, B_bar});
        check_cells(all, L, K * V,
                    [&](Index i, Index cell) { return entry(states, i + 1)(cell / V, cell % V); });
        check_cells(of("scanned_end", {S0, E_bar, B_bar}), K, V,
                    [&](Index d, Index c) { return states.back()(d, c); });
        check_cells(of("read_rows", {k, all}), L, V,
                    [&](Index i, Index c) { return k.row(i).dot(entry(states, i + 1).col(c)); });
      }
    }
  }
}

TEST_CASE("a table of matrices must have room for whole matrices") {
  const Matrix<double> k = Matrix<double>::Ones(2, 3);
  CHECK_THROWS_WITH(of("read_rows", {k, Matrix<double>::Ones(2, 7)}), says("read_rows") && says("[2, 7]"));
  CHECK_THROWS(of("scanned_end", {k, Matrix<double>::Ones(4, 6), Matrix<double>::Ones(4, 5)}));
}

TEST_CASE("solves with Gram matrices undo the multiplication") {
  std::mt19937 random(10);
  for (const Index K : {1, 2, 7}) {
    const auto positive_definite = [&] {
      const Matrix<double> X = random_matrix(random, K, K);
      return Matrix<double>(X * X.transpose() + Matrix<double>::Identity(K, K));
    };
    const Matrix<double> M = positive_definite();
    const Matrix<double> Y = random_matrix(random, K, 3);
    check_cells(M * of("solve_symmetric", {M, Y}), K, 3, [&](Index i, Index j) { return Y(i, j); });
    for (const Index L : awkward_sizes) {
      const Matrix<double> g = random_matrix(random, L, 1).cwiseAbs();
      const Matrix<double> W = random_matrix(random, L, L).cwiseAbs();
      const Matrix<double> X = random_matrix(random, L, K);
      const Matrix<double> Q = random_matrix(random, L, K);
      const Matrix<double> ridge = positive_definite();
      const Matrix<double> solved = of("solve_grams", {g, M, W, X, ridge, Q});
      check_cells(solved, L, K, [&](Index i, Index d) {
        Matrix<double> gram = g(i, 0) * M + ridge;
        for (Index j = 0; j < L; ++j) gram += W(i, j) * X.row(j).transpose() * X.row(j);
        return solved(i, d) + (Q(i, d) - gram.row(d).dot(solved.row(i)));
      });
    }
  }
}

TEST_CASE("softmax, whole and in pieces") {
  std::mt19937 random(4);
  for (const Index L : awkward_sizes) {
    for (const Index M : awkward_sizes) {
      Matrix<double> X = 3 * random_matrix(random, L, M);
      if (L > 1 && M > 1) X(1, 0) = -infinity;
      if (L > 2) X.row(2).setConstant(-infinity);
      const auto total = [&](Index i) { return X.row(i).array().exp().sum(); };
      check_cells(of("row_softmax", {X}), L, M,
                  [&](Index i, Index j) { return X(i, j) == -infinity ? 0 : std::exp(X(i, j)) / total(i); });
      check_cells(of("exp", {X}), L, M, [&](Index i, Index j) { return std::exp(X(i, j)); });
      check_cells(of("row_max", {X}), L, 1,
                  [&](Index i, Index) { return M == 0 ? -infinity : X.row(i).maxCoeff(); });

      const Matrix<double> m = of("row_max", {X});
      const Matrix<double> weights = of("exp_difference", {X, m});
      check_cells(weights, L, M,
                  [&](Index i, Index j) { return X(i, j) == -infinity ? 0 : std::exp(X(i, j) - m(i, 0)); });
      check_cells(of("row_sum", {weights}), L, 1, [&](Index i, Index) { return weights.row(i).sum(); });
      const Matrix<double> divisors = random_matrix(random, L, 1).array() + 2;
      check_cells(of("divide_rows", {weights, divisors}), L, M,
                  [&](Index i, Index j) { return weights(i, j) / divisors(i, 0); });

      const Matrix<double> Y = random_matrix(random, L, M);
      check_cells(of("maximum", {X, Y}), L, M, [&](Index i, Index j) { return std::max(X(i, j), Y(i, j)); });
    }
  }
}

TEST_CASE("softmax of huge numbers does not overflow") {
  Matrix<double> X(1, 3);
  X << 1000, 1000, -1000;
  check_cells(of("row_softmax", {X}), 1, 3, [](Index, Index j) { return j < 2 ? 0.5 : 0; });
}

TEST_CASE("one over a number") {
  CHECK(of("reciprocal", {one_by_one(-4)})(0, 0) == -0.25);
  CHECK(of("reciprocal", {one_by_one(0)})(0, 0) == infinity);
}

TEST_CASE("a NaN is passed on by maxima") {
  Matrix<double> x(3, 1);
  x << 1, quiet_nan, 2;
  CHECK(std::isnan(of("row_max", {x.transpose()})(0, 0)));
  CHECK(std::isnan(of("features/relu", {x})(1, 0)));
  CHECK(std::isnan(of("maximum", {x, x})(1, 0)));
}

TEST_CASE("feature maps of columns and of rows") {
  std::mt19937 random(5);
  const double root = std::sqrt(2.0);
  for (const Index K : awkward_sizes) {
    const Matrix<double> x = random_matrix(random, K, 1);
    std::map<std::string, std::vector<double>> expected;
    std::vector<double> packed;
    double squares = 0;
    expected["taylor1"] = {1};
    expected["taylor2"] = {1};
    for (Index i = 0; i < K; ++i) {
      const double each = x(i, 0);
      squares += each * each;
      expected["elu1"].push_back(each > 0 ? each + 1 : std::exp(each));
      expected["relu"].push_back(each > 0 ? each : 0);
      expected["taylor2"].push_back(each);
      for (Index j = i; j < K; ++j) packed.push_back(each * x(j, 0) * (i == j ? 1 : root));
    }
    for (Index i = 0; i < K; ++i) expected["taylor1"].push_back(x(i, 0) / std::sqrt(squares));
    for (const double each : packed) expected["taylor2"].push_back(each / root);
    expected["squared"] = packed;

    for (const char* map : {"elu1", "relu", "squared", "taylor1", "taylor2"}) {
      INFO(map << " of " << K << " channels");
      const std::vector<double>& features = expected[map];
      const Index count = std::ssize(features);
      check_cells(of(std::string("features/") + map, {x}), count, 1,
                  [&](Index f, Index) { return entry(features, f); });
      for (const Index L : awkward_sizes) {
        const Matrix<double> rows = Matrix<double>::Ones(L, 1) * x.transpose();
        check_cells(of(std::string("row_features/") + map, {rows}), L, count,
                    [&](Index, Index f) { return entry(features, f); });
      }
    }
  }
}

TEST_CASE("features of two vectors meet with their kernel") {
  std::mt19937 random(6);
  const Matrix<double> q = random_matrix(random, 5, 1);
  const Matrix<double> k = random_matrix(random, 5, 1);
  const double s = q.col(0).dot(k.col(0));
  const auto meet = [&](const std::string& map) { return of(map, {q}).col(0).dot(of(map, {k}).col(0)); };
  CHECK(meet("features/squared") == Approx(s * s));
  CHECK(meet("features/taylor1") == Approx(1 + s / (q.norm() * k.norm())));
  CHECK(meet("features/taylor2") == Approx(1 + s + s * s / 2));
}

TEST_CASE("a constant 1 is appended, and divided by at the end") {
  std::mt19937 random(7);
  for (const Index V : awkward_sizes) {
    const Matrix<double> v = random_matrix(random, V, 1);
    const Matrix<double> with_one = of("append_one", {v});
    check_cells(with_one, V + 1, 1, [&](Index i, Index) { return i < V ? v(i, 0) : 1; });
    const Matrix<double> r = random_matrix(random, V + 1, 1);
    check_cells(of("normalise", {r, one_by_one(0.5)}), V, 1,
                [&](Index i, Index) { return r(i, 0) / (r(V, 0) + 0.5); });
    for (const Index L : awkward_sizes) {
      const Matrix<double> rows = random_matrix(random, L, V);
      check_cells(of("append_ones", {rows}), L, V + 1,
                  [&](Index t, Index i) { return i < V ? rows(t, i) : 1; });
      const Matrix<double> R = random_matrix(random, L, V + 1);
      check_cells(of("row_normalise", {R, one_by_one(0)}), L, V,
                  [&](Index t, Index i) { return R(t, i) / R(t, V); });
    }
  }
}

TEST_CASE("every function has its own name and an explanation") {
  std::set<std::string> names;
  for (const Function& function : functions()) {
    INFO(function.name);
    CHECK(names.insert(function.name).second);
    CHECK(&find_function(function.name) == &function);
    CHECK(function.explain);
    CHECK_THROWS(function.shape(std::vector<Shape>(7)));
  }
}

TEST_CASE("a system with a NaN has no solution, in formulas and engines") {
  Matrix<double> M = Matrix<double>::Identity(3, 3);
  M(1, 2) = M(2, 1) = std::numeric_limits<double>::quiet_NaN();
  const Matrix<double> X = Matrix<double>::Ones(3, 2);
  const Matrix<double> arguments[] = {M, X};
  CHECK(find_function("solve_symmetric").evaluate(arguments).array().isNaN().all());
  M(1, 2) = M(2, 1) = 0;
  const Matrix<double> without[] = {M, X};
  CHECK(find_function("solve_symmetric").evaluate(without) == X);
}
