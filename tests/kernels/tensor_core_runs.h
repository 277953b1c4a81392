#pragma once

#include "kernels/cuda/engines.h"
#include "tests/catch.h"
#include "tests/kernels/random_rows.h"

// Two heads on tensor cores, rounded in some way, against each alone by the plain kernels in f64.

namespace palimpsest::testing {

/// The numbers that rows hold which are rounded so.
inline Arithmetic numbers_of(cuda::Rounding rounding) {
  return rounding == cuda::Rounding::bf16 ? Arithmetic::bf16 : Arithmetic::f32;
}

/// Checks that chunks are off by at most `allowed` of the largest number.
inline void compare_chunks(Kind kind, cuda::Rounding rounding, double allowed) {
  kind.numbers = numbers_of(rounding);
  INFO(words(kind));
  const std::vector<Program<float>> heads = {random_program(kind, 1), random_program(kind, 2)};
  const std::vector<Program<double>> wide = {widened(heads[0]), widened(heads[1])};
  std::vector<Carried<double>> expected_states(2, {Matrix<double>::Constant(kind.dk, kind.dv, 0.125)});
  expected_states[1][0](0, 0) = -1;
  std::vector<Carried<float>> states = {{expected_states[0][0].cast<float>()},
                                        {expected_states[1][0].cast<float>()}};
  const auto plain = cuda::make_engine<Program, double>(cuda::Rounding::none);
  const auto expected = plain->run({.form = Form::recurrent}, wide, expected_states).o;
  const EngineRequest chunks = {.form = Form::chunkwise, .chunk_size = 16};
  const auto got = cuda::make_engine<Program, float>(rounding)->run(chunks, heads, states).o;
  // Measured by the larger head: a query and a key that are all but orthogonal leave one token next to
  // nothing.
  const double output = std::max(largest(expected[0]), largest(expected[1]));
  for (std::size_t head = 0; head < 2; ++head) {
    CHECK(difference(got[head].cast<double>(), expected[head]) <= allowed * output);
    CHECK(difference(states[head][0].cast<double>(), expected_states[head][0]) <=
          allowed * largest(expected_states[head][0]));
  }
}

/// The same for every decay and erase of each of `kinds`, read before and after the own write.
inline void compare_structures(const std::vector<Kind>& kinds, const std::vector<Decay>& decays,
                               cuda::Rounding rounding, double allowed) {
  for (Kind kind : kinds) {
    for (const Erase erase : {Erase::none, Erase::decayed}) {
      for (const Decay decay : decays) {
        for (const bool reads_first : {false, true}) {
          kind.erase = erase;
          kind.decay = decay;
          kind.reads_first = reads_first;
          compare_chunks(kind, rounding, allowed);
        }
      }
    }
  }
}

/// Chunks in sizes that fill no tile, and of keys that are alike.
inline void compare_sizes(cuda::Rounding rounding, double allowed) {
  std::vector<Kind> kinds;
  for (const Index tokens : {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129, 200})
    kinds.push_back({.tokens = tokens});
  kinds.push_back({.tokens = 130, .dk = 17, .dv = 33});
  kinds.push_back({.tokens = 70, .dk = 64, .dv = 65});
  kinds.push_back({.tokens = 70, .dk = 65, .dv = 1});
  kinds.push_back({.tokens = 130, .dk = 1, .dv = 200, .beta = false});
  kinds.push_back({.tokens = 70, .dk = 100, .dv = 8, .gates_are_logs = false});
  kinds.push_back({.tokens = 1000, .alike = 0.8});
  compare_structures(kinds, {Decay::none, Decay::scalar, Decay::key}, rounding, allowed);
}

/// Chunks in which gates of channels close within a few tokens.
inline void compare_closing_gates(cuda::Rounding rounding, double allowed) {
  std::vector<Kind> kinds;
  for (const double strongest : {3.0, 10.0, 30.0, 300.0})  // at 10 about half of them, within 16 tokens
    kinds.push_back({.tokens = 200, .alike = 0.5, .strongest = strongest});
  compare_structures(kinds, {Decay::key}, rounding, allowed);
}

struct AttentionSize {
  Index queries, earlier, dk, dv;
};

/// Checks that softmax attention, |q| |k| = 16, is off by at most `allowed` of the largest number.
inline void compare_softmax(const AttentionSize& size, cuda::Rounding rounding, double allowed) {
  INFO("T " << size.queries << " earlier " << size.earlier << " K " << size.dk << " V " << size.dv);
  std::vector<CachedQueries<float>> heads;
  std::vector<CachedQueries<double>> wide;
  for (const unsigned seed : {1U, 2U}) {
    const Program<float> rows = random_program({.tokens = size.earlier + size.queries,
                                                .dk = size.dk,
                                                .dv = size.dv,
                                                .numbers = numbers_of(rounding)},
                                               seed);
    heads.push_back({.Q = 4 * rows.q.bottomRows(size.queries),
                     .K = 4 * rows.k,
                     .V = rows.v,
                     .first_query = size.earlier});
    wide.push_back({.Q = heads.back().Q.cast<double>(),
                    .K = heads.back().K.cast<double>(),
                    .V = heads.back().V.cast<double>(),
                    .first_query = size.earlier});
  }
  std::vector<Carried<float>> none(2);
  std::vector<Carried<double>> wide_none(2);
  const EngineRequest chunks = {.form = Form::chunkwise, .chunk_size = 64};
  const auto got = cuda::make_engine<CachedQueries, float>(rounding)->run(chunks, heads, none).o;
  const auto plain = cuda::make_engine<CachedQueries, double>(cuda::Rounding::none);
  const auto expected = plain->run({.form = Form::recurrent}, wide, wide_none).o;
  for (std::size_t head = 0; head < 2; ++head)
    CHECK(difference(got[head].cast<double>(), expected[head]) <= allowed * largest(expected[head]));
}

}  // namespace palimpsest::testing
