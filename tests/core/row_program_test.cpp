// Row programs that no variant needs in this generality: every field at once, exact zeros among the decays,
// and erases and reads at any earlier or later row (tests/data/golden/program_*), through all three engines.

#include <fmt/format.h>
#include <random>
#include "core/engines/row_engines.h"
#include "core/rules/row_map.h"
#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/golden.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

struct GoldenProgram {
  Program<double> program;
  Matrix<double> initial;
  Matrix<double> o;
  Matrix<double> final_state;
};

/// A state [p, K, V] or [K, V] with its parts one above the other.
Matrix<double> state_of(const Array& array) {
  Matrix<double> state(array.size() / array.shape.back(), array.shape.back());
  for (Index i = 0; i < array.size(); ++i) state.data()[i] = array[i];
  return state;
}

std::vector<Index> times_of(const Array& array) {
  std::vector<Index> times;
  for (Index i = 0; i < array.size(); ++i) times.push_back(static_cast<Index>(array[i]));
  return times;
}

GoldenProgram read_program(const std::string& name) {
  const Npz npz = read_npz(golden_folder() / ("program_" + name + ".npz"));
  const auto has = [&](const char* field) { return npz.arrays.contains(std::string("prog_") + field); };
  const auto given = [&](const char* field) -> const Array& {
    return npz.arrays.at(std::string("prog_") + field);
  };
  const auto rows = [&](const char* field) {
    return has(field) ? as_matrix(given(field)) : Matrix<double>();
  };
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
    const Matrix<double> h = rows("lift_h").transpose();
    program.structure.parts = std::string_view("XYZ").substr(0, static_cast<std::size_t>(h.cols()));
    program.erase_sight = h.replicate(program.rows(), 1);
    program.read_sight = h.replicate(program.reads(), 1);
  }
  return {program, state_of(given("X0")), as_matrix(npz.arrays.at("o")),
          state_of(npz.arrays.at("final_state"))};
}

Matrix<double> middle(const Matrix<double>& table, Index first, Index count) {
  return table.size() == 0 ? table : Matrix<double>(table.middleRows(first, count));
}

/// Runs `size` rows at a time through `engine`. What reads a state between two pieces, an erase of a later
/// piece included, is answered from that state; what reads one inside a piece is a read of that piece
/// (spec 2.3).
template <class Engine>
Matrix<double> run_in_pieces(const Program<double>& program, Matrix<double>& S, Index size, Engine engine) {
  const Index N = program.rows();
  const Index V = program.v.cols();
  Matrix<double> o(program.reads(), V);
  Matrix<double> found = Matrix<double>::Zero(N, V);  // what the erases of later pieces have read
  for (Index first = 0; first <= N; first += size) {
    const Index count = std::min(size, N - first);
    const auto is_inside = [&](Index time) { return time > first && time < first + count; };
    const auto ask = [&](const Matrix<double>& x, const Matrix<double>& sights, Index row) -> Matrix<double> {
      return x.row(row) * (sights.size() == 0 ? S : seen<double>(S, sights.row(row)));
    };
    struct Asker {
      Matrix<double>* answers;
      Index row;
    };
    std::vector<Asker> inside;
    Program<double> piece{.structure = program.structure};
    for (const auto rows : Program<double>::of_rows) piece.*rows = middle(program.*rows, first, count);
    std::vector<Matrix<double>> queries;
    std::vector<Matrix<double>> sights;
    const auto serve = [&](const Matrix<double>& x, const Matrix<double>& all_sights, Index time,
                           Matrix<double>& answers, Index row) {
      if (time == first) answers.row(row) = ask(x, all_sights, row);
      if (!is_inside(time)) return;
      inside.push_back({&answers, row});
      queries.push_back(x.row(row));
      if (all_sights.size() > 0) sights.push_back(all_sights.row(row));
      piece.read_after.push_back(time - first);
    };
    for (Index s = 0; s < program.reads(); ++s)
      serve(program.q, program.read_sight, entry(program.read_after, s), o, s);
    for (Index r = first + count; r < N; ++r)
      serve(program.a, program.erase_sight, entry(program.erase_after, r), found, r);
    if (count == 0) break;

    for (Index i = 0; i < count; ++i) {
      const Index time = entry(program.erase_after, first + i);
      piece.erase_after.push_back(std::max<Index>(time - first, 0));
      if (time >= first) continue;
      piece.a.row(i).setZero();
      piece.v.row(i) -= found.row(first + i);
    }
    piece.q.resize(static_cast<Index>(inside.size()), program.q.cols());
    piece.read_sight.resize(static_cast<Index>(sights.size()), program.read_sight.cols());
    for (std::size_t s = 0; s < queries.size(); ++s) piece.q.row(static_cast<Index>(s)) = queries[s];
    for (std::size_t s = 0; s < sights.size(); ++s) piece.read_sight.row(static_cast<Index>(s)) = sights[s];
    const Matrix<double> answers = engine(piece, S);
    for (std::size_t s = 0; s < inside.size(); ++s)
      inside[s].answers->row(inside[s].row) = answers.row(static_cast<Index>(s));
  }
  return o;
}

double error(const Matrix<double>& got, const Matrix<double>& expected) {
  return furthest_apart(got, expected) / largest(expected);
}

/// The largest error of any engine, chunk size, output or state.
double worst_error(const GoldenProgram& golden) {
  double worst = 0;
  const auto check = [&](const auto& run) {
    Matrix<double> S = golden.initial;
    const Matrix<double> o = run(S);
    worst = std::max({worst, error(o, golden.o), error(S, golden.final_state)});
  };
  check([&](Matrix<double>& S) { return parallel(golden.program, S); });
  check([&](Matrix<double>& S) {
    return run_in_pieces(golden.program, S, 1,
                         [](const auto& piece, Matrix<double>& state) { return recurrent(piece, state); });
  });
  for (const Index size : {1, 2, 4, 7, 20, 21, 64}) {
    check([&](Matrix<double>& S) {
      return run_in_pieces(golden.program, S, size,
                           [](const auto& piece, Matrix<double>& state) { return chunk(piece, state); });
    });
  }
  return worst;
}

const char* const names[] = {"scalar", "vector", "value", "twosided", "lift3"};

}  // namespace

TEST_CASE("all engines give the golden results of row programs that use every field") {
  for (const char* name : names) {
    INFO(name);
    CHECK(worst_error(read_program(name)) <= 1e-12);  // the manifest's tolerance in f64
  }
}

TEST_CASE("a row program that reads or erases one row off is noticed") {
  for (const char* name : names) {
    GoldenProgram late = read_program(name);
    late.program.read_after[3] += 1;
    INFO(name);
    CHECK(worst_error(late) > 1e-6);
    GoldenProgram stale = read_program(name);
    if (stale.program.structure.value_decay) continue;  // its erases read the row before
    stale.program.erase_after[20] -= 1;
    CHECK(worst_error(stale) > 1e-6);
  }
}

// What a row rule computes is declared apart from its arrays: known from its settings alone, and what all its
// data have.

namespace {

constexpr RandomCase three_tokens{.tokens = 3, .dk = 4, .dv = 2, .seed = 1};

/// Rules between two rules of the rail too, at its stops and between them, gates as alpha and as g.
std::vector<Case> all_cases_and_joints() {
  std::vector<Case> cases = all_cases(three_tokens);
  for (const Variant& joint : joints()) {
    for (const double position : {0.0, 0.25, 0.75, 1.0}) {
      for (const bool log_gates : {false, true})
        cases.push_back(random_case(joint, {.parameters = {{rail_parameter, position}}},
                                    {.tokens = 3, .dk = 4, .dv = 2, .log_gates = log_gates}));
    }
  }
  return cases;
}

/// The gates of the same case with keys half as long.
Matrix<float> gates_of_other_keys(const RowRule& rule, const Case& each) {
  return rule.encode<float>(scaled(each, "k", 0.5).sequence, 0, 3).gate;
}

}  // namespace

TEST_CASE("what a rule declares without data is what the arrays of all its data are") {
  int row_programs = 0;
  for (const Case& each : all_cases_and_joints()) {
    INFO(each.words);
    const RowRule* const rule = each.variant->rule->row_program();
    if (!rule) continue;
    ++row_programs;
    const SaidByData& said = rule->declaration().said_by_data;
    const Program<float> rows = rule->encode<float>(each.sequence, 0, 3);
    // All fields by name: whoever adds one to Structure is asked here whether it depends on data. Erases and
    // the times of reads show in no array; the oracles know them.
    const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
                 plain_write, read_at, rows_per_read, parts] = rule->structure(each.settings);
    const bool fades = said.decay.empty() || each.sequence.has(said.decay);
    const Decay gates = rows.gate.cols() == 0   ? Decay::none
                        : rows.gate.cols() == 1 ? Decay::scalar
                                                : Decay::key;
    CHECK(gates == (fades ? decay : Decay::none));
    CHECK(rows.structure.decay == gates);
    if (gates != Decay::none) {
      CHECK((!gates_are_logs || rows.structure.gates_are_logs));
      CHECK((rows.structure.gates_are_logs ? rows.gate.maxCoeff() <= 0 : rows.gate.minCoeff() >= 0));
      if (each.arrays->contains("k")) CHECK(decay_by_key == (gates_of_other_keys(*rule, each) != rows.gate));
    }
    CHECK(rows.mu.cols() == (value_decay ? 2 : 0));
    CHECK(rows.structure.erase == erase);
    CHECK(rows.a.cols() == (erase_key ? 4 : 0));
    CHECK(rows.beta.cols() == (beta ? 1 : 0));
    CHECK(writes_value != rows.v.isZero(0));
    CHECK(rows.k_plain.cols() == (plain_write ? 4 : 0));
    CHECK(rows.structure.read_at == read_at);
    CHECK(rows.rows() == 3 * rows.structure.rows_per_read);
    CHECK((rows_per_read > 1) == (rows.rows() > 3));
    CHECK(rows.inject.cols() == static_cast<Index>(parts.size()));
  }
  CHECK(row_programs > 50);
}

TEST_CASE("a rule whose arrays are not those that it declares is refused") {
  using Change = void (*)(Structure&);
  const std::vector<Change> changes = {
      [](Structure& wrong) { wrong.decay = wrong.decay == Decay::none ? Decay::scalar : Decay::none; },
      [](Structure& wrong) { wrong.decay = wrong.decay == Decay::key ? Decay::scalar : Decay::key; },
      [](Structure& wrong) { wrong.value_decay = !wrong.value_decay; },
      [](Structure& wrong) { wrong.erase_key = !wrong.erase_key; },
      [](Structure& wrong) { wrong.beta = !wrong.beta; },
      [](Structure& wrong) { wrong.plain_write = !wrong.plain_write; },
      [](Structure& wrong) { wrong.rows_per_read += 1; },
      [](Structure& wrong) { wrong.parts = wrong.parts.empty() ? "SM" : ""; },
  };
  for (const Variant& variant : variants()) {
    const RowRule* const rule = variant.rule->row_program();
    if (!rule) continue;
    RandomCase random = three_tokens;
    random.initial_state = true;  // with the arrays that may be absent
    const Case each = random_case(variant, {}, random);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      INFO(variant.id << ", change " << i);
      RowDeclaration declaration = rule->declaration();
      declaration.said_by_data = {};
      declaration.structure = [&](const Settings&) {
        Structure structure = rule->structure(each.sequence);
        changes[i](structure);
        return structure;
      };
      CHECK_THROWS_WITH(RowRule(declaration).encode<double>(each.sequence, 0, 3),
                        says("its structure declares"));
    }
  }
}

TEST_CASE("a required parameter that nobody gave does not change what a rule computes") {
  for (const std::span<const Variant> table : {variants(), joints()}) {
    for (const Variant& variant : table) {
      INFO(variant.id);
      if (const RowRule* const rule = variant.rule->row_program())
        CHECK_NOTHROW(rule->structure(resolve(variant, {})));
    }
  }
}

// Rows as maps of a state column, for every structure that a program can have, against the recurrent
// engine.

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

std::string in_words(const Structure& of) {
  return fmt::format("erase {}, decay {}, value decay {}, plain {}, parts {}, rows {}",
                     static_cast<int>(of.erase), static_cast<int>(of.decay), of.value_decay, of.plain_write,
                     of.part_count(), of.rows_per_read);
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
  Program<double> part{.structure = program.structure, .q = program.q.middleRows(first, count)};
  part.read_sight = middle(program.read_sight, first, count);
  for (const auto rows : Program<double>::of_rows) part.*rows = middle(program.*rows, first * h, count * h);
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
      INFO("K " << K << ", " << in_words(structure));
      CHECK(furthest_apart(forwards.transpose(), engine) <= 1e-12);
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
    const double size = std::max(1.0, largest(all.A));
    INFO(in_words(structure));
    CHECK(deviation(sum, o) <= 1e-10);
    CHECK(furthest_apart(strip.A, all.A.middleCols(11 * h, 2 * h)) <= 1e-11 * size);
    if (structure.plain_write)
      CHECK(furthest_apart(strip.A_plain, all.A_plain.middleCols(11 * h, 2 * h)) <= 1e-11 * size);
  }
}

TEST_CASE("row map: an erase that reads an earlier row is refused") {
  std::mt19937 generator(43);
  Program<double> program = random_program({.erase = Erase::decayed}, 3, 2, generator);
  program.erase_after = {0, 0, 0};
  CHECK_THROWS_WITH(RowMap(program), testing::says("earlier row"));
}
