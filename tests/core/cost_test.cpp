#include "core/race/race.h"

#include "core/costs/costs.h"
#include "core/engines/lact.h"
#include "core/engines/mamba.h"
#include "core/engines/mesanet.h"
#include "core/engines/row_engines.h"
#include "core/engines/softmax.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/counted/counted.h"

namespace palimpsest {
namespace {

using namespace testing;

/// Numbers in (1/2, 1): legal gates, and no product of them vanishes.
Matrix<Counted> some(Index rows, Index columns) {
  Matrix<double> numbers(rows, columns);
  for (Index i = 0; i < numbers.size(); ++i)
    numbers.data()[i] = 0.5 + 0.4 * std::abs(std::sin(double(i + 1)));
  return numbers.cast<Counted>();
}

/// What `compute` counts.
template <class Function>
Counts counted(Function compute) {
  counts = {};
  compute();
  return counts;
}

/// A program of this structure; in logs the gates are negative.
Program<Counted> program_of(const Structure& structure, Index tokens, Index K, Index V) {
  const Index rows = tokens * structure.rows_per_read;
  const Index p = structure.part_count();
  const bool has_parts = !structure.parts.empty();
  const Index gates = structure.decay == Decay::none ? 0 : structure.decay == Decay::scalar ? 1 : K;
  Matrix<Counted> gate = some(rows, gates);
  if (structure.gates_are_logs) gate = (-0.1 * gate.cast<double>()).cast<Counted>();  // not counted
  return {.structure = structure,
          .q = some(tokens, K),
          .k = some(rows, K),
          .v = some(rows, V),
          .a = some(rows, structure.erase_key ? K : 0),
          .gate = gate,
          .mu = some(rows, structure.value_decay ? V : 0),
          .beta = some(rows, structure.beta ? 1 : 0),
          .k_plain = some(rows, structure.plain_write ? K : 0),
          .v_plain = some(rows, structure.plain_write ? V : 0),
          .transition = some(rows, has_parts ? p * p : 0),
          .inject = some(rows, has_parts ? p : 0),
          .erase_sight = some(rows, has_parts ? p : 0),
          .read_sight = some(tokens, has_parts ? p : 0)};
}

/// Every structure that the engines tell apart.
std::vector<Structure> structures() {
  std::vector<Structure> all;
  for (const Decay decay : {Decay::none, Decay::scalar, Decay::key}) {
    for (const bool logs : {false, true}) {
      if (logs && decay == Decay::none) continue;
      for (const Erase erase : {Erase::none, Erase::decayed, Erase::undecayed}) {
        for (const int choice : {0, 1, 2, 4, 5, 6}) {  // a second write and value decay do not go together
          for (const ReadAt read_at : {ReadAt::after_row, ReadAt::before_row}) {
            all.push_back({.decay = decay,
                           .gates_are_logs = logs,
                           .value_decay = (choice & 1) != 0,
                           .erase = erase,
                           .beta = (choice & 1) != 0,
                           .plain_write = (choice & 2) != 0,
                           .read_at = read_at,
                           .rows_per_read = (choice & 4) != 0 ? 3 : 1});
          }
        }
      }
      all.push_back({.decay = decay, .gates_are_logs = logs, .read_at = ReadAt::end});
    }
  }
  for (const Erase erase : {Erase::none, Erase::decayed, Erase::undecayed}) {
    all.push_back({.erase = erase, .beta = true, .parts = "SM"});
    all.push_back({.erase = erase, .beta = true, .read_at = ReadAt::before_row, .parts = "SM"});
    all.push_back({.erase = erase, .parts = "SMF"});
  }
  return all;
}

std::string words(const Structure& s) {
  return fmt::format(
      "decay {}{}, erase {}, value decay {}, beta {}, plain write {}, read at {}, rows {}, parts {}",
      int(s.decay), s.gates_are_logs ? " logs" : "", int(s.erase), s.value_decay, s.beta, s.plain_write,
      int(s.read_at), s.rows_per_read, s.parts);
}

/// What running `program` in a form counts. The rule reads at the end where the structure says so.
Counts run_counted(const Structure& structure, Index tokens, Index K, Index V, Form form, Index chunk_size) {
  Matrix<Counted> S = some(K * structure.part_count(), V);
  const Index size = has_chunks(form) ? chunk_size : tokens;
  return counted([&] {
    for (Index first = 0; first < tokens; first += size) {
      const Program<Counted> program = program_of(structure, std::min(size, tokens - first), K, V);
      if (form == Form::recurrent) recurrent(program, S);
      if (form == Form::chunkwise) chunk(program, S);
      if (form == Form::two_pass) {
        const Matrix<Counted> S_in = S;
        const Matrix<Counted> U = chunk_state(program, S);
        if (structure.reads_on_the_way()) chunk_outputs(program, S_in, U);
      }
      if (form == Form::parallel) parallel(program, S);
      if (structure.read_at == ReadAt::end && form != Form::parallel) S = Matrix<Counted>(S + 0 * S);
    }
  });
}

RowSizes sizes_of(Index tokens, Index K, Index V) {
  return {.reads = tokens, .columns_k = double(K), .columns_v = double(V)};
}

constexpr Index K = 5;
constexpr Index V = 3;

}  // namespace

TEST_CASE("cost of row programs is what their engines count, to the last multiply-add") {
  for (const Structure& structure : structures()) {
    for (const Index tokens : {1, 2, 17, 40}) {
      for (const Form form : all_forms) {
        for (const Index chunk_size : {1, 7, 35}) {
          if (!has_chunks(form) && chunk_size != 7) continue;
          INFO(words(structure) << ", " << name(form) << ", T " << tokens << ", C " << chunk_size);
          const Work cost = row_cost(structure, sizes_of(tokens, K, V), form, chunk_size);
          Counts run = run_counted(structure, tokens, K, V, form, chunk_size);
          if (structure.read_at == ReadAt::end && form != Form::parallel) {
            // Not the engine but the rule reads: o = q S for every token, once the end is reached.
            run.products += double(tokens * K * V);
            const Index blocks = form == Form::recurrent ? 1 : (tokens + chunk_size - 1) / chunk_size;
            run.multiplications -= double(blocks * K * V);  // of this test's own
          }
          REQUIRE(cost.products == run.products);
          REQUIRE(cost.multiplications == run.multiplications);
          REQUIRE(cost.exponentials == run.exponentials);
          REQUIRE(cost.seen <= cost.products);
        }
      }
    }
  }
}

TEST_CASE("cost of one structure is not what another one counts") {
  const Structure with_erase = {.decay = Decay::key, .erase = Erase::decayed, .beta = true};
  Structure without = with_erase;
  without.erase = Erase::none;
  for (const Form form : {Form::chunkwise, Form::parallel}) {
    const Counts run = run_counted(with_erase, 17, K, V, form, 7);
    const Work same = row_cost(with_erase, sizes_of(17, K, V), form, 7);
    const Work other = row_cost(without, sizes_of(17, K, V), form, 7);
    CHECK(same.products == run.products);
    CHECK(other.products != run.products);
    CHECK(row_cost(with_erase, sizes_of(16, K, V), form, 7).products != run.products);
    CHECK((form == Form::parallel ||
           row_cost(with_erase, sizes_of(17, K, V), form, 8).products != run.products));
  }
}

TEST_CASE("cost of row programs that read elsewhere follows their readers") {
  const Structure structure = {.erase = Erase::decayed, .beta = true, .parts = "SM"};
  const std::vector<Index> read_after = {4, 4, 4, 4, 7, 7, 7};
  Program<Counted> program = program_of(structure, 7, K, V);
  program.read_after = read_after;
  Matrix<Counted> S = some(2 * K, V);
  const Counts run = counted([&] { parallel(program, S); });
  const Work cost = row_cost(structure, sizes_of(7, K, V), Form::parallel, 1, read_after);
  CHECK(cost.products == run.products);
  CHECK(cost.products != row_cost(structure, sizes_of(7, K, V), Form::parallel, 1).products);
}

TEST_CASE("costs are those of spec section 4") {
  constexpr double n = 64;
  constexpr double C = 16;
  const auto flops = [&](const char* id, Form form) {
    const Case random = random_case(id, {.tokens = Index(n)});
    return 2 * random.cost(form, Index(C)).products / n;
  };
  const RandomCase sizes;
  const auto k = double(sizes.dk);
  const auto v = double(sizes.dv);
  CHECK(flops("linear", Form::recurrent) == 4 * k * v);
  CHECK(flops("linear", Form::chunkwise) == 2 * C * (k + v) + 4 * k * v);
  CHECK(flops("linear", Form::parallel) == 2 * n * (k + v) + 4 * k * v);
  CHECK(flops("gla", Form::chunkwise) == (C + 1) * k + 2 * C * v + 4 * k * v);
  CHECK(flops("deltanet", Form::recurrent) == 6 * k * v);
  CHECK(flops("deltanet", Form::chunkwise) == 4 * C * k + 2 * C * v + (C - 1) * v + 6 * k * v);
  CHECK(flops("kda", Form::chunkwise) == 2 * (C + 1) * k + 2 * C * v + (C - 1) * v + 6 * k * v);
  CHECK(flops("titans", Form::chunkwise) > flops("deltanet", Form::chunkwise));
}

TEST_CASE("cost of softmax is what its engine counts, with and without gates that fade its keys") {
  for (const auto& [fades, earlier] :
       {std::pair(false, false), std::pair(false, true), std::pair(true, false), std::pair(true, true)}) {
    for (const Index tokens : {1, 2, 17, 40}) {
      const Case random = random_case(find_variant(fades ? "fox" : "softmax"), {},
                                      {.tokens = tokens, .initial_state = earlier});
      const Sequence& sequence = random.sequence;
      const Index p = earlier ? sequence.at("initial_k_cache").rows() : 0;
      const Matrix<Counted> q = some(tokens, sequence.dk);
      const Matrix<Counted> k = some(p + tokens, sequence.dk);
      const Matrix<Counted> v = some(p + tokens, sequence.dv);
      const CachedQueries<Counted> queries = {
          .Q = q, .K = k, .V = v, .log_gates = some(p + tokens, 1).col(0), .first_query = p, .fades = fades};
      INFO("T " << tokens << ", " << p << " earlier" << (fades ? ", fading" : ""));
      const auto check = [&](Form form, Index C) {
        INFO(name(form) << ", C " << C);
        Carried<Counted> nothing;
        const Counts run = counted([&] { compute_block({.form = form, .chunk_size = C}, queries, nothing); });
        const Work cost = random.cost(form, C);
        if (form == Form::recurrent) {
          // The engine adds w v element by element; the cost counts that product as one.
          CHECK(cost.products + cost.multiplications == run.inner_products + run.multiplications);
        } else {
          CHECK(cost.products == run.products);
          CHECK(cost.multiplications == run.multiplications);
        }
        if (form != Form::chunkwise || p == 0) CHECK(cost.exponentials == run.exponentials);
      };
      check(Form::recurrent, 7);
      check(Form::parallel, 7);
      for (const Index C : {1, 7, 35}) check(Form::chunkwise, C);
    }
  }
}

TEST_CASE("a softmax whose keys fade fetches a gate with every key") {
  const Case fox = random_case("fox", {.tokens = 17});
  const Case softmax = random_case("softmax", {.tokens = 17});
  const auto more_moved = [&](Form form) { return fox.cost(form, 7).moved - softmax.cost(form, 7).moved; };
  CHECK(more_moved(Form::recurrent) == 17 * 18 / 2);
  CHECK(more_moved(Form::chunkwise) == 7 + 14 + 17);
}

TEST_CASE("cost of Mamba is what its engine counts") {
  for (const Index tokens : {1, 2, 17, 40}) {
    const Case random = random_case("mamba", {.tokens = tokens});
    const Index dk = random.sequence.dk;
    const Index dv = random.sequence.dv;
    for (const Form form : random.forms()) {
      INFO(name(form) << ", T " << tokens);
      const Index size = has_chunks(form) ? 7 : tokens;
      const Counts run = counted([&] {
        Carried<Counted> S = {some(dk, dv)};
        for (Index first = 0; first < tokens; first += size) {
          const Index L = std::min(size, tokens - first);
          const MambaRows<Counted> rows{.q = some(L, dk),
                                        .k = some(L, dk),
                                        .v = some(L, dv),
                                        .delta = some(L, dv),
                                        .A = -some(dk, dv),
                                        .D = {}};
          compute_block({.form = form}, rows, S);
        }
      });
      const Work cost = random.cost(form, 7);
      // The scan's reads are written out element by element.
      CHECK(cost.products + cost.multiplications == run.products + run.multiplications);
      CHECK(cost.exponentials == run.exponentials);
    }
  }
}

TEST_CASE("every pass of Mamba's scan reads and writes both tables") {
  const Case each = random_case("mamba", {.tokens = 17, .dk = 5, .dv = 3});
  // Two tables of a chunk: written, in each of the passes read and written, and read; the state at both ends.
  const auto moved = [](double tokens, double passes) {
    return 5 * 3 * (2 * tokens + passes * 4 * tokens + 2 * tokens + 2);
  };
  CHECK(each.cost(Form::chunkwise, 8).moved == 2 * moved(8, 3) + moved(1, 0));
  CHECK(each.cost(Form::parallel, 8).moved == moved(17, 5));
}

TEST_CASE("cost of MesaNet is what its engine counts, for as many steps as it takes") {
  for (const Index tokens : {1, 2, 17, 40}) {
    const Case random = random_case("mesanet", {.tokens = tokens});
    const auto dk = random.sequence.dk;
    const auto dv = random.sequence.dv;
    const auto rows = [&] {
      return MesaRows<Counted>{.q = some(tokens, dk),
                               .k = some(tokens, dk),
                               .v = some(tokens, dv),
                               .beta = some(tokens, 1),
                               .gamma = some(tokens, 1),
                               .ridge = Matrix<double>::Identity(dk, dk).cast<Counted>()};
    };
    const auto count = [&](Form form) {
      Carried<Counted> H = {Matrix<double>::Zero(dk, dk + dv).cast<Counted>()};
      return counted([&] { compute_block({.form = form}, rows(), H); });
    };
    INFO("T " << tokens);
    for (const Form form : {Form::recurrent, Form::parallel})
      CHECK(random.cost(form, tokens).products == count(form).products);

    const Counts run = count(Form::chunkwise);
    const auto work = [&](double steps) {
      return mesanet_chunk_work(double(tokens), double(dk), double(dv), steps).products;
    };
    // Of a step's multiply-adds 2 T K are inner products, which a query leaves out once it is solved.
    const double inner = 2 * double(tokens * dk);
    const double steps = (run.products - work(0)) / (work(1) - work(0) - inner);
    CHECK(steps == std::floor(steps));
    CHECK(run.inner_products <= steps * inner);
    CHECK(run.inner_products > (steps - 1) * double(2 * dk));
    CHECK(steps >= 1);
    CHECK(steps <= double(4 * dk + 16));
    CHECK(random.cost(Form::chunkwise, tokens).products == work(double(dk)));
  }
}

TEST_CASE("cost of inner networks is what their engine counts") {
  for (const char* id : {"ttt_linear", "ttt_mlp"}) {
    for (const Index tokens : {1, 2, 17, 40}) {
      const Settings settings = {.options = {{"layer_norm", "true"}}, .parameters = {{"batch", 8}}};
      const Case random = random_case(find_variant(id), settings, {.tokens = tokens});
      const Index d = random.sequence.dk;
      const bool deep = random.sequence.has("W1");
      const NetworkPlan plan = deep ? NetworkPlan{{"W1", "W2"}, {"b1", "b2"}} : NetworkPlan{{"S"}, {"bias"}};
      const Index hidden = deep ? random.sequence.at("W1").columns() : d;
      const auto network = std::make_shared<const InnerNetwork<Counted>>(plan, std::nullopt);
      for (const Form form : {Form::recurrent, Form::chunkwise}) {
        INFO(id << ", " << name(form) << ", T " << tokens);
        const InnerBatches batches(tokens, 8, form == Form::recurrent ? 1 : 5);
        const Counts run = counted([&] {
          Carried<Counted> carried;
          for (int sums = 0; sums < 2; ++sums) {
            carried.push_back(some(d, hidden));
            carried.push_back(some(1, hidden));
            if (deep) carried.push_back(some(hidden, d));
            if (deep) carried.push_back(some(1, d));
          }
          for (Index i = 0; i < batches.piece_count(); ++i) {
            const Piece piece = batches.piece(i);
            const NetworkRows<Counted> rows{.Q = some(piece.count, d),
                                            .K = some(piece.count, d),
                                            .V = some(piece.count, d),
                                            .eta = Vector<Counted>(some(piece.count, 1)),
                                            .sigma = Vector<Counted>(some(piece.count, 1)),
                                            .ends_batch = piece.ends_batch,
                                            .network = network};
            compute_block<Counted>({.form = form}, rows, carried);
          }
        });
        const Work cost = random.cost(form, 5);
        CHECK(cost.products == run.products);
        CHECK(cost.exponentials == run.exponentials);
      }
    }
  }
}

TEST_CASE("cost of LaCT is what its engine counts") {
  for (const bool wide : {false, true}) {
    for (const Index tokens : {1, 2, 17, 40}) {
      const Settings settings = {.options = {{"loss", "l2"}}, .parameters = {{"batch", 8}}};
      const Case random = random_case(find_variant("lact"), settings,
                                      {.tokens = tokens, .dk = wide ? 4 : 9, .dv = wide ? 9 : 4});
      const Index dk = random.sequence.dk;
      const Index dv = random.sequence.dv;
      const InnerBatches batches(tokens, 8, 5);
      const LactUpdate<Counted> update = {newton_schulz_steps("muon"), RowVector<Counted>(some(1, dv))};
      const Counts run = counted([&] {
        Matrix<Counted> S = some(dk, dv);
        Matrix<Counted> M = some(dk, dv);
        Matrix<Counted> G = some(dk, dv);
        for (Index i = 0; i < batches.piece_count(); ++i) {
          const Piece piece = batches.piece(i);
          const Matrix<Counted> k = some(piece.count, dk);
          const Matrix<Counted> o = k * S;
          const Matrix<Counted> old = k * S;
          const LactOnProcessor<Counted> engine;
          engine.gather(k, some(piece.count, dv), Vector<Counted>(some(piece.count, 1)), G);
          if (piece.ends_batch) engine.update(update, G, 0.5, S, M);
        }
      });
      INFO("T " << tokens << ", " << dk << " x " << dv);
      CHECK(random.cost(Form::chunkwise, 5).products == run.products);
    }
  }
}

TEST_CASE("cost: every form of every variant has one, and its formula is what it counts") {
  in_every_form(all_cases({.tokens = 64, .dk = 12, .dv = 7}), [](const Case& random, Form form) {
    const std::optional<Work> cost = random.variant->rule->cost(random.sequence, form, 16);
    REQUIRE(cost);
    CHECK(cost->products > 0);
    CHECK(cost->seen > 0);
    CHECK(cost->seen <= cost->products);
    CHECK(cost->moved > 0);
  });
}

TEST_CASE("cost rows carry numbers for every form") {
  const auto costs_at = [](const char* id, Index channels) {
    const RandomCase random{.tokens = 256, .dk = channels, .dv = channels, .earlier = 0};
    return costs(find_variant(id), random_case(id, random).sequence, 64);
  };
  const std::vector<CostRow> rows = costs_at("deltanet", 128);
  REQUIRE(rows.size() == std::size(all_forms));
  // Spec section 4: 98 kFLOP and 131 kB per token, 156 kFLOP and about 4 kB chunk by chunk.
  CHECK(rows[0].flops == Approx(98e3).epsilon(0.01));
  CHECK(rows[0].bytes == Approx(131e3).epsilon(0.02));
  CHECK(rows[1].flops == Approx(156e3).epsilon(0.01));
  CHECK(rows[1].bytes == Approx(4.1e3).epsilon(0.02));
  CHECK(!costs_at("ttt_mlp", 16)[3].missing.empty());
}

}  // namespace palimpsest
