// Products, triangular systems and GELU in vector instructions, against f64.

#include "kernels/cpu/matrix_product.h"

#include <cmath>
#include <random>

#include "core/numbers/products.h"
#include "kernels/cpu/gelu.h"
#include "kernels/cpu/unit_lower.h"
#include "tests/kernels/vector_targets.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr double unit = 0x1p-24;  // half a step of f32 at 1
constexpr Index gap = 3;

/// Random numbers in rows with NaN before, between and behind them.
class Poisoned {
 public:
  Poisoned(Index rows, Index columns, std::mt19937& generator)
      : columns_(columns), all_(rows + 2, columns + gap) {
    std::normal_distribution<float> normal;
    all_.setConstant(std::nanf(""));
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) all_(i + 1, j) = normal(generator);
    }
  }

  float* data() { return all_.row(1).data(); }
  Index stride() const { return all_.cols(); }
  cpu::Factor factor(bool is_transposed) { return {data(), stride(), is_transposed}; }
  Matrix<double> values() const {
    return all_.block(1, 0, all_.rows() - 2, columns_).template cast<double>();
  }
  /// Whether what lies around the numbers is as it was.
  bool is_intact() const {
    const auto is_nan = [](const auto& part) { return part.array().isNaN().all(); };
    return is_nan(all_.topRows(1)) && is_nan(all_.bottomRows(1)) && is_nan(all_.rightCols(gap));
  }

 private:
  Index columns_;
  Matrix<float> all_;
};

struct ProductSize {
  Index M;
  Index N;
  Index K;
};

constexpr ProductSize sizes[] = {{1, 1, 1},    {1, 17, 3},    {6, 16, 64},    {7, 15, 65},
                                 {13, 33, 5},  {16, 64, 64},  {17, 63, 63},   {5, 65, 129},
                                 {65, 79, 17}, {64, 128, 16}, {20, 130, 200}, {3, 4, 0}};

/// C against keep C + factor A B in f64. K sums in f32, each rounded once, and two roundings at the end, are
/// off by at most (K + 3) half steps of the sum of magnitudes.
void check_product(const ProductSize& size, bool turns_A, bool turns_B, float keep, float factor) {
  INFO(size.M << " x " << size.N << " x " << size.K << (turns_A ? " A^T" : "") << (turns_B ? " B^T" : "")
              << " keep " << keep << " factor " << factor);
  std::mt19937 generator(5);
  const auto [M, N, K] = size;
  Poisoned A(turns_A ? K : M, turns_A ? M : K, generator);
  Poisoned B(turns_B ? N : K, turns_B ? K : N, generator);
  Poisoned C(M, N, generator);
  const Matrix<double> a = turns_A ? Matrix<double>(A.values().transpose()) : A.values();
  const Matrix<double> b = turns_B ? Matrix<double>(B.values().transpose()) : B.values();
  const auto [k, f] = std::pair<double, double>(keep, factor);
  const Matrix<double> right = k * C.values() + f * (a * b);
  const Matrix<double> magnitudes =
      std::abs(k) * C.values().cwiseAbs() + std::abs(f) * (a.cwiseAbs() * b.cwiseAbs());
  if (keep == 0) {
    for (Index i = 0; i < M; ++i) std::fill_n(C.data() + i * C.stride(), N, std::nanf(""));
  }
  cpu::multiply({M, N, K, A.factor(turns_A), B.factor(turns_B), C.data(), C.stride(), keep, factor});
  const Matrix<double> error = (C.values() - right).cwiseAbs();
  CHECK((error.array() <= (static_cast<double>(K) + 3) * unit * magnitudes.array()).all());
  CHECK(C.is_intact());
}

}  // namespace

TEST_CASE("products in vector instructions are exact to their rounding, whatever the sizes and strides") {
  on_every_target([] {
    for (const ProductSize& size : sizes) {
      for (const bool turns_A : {false, true}) {
        for (const bool turns_B : {false, true}) {
          for (const auto& [keep, factor] :
               {std::pair{0.0F, 1.0F}, {1.0F, 1.0F}, {0.7F, -1.0F}, {1.0F, 0.3F}})
            check_product(size, turns_A, turns_B, keep, factor);
        }
      }
    }
  });
}

TEST_CASE("a symmetric product is the whole one") {
  on_every_target([] {
    for (const Index n : {1, 3, 4, 15, 16, 17, 37, 64, 65}) {
      std::mt19937 generator(6);
      Poisoned A(n, 29, generator);
      Poisoned C(n, n, generator);
      INFO(n);
      cpu::multiply({.M = n,
                     .N = n,
                     .K = 29,
                     .A = A.factor(false),
                     .B = A.factor(true),
                     .C = C.data(),
                     .stride = C.stride(),
                     .shape = cpu::Shape::symmetric});
      const Matrix<double> a = A.values();
      const Matrix<double> error = (C.values() - a * a.transpose()).cwiseAbs();
      CHECK((error.array() <= 32 * unit * (a.cwiseAbs() * a.cwiseAbs().transpose()).array()).all());
      CHECK((C.values().array() == C.values().transpose().array()).all());
      CHECK(C.is_intact());
    }
  });
}

TEST_CASE("a lower triangular factor is multiplied as a whole one, and nothing above its blocks is read") {
  on_every_target([] {
    for (const Index n : {1, 15, 16, 17, 37, 64}) {
      std::mt19937 generator(7);
      Poisoned A(n, n, generator);
      Poisoned B(n, 29, generator);
      Poisoned C(n, 29, generator);
      INFO(n);
      const Matrix<double> a = A.values().triangularView<Eigen::Lower>();
      for (Index i = 0; i < n; ++i) {
        for (Index j = i + 1; j < n; ++j) A.data()[i * A.stride() + j] = j / 16 == i / 16 ? 0 : std::nanf("");
      }
      const Matrix<double> right = C.values() - a * B.values();
      const Matrix<double> magnitudes = C.values().cwiseAbs() + a.cwiseAbs() * B.values().cwiseAbs();
      cpu::multiply_lower({n, 29, n, A.factor(false), B.factor(false), C.data(), C.stride(), 1, -1});
      const Matrix<double> error = (C.values() - right).cwiseAbs();
      CHECK((error.array() <= (static_cast<double>(n) + 3) * unit * magnitudes.array()).all());
      CHECK(C.is_intact());
    }
  });
}

TEST_CASE("a unit lower triangular system is solved in vector instructions") {
  on_every_target([] {
    for (const Index L : {1, 2, 15, 16, 17, 63, 65}) {
      for (const Index V : {1, 5, 16, 33, 64, 131}) {
        INFO(L << " rows, " << V << " columns");
        std::mt19937 generator(7);
        Poisoned N(L, L, generator);
        Poisoned U(L, V, generator);
        // With numbers of at most 1 / L below the diagonal the inverse has none above e: each of L rows is
        // off by at most L half steps of the largest number so far. NaN elsewhere is not looked at.
        for (Index i = 0; i < L; ++i) {
          for (Index j = 0; j < L; ++j) {
            float& n = N.data()[i * N.stride() + j];
            n = j < i ? std::tanh(n) / static_cast<float>(L) : std::nanf("");
          }
        }
        Matrix<double> strict = Matrix<double>::Zero(L, L);
        strict.triangularView<Eigen::StrictlyLower>() = N.values();
        const Matrix<double> right = EigenProducts::forward_substitution(strict, U.values());
        const double bound =
            std::exp(1.0) * static_cast<double>(L + 2) * unit * 2 * right.cwiseAbs().maxCoeff();
        cpu::solve_unit_lower(L, V, N.data(), N.stride(), U.data(), U.stride());
        CHECK((U.values() - right).cwiseAbs().maxCoeff() <= bound);
        CHECK(U.is_intact());
      }
    }
  });
}

TEST_CASE("GELU in vector instructions is that of f64, and far out what it tends to") {
  on_every_target([] {
    std::vector<float> x;
    for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<float>(i) / 150);
    for (const float far : {30.0F, 1e4F, 1e15F, 1e25F}) x.insert(x.end(), {far, -far});
    std::vector<float> y(x.size());
    std::vector<float> slope(x.size());
    cpu::gelu(x.data(), std::ssize(x), y.data());
    cpu::gelu_derivative(x.data(), std::ssize(x), slope.data());
    // The argument of the exponential has five roundings, the rest five more; s (1 - s) z stays below 1/4.
    const auto is_near = [](float value, double right, double size) {
      return std::abs(static_cast<double>(value) - right) <= 16 * unit * std::max(size, 1.0);
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto exact = static_cast<double>(x[i]);
      INFO(exact);
      CHECK(is_near(y[i], gelu(exact), std::abs(exact)));
      CHECK(is_near(slope[i], gelu_derivative(exact), 1));
    }
    const float none = std::nanf("");
    cpu::gelu(&none, 1, y.data());
    cpu::gelu_derivative(&none, 1, slope.data());
    CHECK((std::isnan(y[0]) && std::isnan(slope[0])));
  });
}
