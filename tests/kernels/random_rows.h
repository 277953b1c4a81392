#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/numbers/arithmetic.h"
#include "core/operator/program.h"

// Random row programs for kernels on tensor cores, in awkward sizes.

namespace palimpsest::testing {

struct Kind {
  Index tokens = 0;
  Index dk = 128;
  Index dv = 128;
  Erase erase = Erase::none;
  Decay decay = Decay::none;
  bool beta = true;
  bool reads_first = false;
  bool gates_are_logs = true;
  double alike = 0;                       // cosine of two keys
  double strongest = 0.1;                 // -g of a token, at most
  Arithmetic numbers = Arithmetic::bf16;  // of q, k and v
};

inline std::string words(const Kind& kind) {
  return "T " + std::to_string(kind.tokens) + " K " + std::to_string(kind.dk) + " V " +
         std::to_string(kind.dv) + " erase " + std::to_string(static_cast<int>(kind.erase)) + " decay " +
         std::to_string(static_cast<int>(kind.decay)) + " beta " + std::to_string(kind.beta) +
         " reads first " + std::to_string(kind.reads_first) + " alike " + std::to_string(kind.alike) +
         " strongest " + std::to_string(kind.strongest);
}

/// Keys of length 1; one gate in the middle closes altogether.
inline Program<float> random_program(const Kind& kind, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double unit = 1 / std::sqrt(static_cast<double>(kind.dk));
  Program<float> program;
  program.structure = {.decay = kind.decay,
                       .gates_are_logs = kind.gates_are_logs,
                       .erase = kind.erase,
                       .beta = kind.beta,
                       .read_at = kind.reads_first ? ReadAt::before_row : ReadAt::after_row};
  const auto rounded = [&](double x) { return static_cast<float>(palimpsest::rounded(x, kind.numbers)); };
  const auto drawn = [&](Index rows, Index columns, auto draw) {
    Matrix<float> all(rows, columns);
    for (Index i = 0; i < all.size(); ++i) all.data()[i] = static_cast<float>(draw(i));
    return all;
  };
  std::vector<double> common(static_cast<std::size_t>(kind.dk));
  for (double& x : common) x = unit * normal(bits);
  program.q = drawn(kind.tokens, kind.dk, [&](Index) { return rounded(unit * normal(bits)); });
  program.k = drawn(kind.tokens, kind.dk, [&](Index i) {
    return std::sqrt(kind.alike) * common[static_cast<std::size_t>(i % kind.dk)] +
           std::sqrt(1 - kind.alike) * unit * normal(bits);
  });
  program.k.rowwise().normalize();
  program.k = program.k.unaryExpr([&](float x) { return rounded(x); });
  program.v = drawn(kind.tokens, kind.dv, [&](Index) { return rounded(normal(bits)); });
  program.beta = drawn(kind.tokens, kind.beta ? 1 : 0, [&](Index) { return uniform(bits); });
  const Index gates = kind.decay == Decay::key ? kind.dk : kind.decay == Decay::scalar ? 1 : 0;
  program.gate = drawn(kind.tokens, gates, [&](Index i) {
    const bool closes = i / std::max<Index>(gates, 1) == kind.tokens / 2;
    const double g = closes ? -std::numeric_limits<double>::infinity() : -kind.strongest * uniform(bits);
    return kind.gates_are_logs ? g : std::exp(g);
  });
  return program;
}

inline Program<double> widened(const Program<float>& program) {
  return {.structure = program.structure,
          .q = program.q.cast<double>(),
          .k = program.k.cast<double>(),
          .v = program.v.cast<double>(),
          .gate = program.gate.cast<double>(),
          .beta = program.beta.cast<double>()};
}

inline double largest(const Matrix<double>& X) { return X.size() == 0 ? 0 : X.cwiseAbs().maxCoeff(); }

/// max|X - Y|; infinite where one is no number.
inline double difference(const Matrix<double>& X, const Matrix<double>& Y) {
  if (X.size() == 0 && Y.size() == 0) return 0;
  const double furthest = (X - Y).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  return std::isnan(furthest) ? std::numeric_limits<double>::infinity() : furthest;
}

}  // namespace palimpsest::testing
