// What tensor cores make of programs in bf16 and tf32 is what the recurrence makes of the same rows in f64:
// every kind of decay and erase, in sizes that fill no tile, where keys are alike and where gates close. Rows
// in bf16 are rounded first.

#include "tests/kernels/gpu.h"

#if PALIMPSEST_HAS_CUDA

#include <fmt/format.h>

#include <random>
#include <set>

#include "core/base/error.h"
#include "core/numbers/arithmetic.h"
#include "core/race/lines.h"
#include "core/rules/row_rule.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/row_kernels.h"

using namespace palimpsest;
using namespace palimpsest::testing;
using cuda::Rounding;

namespace {

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
    const double g = closes ? -infinity : -kind.strongest * uniform(bits);
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

/// The numbers that rows hold which are rounded so.
Arithmetic numbers_of(Rounding rounding) {
  return rounding == Rounding::bf16 ? Arithmetic::bf16 : Arithmetic::f32;
}

/// A way to multiply on tensor cores, and by how much of the largest number it may be off.
struct Way {
  Rounding rounding;
  const char* needs;
  double allowed;
  double allowed_softmax;
};

// bf16: worst of many draws 6e-3 and, of states, 8e-3; a bf16 is rounded by up to 2^-8 = 4e-3 of itself.
// tf32: what the precision promises, ten roundings of a factor, 2^-11 of itself each; worst of the kernels
// carried out on a processor, lane by lane, 3e-3. In softmax two roundings times |q| |k| = 16 in an exponent.
constexpr Way ways[] = {{Rounding::bf16, "9.0", 1.5e-2, 1e-2}, {Rounding::tf32, "8.0 and up", 5e-3, 5e-3}};

/// Checks that chunks are off by at most what is allowed of the largest number.
void compare_chunks(Kind kind, const Way& way) {
  const auto [rounding, needs, allowed, allowed_softmax] = way;
  kind.numbers = numbers_of(rounding);
  INFO(fmt::format("T {} K {} V {} erase {} decay {} beta {} reads first {} alike {} strongest {}",
                   kind.tokens, kind.dk, kind.dv, static_cast<int>(kind.erase), static_cast<int>(kind.decay),
                   kind.beta, kind.reads_first, kind.alike, kind.strongest));
  const std::vector<Program<float>> heads = {random_program(kind, 1), random_program(kind, 2)};
  const std::vector<Program<double>> wide = {widened(heads[0]), widened(heads[1])};
  std::vector<Carried<double>> expected_states(2, {Matrix<double>::Constant(kind.dk, kind.dv, 0.125)});
  expected_states[1][0](0, 0) = -1;
  std::vector<Carried<float>> states = {{expected_states[0][0].cast<float>()},
                                        {expected_states[1][0].cast<float>()}};
  const auto plain = cuda::make_engine<Program, double>(Rounding::none);
  const auto expected = plain->run({.form = Form::recurrent}, wide, expected_states);
  const EngineRequest chunks = {.form = Form::chunkwise, .chunk_size = 16};
  const auto got = cuda::make_engine<Program, float>(rounding)->run(chunks, heads, states);
  // Measured by the larger head: a query and a key that are all but orthogonal leave one token next to
  // nothing.
  const double output = std::max(largest(expected[0]), largest(expected[1]));
  for (std::size_t head = 0; head < 2; ++head) {
    CHECK(furthest_apart(got[head].cast<double>(), expected[head]) <= allowed * output);
    CHECK(furthest_apart(states[head][0].cast<double>(), expected_states[head][0]) <=
          allowed * largest(expected_states[head][0]));
  }
}

/// The same for each of these decays and every erase of each of `kinds`, read before and after the own write.
void compare_structures(const std::vector<Kind>& kinds, const std::vector<Decay>& decays, const Way& way) {
  for (Kind kind : kinds) {
    for (const Erase erase : {Erase::none, Erase::decayed}) {
      for (const Decay decay : decays) {
        for (const bool reads_first : {false, true}) {
          kind.erase = erase;
          kind.decay = decay;
          kind.reads_first = reads_first;
          compare_chunks(kind, way);
        }
      }
    }
  }
}

struct AttentionSize {
  Index queries, earlier, dk, dv;
};

/// Checks that softmax attention, |q| |k| = 16, is off by at most what is allowed of the largest number.
void compare_softmax(const AttentionSize& size, const Way& way) {
  INFO("T " << size.queries << " earlier " << size.earlier << " K " << size.dk << " V " << size.dv);
  std::vector<CachedQueries<float>> heads;
  std::vector<CachedQueries<double>> wide;
  for (const unsigned seed : {1U, 2U}) {
    const Program<float> rows = random_program({.tokens = size.earlier + size.queries,
                                                .dk = size.dk,
                                                .dv = size.dv,
                                                .numbers = numbers_of(way.rounding)},
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
  const auto got = cuda::make_engine<CachedQueries, float>(way.rounding)->run(chunks, heads, none);
  const auto plain = cuda::make_engine<CachedQueries, double>(Rounding::none);
  const auto expected = plain->run({.form = Form::recurrent}, wide, wide_none);
  for (std::size_t head = 0; head < 2; ++head)
    CHECK(furthest_apart(got[head].cast<double>(), expected[head]) <=
          way.allowed_softmax * largest(expected[head]));
}

/// Calls visit(way) for each that the device has.
template <class Visit>
void for_each_way(Visit visit) {
  if (!has_gpu()) return;
  for (const Way& way : ways) {
    if (cuda::has_tensor_cores(way.rounding))
      visit(way);
    else
      std::cout << "SKIP: these tensor-core kernels are written for compute capability " << way.needs << '\n';
  }
}

}  // namespace

TEST_CASE(
    "chunks on tensor cores give what the recurrence gives, in sizes that fill no tile and of keys that are "
    "alike") {
  std::vector<Kind> kinds = {{.tokens = 130, .dk = 17, .dv = 33},
                             {.tokens = 70, .dk = 64, .dv = 65},
                             {.tokens = 70, .dk = 65, .dv = 1},
                             {.tokens = 130, .dk = 1, .dv = 200, .beta = false},
                             {.tokens = 70, .dk = 100, .dv = 8, .gates_are_logs = false},
                             {.tokens = 1000, .alike = 0.8},
                             {.tokens = 1537, .dk = 17, .dv = 33},  // so many are cut into segments
                             {.tokens = 1500, .dk = 100, .dv = 200},
                             {.tokens = 130, .dk = 33, .dv = 400},  // so wide that decays come in tables
                             {.tokens = 1500, .dk = 100, .dv = 520},
                             {.tokens = 1700, .beta = false, .gates_are_logs = false},
                             {.tokens = 3000, .alike = 0.8}};
  for (const Index tokens : {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129, 200})
    kinds.push_back({.tokens = tokens});
  for_each_way([&](const Way& way) {
    compare_structures(kinds, {Decay::none, Decay::scalar, Decay::key}, way);
  });
}

TEST_CASE("gates of channels that close within a few tokens keep chunks finite") {
  std::vector<Kind> kinds;
  for (const double strongest : {3.0, 10.0, 30.0, 300.0}) {  // at 10 about half of them, within 16 tokens
    for (const Index tokens : {200, 1600})
      kinds.push_back({.tokens = tokens, .alike = 0.5, .strongest = strongest});
    kinds.push_back({.tokens = 200, .dv = 400, .alike = 0.5, .strongest = strongest});
  }
  for_each_way([&](const Way& way) { compare_structures(kinds, {Decay::key}, way); });
}

TEST_CASE("softmax on tensor cores gives what it gives in f64") {
  const AttentionSize sizes[] = {{1, 0, 128, 128},    {65, 0, 17, 33}, {300, 0, 128, 128},
                                 {129, 271, 64, 128}, {1, 500, 1, 1},  {700, 1, 128, 100},
                                 {64, 0, 64, 64}};
  for_each_way([&](const Way& way) {
    for (const AttentionSize& size : sizes) compare_softmax(size, way);
  });
}

TEST_CASE("a run that goes to a fused kernel says so, and no other") {
  if (!has_gpu()) return;
  const auto rows =
      []<class Scalar = float>(Form form, Decay decay, Index K, Rounding rounding, Scalar = {}) {
    const Structure structure = {.decay = decay, .erase = Erase::decayed, .beta = true};
    return cuda::make_engine<Program, Scalar>(rounding)->kernel(
        {.form = form}, {.structure = structure, .k = Matrix<Scalar>(0, K)});
  };
  const auto softmax = [](Form form, Index V, bool fades) {
    return cuda::make_engine<CachedQueries, float>(Rounding::bf16)
        ->kernel({.form = form}, {.K = Matrix<float>(0, 128), .V = Matrix<float>(0, V), .fades = fades});
  };
  using enum KernelKind;
  for (const Rounding rounding : {Rounding::none, Rounding::bf16}) {
    CHECK(rows(Form::recurrent, Decay::scalar, 128, rounding) == registers);
    CHECK(rows(Form::recurrent, Decay::scalar, 897, rounding) == plain);
    CHECK(rows(Form::recurrent, Decay::key, 256, rounding) == registers);
    CHECK(rows(Form::recurrent, Decay::key, 257, rounding) == plain);
    CHECK(rows(Form::two_pass, Decay::scalar, 128, rounding) == plain);
    CHECK(rows(Form::parallel, Decay::scalar, 128, rounding) == plain);
  }
  CHECK(rows(Form::chunkwise, Decay::scalar, 128, Rounding::none) == plain);
  CHECK(rows(Form::chunkwise, Decay::scalar, 129, Rounding::bf16) == plain);
  CHECK(rows(Form::chunkwise, Decay::scalar, 128, Rounding::bf16, double{}) == plain);
  CHECK(softmax(Form::recurrent, 128, false) == plain);
  CHECK(softmax(Form::chunkwise, 129, false) == plain);
  CHECK(softmax(Form::chunkwise, 128, true) == plain);
  const KernelKind expected = cuda::has_tensor_cores(Rounding::bf16) ? tensor_cores : plain;
  CHECK(rows(Form::chunkwise, Decay::scalar, 128, Rounding::bf16) == expected);
  CHECK(rows(Form::chunkwise, Decay::key, 128, Rounding::bf16) == expected);
  CHECK(softmax(Form::chunkwise, 128, false) == expected);
}

TEST_CASE("a step is computed by plain kernels") {
  if (!has_gpu()) return;
  const Program<float> rows = random_program({.tokens = 20, .dk = 16, .dv = 16}, 1);
  const auto engine = cuda::make_engine<Program, float>(Rounding::bf16);
  for (const Form form : all_forms) {
    const EngineRequest request = {.form = form, .chunk_size = 16, .phase = 0};
    CHECK(engine->kernel(request, rows) == KernelKind::plain);
  }
}

TEST_CASE("tf32 is offered where its kernels are, and the rest says why it is not") {
  std::set<std::string> expected = {"softmax"};
  std::set<std::string> offered;
  for (const Variant& variant : variants()) {
    const Settings settings = resolve(variant, {});
    const RowRule* const rows = variant.rule->row_program();
    if (rows && fit_tensor_cores(rows->structure(settings), 1)) expected.insert(variant.id);
    for (const Form form : all_forms) {
      const auto reason = cuda::missing_in_tf32(variant, settings, form);
      if (form == Form::chunkwise && !reason) offered.insert(variant.id);
      if (form != Form::chunkwise) CHECK(reason.value() == cuda::missing_in_tf32(variant, {}, form).value());
    }
  }
  CHECK(offered == expected);
  const Variant& linear = find_variant("linear");
  Settings settings;
  settings.options["causal"] = "false";  // reads at the end
  CHECK(cuda::missing_in_tf32(linear, resolve(linear, settings), Form::chunkwise).has_value());
}

TEST_CASE("tf32 is computed by its kernels or not at all") {
  if (!has_gpu() || !cuda::has_tensor_cores(Rounding::tf32)) return;
  const auto rows_engine = cuda::make_engine<Program, float>(Rounding::tf32);
  const auto softmax_engine = cuda::make_engine<CachedQueries, float>(Rounding::tf32);
  const EngineRequest chunks = {.form = Form::chunkwise, .chunk_size = 16};
  const Program<float> wide = random_program({.tokens = 3, .dk = 129, .dv = 4}, 1);
  std::vector<Carried<float>> S = {{Matrix<float>::Zero(129, 4)}};
  CHECK_THROWS_AS(rows_engine->run(chunks, {&wide, 1}, S), Unsupported);
  const Program<float> rows = random_program({.tokens = 3, .dk = 4, .dv = 4}, 1);
  S = {{Matrix<float>::Zero(4, 4)}};
  CHECK_THROWS_AS(rows_engine->run({.form = Form::recurrent}, {&rows, 1}, S), Unsupported);
  CHECK(rows_engine->kernel(chunks, rows) == KernelKind::tensor_cores);
  CHECK(rows_engine->kernel(chunks, wide) == KernelKind::plain);
  CachedQueries<float> queries = {.K = Matrix<float>(0, 128), .V = Matrix<float>(0, 128)};
  CHECK(softmax_engine->kernel(chunks, queries) == KernelKind::tensor_cores);
  queries.fades = true;
  CHECK(softmax_engine->kernel(chunks, queries) == KernelKind::plain);
}

TEST_CASE("a rule that is said to have kernels for tensor cores goes to them, and no other") {
  const bool is_hopper = has_gpu() && cuda_devices().front().major == 9;
  for (const Precision precision : {Precision::tf32, Precision::bf16}) {
    for (const Index channels : {16, 128, 136}) {
      const auto cases = usual_cases({.tokens = 3, .dk = channels, .dv = channels});
      for_every_form(cases, precision, [&](const Case& each, Form form) {
        const RaceEntry entry = {.variant = each.variant->id,
                                 .form = form,
                                 .device = "cuda",
                                 .precision = precision,
                                 .tokens = 3,
                                 .dk = channels,
                                 .dv = channels,
                                 .chunk_size = has_chunks(form) ? 16 : 0};
        const KernelKind taken = each.variant->rule->kernel(each.sequence, form, held_in(precision),
                                                            cuda_backend().engines(precision));
        const bool expected = has_tensor_cores(entry) && (precision == Precision::tf32 || is_hopper);
        CHECK((taken == KernelKind::tensor_cores) == expected);
      });
    }
  }
}

#endif
