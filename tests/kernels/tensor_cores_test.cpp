// What tensor cores make of programs in bf16 is what the recurrence makes of the same rounded rows in f64:
// every kind of decay and erase, in sizes that fill no tile, where keys are alike and where gates close.

#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include <cmath>
#include <limits>
#include <random>

#include "core/base/array.h"
#include "core/numbers/arithmetic.h"
#include "kernels/cuda/hopper/tensor_rows.h"
#include "kernels/cuda/row_engines.h"
#include "kernels/cuda/softmax_engines.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

namespace {

bool has_tensor_cores() {
  if (!testing::has_gpu()) return false;
  if (cuda::has_hopper()) return true;
  std::cout << "SKIP: the tensor-core kernels are written for compute capability 9.0\n";
  return false;
}

struct Kind {
  Index tokens = 0;
  Index dk = 128;
  Index dv = 128;
  Erase erase = Erase::none;
  Decay decay = Decay::none;
  bool beta = true;
  bool reads_first = false;
  bool gates_are_logs = true;
  double alike = 0;        // cosine of two keys
  double strongest = 0.1;  // -g of a token, at most
};

std::string words(const Kind& kind) {
  return "T " + std::to_string(kind.tokens) + " K " + std::to_string(kind.dk) + " V " +
         std::to_string(kind.dv) + " erase " + std::to_string(static_cast<int>(kind.erase)) + " decay " +
         std::to_string(static_cast<int>(kind.decay)) + " beta " + std::to_string(kind.beta) +
         " reads first " + std::to_string(kind.reads_first) + " alike " + std::to_string(kind.alike) +
         " strongest " + std::to_string(kind.strongest);
}

float as_bf16(double x) { return static_cast<float>(rounded(x, Arithmetic::bf16)); }

/// Keys of length 1; one gate in the middle closes altogether.
Program<float> random_program(const Kind& kind, unsigned seed) {
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
  const auto drawn = [&](Index rows, Index columns, auto draw) {
    Matrix<float> all(rows, columns);
    for (Index i = 0; i < all.size(); ++i) all.data()[i] = static_cast<float>(draw(i));
    return all;
  };
  std::vector<double> common(static_cast<std::size_t>(kind.dk));
  for (double& x : common) x = unit * normal(bits);
  program.q = drawn(kind.tokens, kind.dk, [&](Index) { return as_bf16(unit * normal(bits)); });
  program.k = drawn(kind.tokens, kind.dk, [&](Index i) {
    return std::sqrt(kind.alike) * common[static_cast<std::size_t>(i % kind.dk)] +
           std::sqrt(1 - kind.alike) * unit * normal(bits);
  });
  program.k.rowwise().normalize();
  program.k = program.k.unaryExpr([](float x) { return as_bf16(x); });
  program.v = drawn(kind.tokens, kind.dv, [&](Index) { return as_bf16(normal(bits)); });
  program.beta = drawn(kind.tokens, kind.beta ? 1 : 0, [&](Index) { return uniform(bits); });
  const Index gates = kind.decay == Decay::key ? kind.dk : kind.decay == Decay::scalar ? 1 : 0;
  program.gate = drawn(kind.tokens, gates, [&](Index i) {
    const bool closes = i / std::max<Index>(gates, 1) == kind.tokens / 2;
    const double g = closes ? -std::numeric_limits<double>::infinity() : -kind.strongest * uniform(bits);
    return kind.gates_are_logs ? g : std::exp(g);
  });
  return program;
}

Program<double> widened(const Program<float>& program) {
  return {.structure = program.structure,
          .q = program.q.cast<double>(),
          .k = program.k.cast<double>(),
          .v = program.v.cast<double>(),
          .gate = program.gate.cast<double>(),
          .beta = program.beta.cast<double>()};
}

double largest(const Matrix<double>& X) { return X.size() == 0 ? 0 : X.cwiseAbs().maxCoeff(); }

/// max|X - Y|; infinite where one is no number.
double difference(const Matrix<double>& X, const Matrix<double>& Y) {
  if (X.size() == 0 && Y.size() == 0) return 0;
  const double furthest = (X - Y).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  return std::isnan(furthest) ? std::numeric_limits<double>::infinity() : furthest;
}

/// Two heads on tensor cores against each alone by the plain kernels in f64.
void compare(const Kind& kind) {
  INFO(words(kind));
  const std::vector<Program<float>> heads = {random_program(kind, 1), random_program(kind, 2)};
  const std::vector<Program<double>> wide = {widened(heads[0]), widened(heads[1])};
  std::vector<Matrix<double>> expected_states(2, Matrix<double>::Constant(kind.dk, kind.dv, 0.125));
  expected_states[1](0, 0) = -1;
  std::vector<Matrix<float>> states = {expected_states[0].cast<float>(), expected_states[1].cast<float>()};
  const auto expected =
      cuda::run_rows<double>(Form::recurrent, wide, 1, expected_states, {}, cuda::Rounding::none);
  const auto got = cuda::run_rows<float>(Form::chunkwise, heads, 16, states, {}, cuda::Rounding::bf16);
  // Worst of many draws 6e-3 and, of states, 8e-3; a bf16 is rounded by up to 2^-8 = 4e-3 of itself. Measured
  // by the larger head: a query and a key that are all but orthogonal leave one token next to nothing.
  const double output = std::max(largest(expected[0]), largest(expected[1]));
  for (std::size_t head = 0; head < 2; ++head) {
    CHECK(difference(got[head].cast<double>(), expected[head]) <= 1.5e-2 * output);
    CHECK(difference(states[head].cast<double>(), expected_states[head]) <=
          1.5e-2 * largest(expected_states[head]));
  }
}

}  // namespace

TEST_CASE("chunks on tensor cores give what the recurrence gives") {
  if (!has_tensor_cores()) return;
  for (const Erase erase : {Erase::none, Erase::decayed}) {
    for (const Decay decay : {Decay::none, Decay::scalar, Decay::key}) {
      for (const bool reads_first : {false, true}) {
        for (const Index tokens : {0, 1, 15, 16, 17, 63, 64, 65, 129, 200})
          compare({.tokens = tokens, .erase = erase, .decay = decay, .reads_first = reads_first});
        compare(
            {.tokens = 130, .dk = 17, .dv = 33, .erase = erase, .decay = decay, .reads_first = reads_first});
        compare({.tokens = 130, .dk = 1, .dv = 200, .erase = erase, .decay = decay, .beta = false});
        compare({.tokens = 70, .dk = 100, .dv = 8, .erase = erase, .decay = decay, .gates_are_logs = false});
        compare({.tokens = 1000, .erase = erase, .decay = decay, .reads_first = reads_first, .alike = 0.8});
      }
    }
  }
}

TEST_CASE("gates of channels that close within a few tokens keep chunks finite") {
  if (!has_tensor_cores()) return;
  for (const Erase erase : {Erase::none, Erase::decayed}) {
    for (const double strongest :
         {3.0, 10.0, 30.0, 300.0}) {  // at 10 about half of the channels, within 16 tokens
      for (const bool reads_first : {false, true})
        compare({.tokens = 200,
                 .erase = erase,
                 .decay = Decay::key,
                 .reads_first = reads_first,
                 .alike = 0.5,
                 .strongest = strongest});
    }
  }
}

TEST_CASE("softmax on tensor cores gives what it gives in f64") {
  if (!has_tensor_cores()) return;
  struct Size {
    Index queries, earlier, dk, dv;
  };
  for (const Size& size : {Size{1, 0, 128, 128}, Size{65, 0, 17, 33}, Size{300, 0, 128, 128},
                           Size{129, 271, 64, 128}, Size{1, 500, 1, 1}, Size{700, 1, 128, 100}}) {
    INFO("T " << size.queries << " earlier " << size.earlier << " K " << size.dk << " V " << size.dv);
    std::vector<CachedQueries<float>> heads;
    std::vector<CachedQueries<double>> wide;
    for (const unsigned seed : {1U, 2U}) {
      const Program<float> rows =
          random_program({.tokens = size.earlier + size.queries, .dk = size.dk, .dv = size.dv}, seed);
      heads.push_back(
          {.Q = 4 * rows.q.bottomRows(size.queries), .K = 4 * rows.k, .V = rows.v, .log_gates = {}});
      wide.push_back({.Q = heads.back().Q.cast<double>(),
                      .K = heads.back().K.cast<double>(),
                      .V = heads.back().V.cast<double>(),
                      .log_gates = {}});
    }
    const auto got = cuda::run_softmax<float>(Form::chunkwise, heads, 64, {}, cuda::Rounding::bf16);
    const auto expected = cuda::run_softmax<double>(Form::recurrent, wide, 64, {}, cuda::Rounding::none);
    for (std::size_t head = 0; head < 2; ++head)
      CHECK(difference(got[head].cast<double>(), expected[head]) <= 1e-2 * largest(expected[head]));
  }
}

TEST_CASE("a run that goes to a fused kernel says so, and no other") {
  if (!testing::has_gpu()) return;
  const auto rows = [](Form form, const Structure& structure, Index K, cuda::Rounding rounding) {
    return cuda::fused_rows<float>(form, structure, K, rounding);
  };
  const Structure gated = {.decay = Decay::scalar, .erase = Erase::decayed, .beta = true};
  const Structure by_channel = {.decay = Decay::key, .erase = Erase::decayed, .beta = true};
  for (const cuda::Rounding rounding : {cuda::Rounding::none, cuda::Rounding::bf16}) {
    CHECK(rows(Form::recurrent, gated, 128, rounding) == "one kernel that holds the memory in registers");
    CHECK(rows(Form::recurrent, gated, 897, rounding).empty());
    CHECK(rows(Form::recurrent, by_channel, 128, rounding).empty());
    CHECK(rows(Form::two_pass, gated, 128, rounding).empty());
    CHECK(rows(Form::parallel, gated, 128, rounding).empty());
  }
  CHECK(rows(Form::chunkwise, gated, 128, cuda::Rounding::none).empty());
  CHECK(rows(Form::chunkwise, gated, 129, cuda::Rounding::bf16).empty());
  CHECK(cuda::fused_rows<double>(Form::chunkwise, gated, 128, cuda::Rounding::bf16).empty());
  const auto softmax = [](Form form, Index K, Index V, bool fades) {
    return cuda::fused_softmax<float>(form, K, V, fades, cuda::Rounding::bf16);
  };
  CHECK(softmax(Form::recurrent, 128, 128, false).empty());
  CHECK(softmax(Form::chunkwise, 128, 129, false).empty());
  CHECK(softmax(Form::chunkwise, 128, 128, true).empty());
  const bool can = cuda::has_hopper();
  CHECK(rows(Form::chunkwise, gated, 128, cuda::Rounding::bf16).empty() != can);
  CHECK(rows(Form::chunkwise, by_channel, 128, cuda::Rounding::bf16).empty() != can);
  CHECK(softmax(Form::chunkwise, 128, 128, false).empty() != can);
}

#endif
