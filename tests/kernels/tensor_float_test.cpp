// What tensor cores make of programs in tf32 is what the recurrence makes of the same f32 rows in f64: every
// kind of decay and erase, in sizes that fill no tile, where keys are alike and where gates close.

#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include <set>

#include "core/base/error.h"
#include "core/contract/variant.h"
#include "kernels/cuda/row_engines.h"
#include "kernels/cuda/softmax_engines.h"
#include "kernels/cuda/tensor_float/missing.h"
#include "kernels/cuda/tensor_float/tensor_float_rows.h"
#include "tests/kernels/gpu.h"
#include "tests/kernels/random_rows.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr double allowed = 5e-3;

bool can_multiply_tf32() {
  if (!has_gpu()) return false;
  if (cuda::has_tensor_float()) return true;
  std::cout << "SKIP: tf32 needs tensor cores of compute capability 8.0\n";
  return false;
}

/// Two heads in tf32 against each alone by the plain kernels in f64.
void compare(Kind kind) {
  kind.numbers = Arithmetic::f32;
  INFO(words(kind));
  const std::vector<Program<float>> heads = {random_program(kind, 1), random_program(kind, 2)};
  const std::vector<Program<double>> wide = {widened(heads[0]), widened(heads[1])};
  std::vector<Matrix<double>> expected_states(2, Matrix<double>::Constant(kind.dk, kind.dv, 0.125));
  expected_states[1](0, 0) = -1;
  std::vector<Matrix<float>> states = {expected_states[0].cast<float>(), expected_states[1].cast<float>()};
  const auto expected =
      cuda::run_rows<double>(Form::recurrent, wide, 1, expected_states, {}, cuda::Rounding::none);
  const auto got = cuda::run_rows<float>(Form::chunkwise, heads, 16, states, {}, cuda::Rounding::tf32);
  // What the precision promises: ten roundings of a factor, 2^-11 of itself each. Worst of the kernels
  // carried out on a processor, lane by lane: 3e-3.
  const double output = std::max(largest(expected[0]), largest(expected[1]));
  for (std::size_t head = 0; head < 2; ++head) {
    CHECK(difference(got[head].cast<double>(), expected[head]) <= allowed * output);
    CHECK(difference(states[head].cast<double>(), expected_states[head]) <=
          allowed * largest(expected_states[head]));
  }
}

}  // namespace

TEST_CASE("chunks in tf32 give what the recurrence gives") {
  if (!can_multiply_tf32()) return;
  for (const Erase erase : {Erase::none, Erase::decayed}) {
    for (const Decay decay : {Decay::none, Decay::scalar, Decay::key}) {
      for (const bool reads_first : {false, true}) {
        for (const Index tokens : {0, 1, 15, 16, 17, 31, 32, 33, 64, 65, 200})
          compare({.tokens = tokens, .erase = erase, .decay = decay, .reads_first = reads_first});
        compare(
            {.tokens = 130, .dk = 17, .dv = 33, .erase = erase, .decay = decay, .reads_first = reads_first});
        compare({.tokens = 70, .dk = 64, .dv = 65, .erase = erase, .decay = decay});
        compare({.tokens = 70, .dk = 65, .dv = 1, .erase = erase, .decay = decay});
        compare({.tokens = 130, .dk = 1, .dv = 200, .erase = erase, .decay = decay, .beta = false});
        compare({.tokens = 70, .dk = 100, .dv = 8, .erase = erase, .decay = decay, .gates_are_logs = false});
        compare({.tokens = 1000, .erase = erase, .decay = decay, .reads_first = reads_first, .alike = 0.8});
      }
    }
  }
}

TEST_CASE("gates of channels that close within a few tokens keep chunks in tf32 finite") {
  if (!can_multiply_tf32()) return;
  for (const Erase erase : {Erase::none, Erase::decayed}) {
    for (const double strongest : {3.0, 10.0, 30.0, 300.0}) {
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

TEST_CASE("softmax in tf32 gives what it gives in f64") {
  if (!can_multiply_tf32()) return;
  struct Size {
    Index queries, earlier, dk, dv;
  };
  for (const Size& size : {Size{1, 0, 128, 128}, Size{65, 0, 17, 33}, Size{300, 0, 128, 128},
                           Size{129, 271, 64, 128}, Size{64, 0, 64, 64}, Size{700, 1, 128, 100}}) {
    INFO("T " << size.queries << " earlier " << size.earlier << " K " << size.dk << " V " << size.dv);
    std::vector<CachedQueries<float>> heads;
    std::vector<CachedQueries<double>> wide;
    for (const unsigned seed : {1U, 2U}) {
      const Program<float> rows = random_program(
          {.tokens = size.earlier + size.queries, .dk = size.dk, .dv = size.dv, .numbers = Arithmetic::f32},
          seed);
      heads.push_back(
          {.Q = 4 * rows.q.bottomRows(size.queries), .K = 4 * rows.k, .V = rows.v, .log_gates = {}});
      wide.push_back({.Q = heads.back().Q.cast<double>(),
                      .K = heads.back().K.cast<double>(),
                      .V = heads.back().V.cast<double>(),
                      .log_gates = {}});
    }
    const auto got = cuda::run_softmax<float>(Form::chunkwise, heads, 64, {}, cuda::Rounding::tf32);
    const auto expected = cuda::run_softmax<double>(Form::recurrent, wide, 64, {}, cuda::Rounding::none);
    // Two roundings of a factor, 2^-11 each, times |q| |k| = 16 in an exponent of which channels take part.
    for (std::size_t head = 0; head < 2; ++head)
      CHECK(difference(got[head].cast<double>(), expected[head]) <= allowed * largest(expected[head]));
  }
}

TEST_CASE("tf32 is offered where its kernels are, and the rest says why it is not") {
  std::set<std::string> offered;
  for (const Variant& variant : variants()) {
    const Settings settings = resolve(variant, {});
    for (const Form form : all_forms) {
      const auto reason = cuda::missing_in_tf32(variant, settings, form);
      if (form == Form::chunkwise && !reason) offered.insert(variant.id);
      if (form != Form::chunkwise) CHECK(reason.value() == cuda::missing_in_tf32(variant, {}, form).value());
    }
  }
  CHECK(offered == std::set<std::string>{"softmax", "linear", "kernel", "retnet", "lightning", "scalar_decay",
                                         "gla", "hgrn2", "longhorn", "double_softmax", "deltanet",
                                         "gated_deltanet", "kda"});
  const Variant& linear = find_variant("linear");
  Settings settings;
  settings.options["causal"] = "false";  // reads at the end
  CHECK(cuda::missing_in_tf32(linear, resolve(linear, settings), Form::chunkwise).has_value());
}

TEST_CASE("tf32 is computed by its kernels or not at all") {
  if (!can_multiply_tf32()) return;
  const Program<float> wide = random_program({.tokens = 3, .dk = 129, .dv = 4}, 1);
  std::vector<Matrix<float>> S = {Matrix<float>::Zero(129, 4)};
  CHECK_THROWS_AS(cuda::run_rows<float>(Form::chunkwise, {&wide, 1}, 16, S, {}, cuda::Rounding::tf32),
                  Unsupported);
  const Program<float> rows = random_program({.tokens = 3, .dk = 4, .dv = 4}, 1);
  S = {Matrix<float>::Zero(4, 4)};
  CHECK_THROWS_AS(cuda::run_rows<float>(Form::recurrent, {&rows, 1}, 16, S, {}, cuda::Rounding::tf32),
                  Unsupported);
  CHECK(cuda::fused_rows<float>(Form::chunkwise, rows.structure, 128, cuda::Rounding::tf32) ==
        "kernels on tensor cores in tf32");
  CHECK(cuda::fused_rows<float>(Form::chunkwise, rows.structure, 129, cuda::Rounding::tf32).empty());
  CHECK(cuda::fused_softmax<float>(Form::chunkwise, 128, 128, false, cuda::Rounding::tf32) ==
        "one fused kernel on tensor cores in tf32");
  CHECK(cuda::fused_softmax<float>(Form::chunkwise, 128, 128, true, cuda::Rounding::tf32).empty());
}

#endif
