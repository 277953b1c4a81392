// Row programs that no variant needs in this generality: every field at once, exact zeros among the decays,
// and erases and reads at any earlier or later row (tests/data/golden/program_*), through all three engines.

#include "core/engines/chunk_decays.h"
#include "core/engines/chunkwise.h"
#include "core/engines/parallel.h"
#include "core/engines/recurrent.h"
#include "core/io/npz.h"
#include "tests/catch.h"
#include "tests/folders.h"

using namespace palimpsest;

namespace {

using Rows = Matrix<double>;

struct Golden {
  Program<double> program;
  Rows initial;
  Rows o;
  Rows final_state;
};

/// Read it: rows of numbers, further axes side by side.
Rows rows_of(const Array& array) {
  const Index count = array.shape[0];
  Rows rows(count, array.size() / count);
  for (Index i = 0; i < array.size(); ++i) rows.data()[i] = array[i];
  return rows;
}

/// A state [p, K, V] or [K, V] with its parts one above the other.
Rows state_of(const Array& array) {
  Rows state(array.size() / array.shape.back(), array.shape.back());
  for (Index i = 0; i < array.size(); ++i) state.data()[i] = array[i];
  return state;
}

std::vector<Index> times_of(const Array& array) {
  std::vector<Index> times;
  for (Index i = 0; i < array.size(); ++i) times.push_back(static_cast<Index>(array[i]));
  return times;
}

Golden read_golden(const std::string& name) {
  const Npz npz = read_npz(test_data_folder() + "/golden/program_" + name + ".npz");
  const auto has = [&](const char* field) { return npz.arrays.contains(std::string("prog_") + field); };
  const auto given = [&](const char* field) -> const Array& {
    return npz.arrays.at(std::string("prog_") + field);
  };
  const auto rows = [&](const char* field) { return has(field) ? rows_of(given(field)) : Rows(); };
  Program<double> program{.q = rows("q"),
                          .k = rows("b"),
                          .v = rows("w"),
                          .a = rows("a"),
                          .gate = rows("lam"),
                          .mu = rows("mu"),
                          .k_plain = rows("kx"),
                          .v_plain = rows("vx"),
                          .transition = rows("lift_T"),
                          .inject = rows("lift_c"),
                          .read_after = times_of(given("rho")),
                          .erase_after = times_of(given("tau"))};
  program.structure = {.decay = !has("lam")                ? Decay::none
                                : program.gate.cols() == 1 ? Decay::scalar
                                                           : Decay::key,
                       .value_decay = has("mu"),
                       .erase = Erase::undecayed,
                       .erase_key = true,
                       .plain_write = has("kx")};
  if (has("lift_h")) {
    const Rows h = rows("lift_h").transpose();
    program.structure.parts = std::string_view("XYZ").substr(0, static_cast<std::size_t>(h.cols()));
    program.erase_sight = h.replicate(program.rows(), 1);
    program.read_sight = h.replicate(program.reads(), 1);
  }
  return {program, state_of(given("X0")), rows_of(npz.arrays.at("o")),
          state_of(npz.arrays.at("final_state"))};
}

Rows middle(const Rows& table, Index first, Index count) {
  return table.size() == 0 ? table : Rows(table.middleRows(first, count));
}

/// Runs `size` rows at a time through `engine`. What reads a state between two pieces, an erase of a later
/// piece included, is answered from that state; what reads one inside a piece is a read of that piece
/// (spec 2.3).
template <class Engine>
Rows run_in_pieces(const Program<double>& program, Rows& S, Index size, Engine engine) {
  const Index N = program.rows();
  const Index V = program.v.cols();
  Rows o(program.reads(), V);
  Rows found = Rows::Zero(N, V);  // what the erases of later pieces have read
  for (Index first = 0; first <= N; first += size) {
    const Index count = std::min(size, N - first);
    const auto is_inside = [&](Index time) { return time > first && time < first + count; };
    const auto ask = [&](const Rows& x, const Rows& sights, Index row) -> Rows {
      return x.row(row) * (sights.size() == 0 ? S : seen<double>(S, sights.row(row)));
    };
    struct Asker {
      Rows* answers;
      Index row;
    };
    std::vector<Asker> inside;
    Program<double> piece{.structure = program.structure,
                          .k = middle(program.k, first, count),
                          .v = middle(program.v, first, count),
                          .a = middle(program.a, first, count),
                          .gate = middle(program.gate, first, count),
                          .mu = middle(program.mu, first, count),
                          .k_plain = middle(program.k_plain, first, count),
                          .v_plain = middle(program.v_plain, first, count),
                          .transition = middle(program.transition, first, count),
                          .inject = middle(program.inject, first, count),
                          .erase_sight = middle(program.erase_sight, first, count)};
    std::vector<Rows> queries;
    std::vector<Rows> sights;
    const auto serve = [&](const Rows& x, const Rows& all_sights, Index time, Rows& answers, Index row) {
      if (time == first) answers.row(row) = ask(x, all_sights, row);
      if (!is_inside(time)) return;
      inside.push_back({&answers, row});
      queries.push_back(x.row(row));
      if (all_sights.size() > 0) sights.push_back(all_sights.row(row));
      piece.read_after.push_back(time - first);
    };
    for (Index s = 0; s < program.reads(); ++s)
      serve(program.q, program.read_sight, program.read_after[static_cast<std::size_t>(s)], o, s);
    for (Index r = first + count; r < N; ++r)
      serve(program.a, program.erase_sight, program.erase_after[static_cast<std::size_t>(r)], found, r);
    if (count == 0) break;

    for (Index i = 0; i < count; ++i) {
      const Index time = program.erase_after[static_cast<std::size_t>(first + i)];
      piece.erase_after.push_back(std::max<Index>(time - first, 0));
      if (time >= first) continue;
      piece.a.row(i).setZero();
      piece.v.row(i) -= found.row(first + i);
    }
    piece.q.resize(static_cast<Index>(inside.size()), program.q.cols());
    piece.read_sight.resize(static_cast<Index>(sights.size()), program.read_sight.cols());
    for (std::size_t s = 0; s < queries.size(); ++s) piece.q.row(static_cast<Index>(s)) = queries[s];
    for (std::size_t s = 0; s < sights.size(); ++s) piece.read_sight.row(static_cast<Index>(s)) = sights[s];
    const Rows answers = engine(piece, S);
    for (std::size_t s = 0; s < inside.size(); ++s)
      inside[s].answers->row(inside[s].row) = answers.row(static_cast<Index>(s));
  }
  return o;
}

double error(const Rows& got, const Rows& expected) {
  REQUIRE(got.rows() == expected.rows());
  REQUIRE(got.cols() == expected.cols());
  return (got - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

/// The largest error of any engine, chunk size, output or state.
double worst_error(const Golden& golden) {
  double worst = 0;
  const auto check = [&](const auto& run) {
    Rows S = golden.initial;
    const Rows o = run(S);
    worst = std::max({worst, error(o, golden.o), error(S, golden.final_state)});
  };
  check([&](Rows& S) { return parallel(golden.program, S); });
  check([&](Rows& S) {
    return run_in_pieces(golden.program, S, 1,
                         [](const auto& piece, Rows& state) { return recurrent(piece, state); });
  });
  for (const Index size : {1, 2, 4, 7, 20, 21, 64}) {
    check([&](Rows& S) {
      return run_in_pieces(golden.program, S, size,
                           [](const auto& piece, Rows& state) { return chunk(piece, state); });
    });
  }
  return worst;
}

const char* const names[] = {"scalar", "vector", "value", "twosided", "lift3"};

}  // namespace

TEST_CASE("all engines give the golden results of row programs that use every field") {
  for (const char* name : names) {
    INFO(name);
    CHECK(worst_error(read_golden(name)) <= 1e-12);  // the manifest's tolerance in f64
  }
}

TEST_CASE("a row program that reads or erases one row off is noticed") {
  for (const char* name : names) {
    Golden late = read_golden(name);
    late.program.read_after[3] += 1;
    INFO(name);
    CHECK(worst_error(late) > 1e-6);
    Golden stale = read_golden(name);
    if (stale.program.structure.value_decay) continue;  // its erases read the row before
    stale.program.erase_after[20] -= 1;
    CHECK(worst_error(stale) > 1e-6);
  }
}
