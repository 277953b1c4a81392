// Rows as maps of a state column, for every structure that a program can have, against the recurrent engine.

#include "core/rules/row_map.h"

#include <fmt/format.h>

#include <random>

#include "core/base/error.h"
#include "core/engines/recurrent.h"
#include "core/rules/effective_attention.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

/// Every structure with one part, and one with several for every way to erase.
std::vector<Structure> structures() {
  std::vector<Structure> all;
  for (const Erase erase : {Erase::none, Erase::decayed, Erase::undecayed}) {
    for (const Decay decay : {Decay::none, Decay::scalar, Decay::key}) {
      for (const bool value_decay : {false, true}) {
        for (const bool plain_write : {false, true}) {
          for (const Index rows_per_read : {1, 3}) {
            all.push_back({.decay = decay,
                           .value_decay = value_decay,
                           .erase = erase,
                           .erase_key = plain_write,
                           .beta = decay != Decay::none,
                           .plain_write = plain_write,
                           .rows_per_read = rows_per_read});
          }
        }
      }
    }
    all.push_back({.erase = erase, .beta = true, .parts = "SMF"});
  }
  return all;
}

/// A program of random numbers with one value channel.
Program<double> random_program(const Structure& structure, Index tokens, Index K, std::mt19937& generator) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit(0.2, 1);
  const auto random = [&](Index rows, Index columns) -> Matrix<double> {
    return Matrix<double>::NullaryExpr(rows, columns, [&] { return normal(generator) / 2; });
  };
  const auto decays = [&](Index rows, Index columns) -> Matrix<double> {
    return Matrix<double>::NullaryExpr(rows, columns, [&] { return unit(generator); });
  };
  const Index N = tokens * structure.rows_per_read;
  const Index p = structure.part_count();
  Program<double> program{
      .structure = structure, .q = random(tokens, K), .k = random(N, K), .v = random(N, 1)};
  if (structure.erase_key) program.a = random(N, K);
  if (structure.decay != Decay::none) program.gate = decays(N, structure.decay == Decay::scalar ? 1 : K);
  if (structure.value_decay) program.mu = decays(N, 1);
  if (structure.beta) program.beta = decays(N, 1);
  if (structure.plain_write) {
    program.k_plain = random(N, K);
    program.v_plain = random(N, 1);
  }
  if (p > 1) {
    program.transition = random(N, p * p);
    program.inject = random(N, p);
    program.erase_sight = random(N, p);
    program.read_sight = random(tokens, p);
  }
  return program;
}

/// The tokens first .. first + count - 1 of a program.
Program<double> part_of(const Program<double>& program, Index first, Index count) {
  const Index h = program.structure.rows_per_read;
  const auto rows = [](const Matrix<double>& all, Index from, Index n) -> Matrix<double> {
    return all.size() == 0 ? all : Matrix<double>(all.middleRows(from, n));
  };
  Program<double> part{.structure = program.structure, .q = program.q.middleRows(first, count)};
  part.read_sight = rows(program.read_sight, first, count);
  for (const auto member :
       {&Program<double>::k, &Program<double>::v, &Program<double>::a, &Program<double>::gate,
        &Program<double>::mu, &Program<double>::beta, &Program<double>::k_plain, &Program<double>::v_plain,
        &Program<double>::transition, &Program<double>::inject, &Program<double>::erase_sight}) {
    part.*member = rows(program.*member, first * h, count * h);
  }
  return part;
}

/// The state after the whole program.
Matrix<double> state_after(const Program<double>& program, Matrix<double> state) {
  recurrent(program, state);
  return state;
}

}  // namespace

TEST_CASE("row map: what the recurrent engine does to a state, forwards and seen from the end") {
  std::mt19937 generator(41);
  for (const Structure& structure : structures()) {
    for (const Index K : {1, 4}) {
      const Program<double> program = random_program(structure, 3, K, generator);
      const RowMap map(program);
      const Index size = K * structure.part_count();
      Matrix<double> x = Matrix<double>::Random(size, 1);
      const Matrix<double> engine = state_after(program, x);
      Matrix<double> f = Matrix<double>::Random(1, size);
      const Matrix<double> end = f;
      double seen = 0;
      for (Index r = map.rows() - 1; r >= 0; --r) {
        const Vector<double> hits = f * map.write(r).transpose();
        seen += hits(0) * program.v(r, 0);
        if (map.writes_plainly()) seen += f.row(0).dot(map.plain(r)) * program.v_plain(r, 0);
        map.pull_back(r, hits, f);
      }
      seen += f.row(0).dot(x.col(0).transpose());
      Matrix<double> forwards = x.transpose();
      for (Index r = 0; r < map.rows(); ++r) {
        map.push_forward(r, forwards);
        forwards += program.v(r, 0) * map.write(r);
        if (map.writes_plainly()) forwards += program.v_plain(r, 0) * map.plain(r);
      }
      INFO(fmt::format("K {}, erase {}, decay {}, value decay {}, plain {}, parts {}", K,
                       static_cast<int>(structure.erase), static_cast<int>(structure.decay),
                       structure.value_decay, structure.plain_write, structure.part_count()));
      CHECK((forwards.transpose() - engine).cwiseAbs().maxCoeff() <= 1e-12);
      CHECK(std::abs(seen - end.row(0).dot(engine.col(0).transpose())) <= 1e-12);
    }
  }
}

TEST_CASE("row map: both ways through every structure give the same weights, and they give the outputs") {
  std::mt19937 generator(42);
  for (const Structure& structure : structures()) {
    const Index tokens = 70;
    Program<double> program = random_program(structure, tokens, 4, generator);
    if (structure.part_count() > 1) program.transition *= 0.5;  // so that nothing grows
    if (structure.erase != Erase::none) program.k *= 0.5;
    const Matrix<double> initial = Matrix<double>::Random(4 * structure.part_count(), 1);
    const Index h = structure.rows_per_read;
    const auto channel_of = [&](Index) {
      return Channel{.tokens = tokens,
                     .rows_per_token = h,
                     .initial = initial,
                     .rows = [&](Index first, Index count) { return part_of(program, first, count); },
                     .reads =
                         [&](Index first, Index count) {
                           const Program<double> part = part_of(program, first, count);
                           ChannelReads reads{part.q, {}};
                           for (Index t = first; t < first + count; ++t) reads.after.push_back((t + 1) * h);
                           const Index parts = structure.part_count();
                           if (parts == 1) return reads;
                           reads.q = Matrix<double>(count, 4 * parts);
                           for (Index i = 0; i < parts; ++i)
                             reads.q.middleCols(4 * i, 4) =
                                 (part.q.array().colwise() * part.read_sight.col(i).array()).matrix();
                           return reads;
                         }};
    };
    Matrix<double> state = initial;
    const Matrix<double> o = recurrent(program, state);
    const EffectiveAttention all =
        effective_attention(channel_of, {.rows = tokens, .columns = tokens, .initial = true});
    Matrix<double> sum = all.A * program.v + all.Q0 * initial;
    if (structure.plain_write) sum += all.A_plain * program.v_plain;
    const EffectiveAttention strip =
        effective_attention(channel_of, {.rows = tokens, .first_column = 11, .columns = 2});
    const double size = std::max(1.0, all.A.cwiseAbs().maxCoeff());
    INFO(fmt::format("erase {}, decay {}, value decay {}, plain {}, parts {}, rows {}",
                     static_cast<int>(structure.erase), static_cast<int>(structure.decay),
                     structure.value_decay, structure.plain_write, structure.part_count(), h));
    CHECK((sum - o).cwiseAbs().maxCoeff() <= 1e-10 * std::max(1.0, o.cwiseAbs().maxCoeff()));
    CHECK((strip.A - all.A.middleCols(11 * h, 2 * h)).cwiseAbs().maxCoeff() <= 1e-11 * size);
    if (structure.plain_write)
      CHECK((strip.A_plain - all.A_plain.middleCols(11 * h, 2 * h)).cwiseAbs().maxCoeff() <= 1e-11 * size);
  }
}

TEST_CASE("row map: an erase that reads an earlier row is refused") {
  std::mt19937 generator(43);
  Program<double> program = random_program({.erase = Erase::decayed}, 3, 2, generator);
  program.erase_after = {0, 0, 0};
  CHECK_THROWS_WITH(RowMap(program), testing::says("earlier row"));
}
