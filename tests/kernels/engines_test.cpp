// What a trace shows is what the device computed: every tensor that the CUDA engines keep is the one that the
// engines of core keep, of every step of every variant and form. And whole heads: those of what is no row
// program in sizes that fit no block of threads and no warp, and with batches that end in the middle of a
// chunk; and more heads than the tables of one form of them have room for.

#include "core/engines/engines.h"
#include "core/base/error.h"
#include "core/numbers/arithmetic.h"
#include "core/rules/row_rule.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::unique_ptr<Trace> trace_on_device(const Case& each, Form form, Index chunk_size) {
  return cuda_backend().trace(*each.variant, each.sequence, form, Precision::f64, chunk_size,
                              std::size_t{1} << 24);
}

void compare_every_tensor(const RandomCase& random, Index chunk_size) {
  for_every_form(all_cases(random), Precision::f64, [&](const Case& each, Form form) {
    const auto expected = each.trace(form, chunk_size);
    const auto got = trace_on_device(each, form, chunk_size);
    REQUIRE(got->block_count() == expected->block_count());
    for (Index index = 0; index < expected->block_count(); ++index) {
      const Record& mine = got->record(index);
      const Record& theirs = expected->record(index);
      INFO("block " << index);
      CHECK(mine.tensors().size() == theirs.tensors().size());
      for (const auto& [tensor, value] : theirs.tensors()) {
        INFO(tensor);
        REQUIRE(mine.contains(tensor));
        CHECK(deviation(mine.at(tensor), value) <= each.allowed(1e-10));
      }
    }
  });
}

}  // namespace

TEST_CASE("every tensor that the CUDA engines keep is the one of the processor") {
  compare_every_tensor({.tokens = 17, .dk = 12, .dv = 12, .seed = 3}, 5);
  compare_every_tensor({.tokens = 9, .dk = 6, .dv = 9, .seed = 4}, 16);
}

TEST_CASE("the equations alone give what the CUDA engines give") {
  for_every_form(
      all_cases({.tokens = 11, .dk = 8, .dv = 8, .seed = 5}), Precision::f64,
      [](const Case& each, Form form) {
        const Output run = cuda_backend().run(*each.variant, each.sequence, form, Precision::f64, 4);
        CHECK(compare(interpret(*trace_on_device(each, form, 4)), run).error <= each.allowed(1e-10));
      });
}

TEST_CASE("on the device a token whose numbers overflow leaves the earlier ones of its chunk as they are") {
  std::vector<Case> cases;
  for (const char* id : growing_rules) cases.push_back(growing(id, 6));
  for_every_form(cases, Precision::f32, [](const Case& each, Form form) {
    const Index expected = first_bad(each.run(Form::recurrent, Precision::f32).o);
    for (const Index chunk_size : {64, 200}) {
      const Output run = cuda_backend().run(*each.variant, each.sequence, form, Precision::f32, chunk_size);
      const Index bad = first_bad(run.o);
      INFO("chunk " << chunk_size << " from token " << bad << " instead of " << expected);
      CHECK(std::abs(bad - expected) <= 2);  // sums in another order may overflow a token earlier or later
    }
  });
}

namespace {

Matrix<float> in_bf16(const Matrix<float>& rows) {
  return rounded(Matrix<double>(rows.cast<double>()), Arithmetic::bf16).cast<float>();
}

/// The same program with the rows that bf16 rounds rounded.
Program<float> in_bf16(Program<float> program) {
  for (Matrix<float>* const rows :
       {&program.q, &program.k, &program.v, &program.a, &program.k_plain, &program.v_plain})
    *rows = in_bf16(*rows);
  return program;
}

}  // namespace

TEST_CASE("in bf16 the device rounds rows as they come and outputs as they go, and nothing else") {
  if (!has_gpu()) return;
  const Engines<float>& plain = cuda_backend().engines(Precision::f32).f32;
  const Engines<float>& rounding = cuda_backend().engines(Precision::bf16).f32;
  for (const Case& each : all_cases({.tokens = 33, .dk = 8, .dv = 8, .seed = 8})) {
    const auto* const rule = dynamic_cast<const RowRule*>(each.variant->rule.get());
    if (!rule) continue;
    const Program<float> program = rule->encode<float>(each.sequence, 0, each.sequence.tokens);
    const Program<float> given[] = {in_bf16(program)};
    const Index parts = program.structure.part_count();
    for (const Form form : all_forms) {
      if (form == Form::chunkwise) continue;  // tensor cores round more: tensor_cores_test.cpp
      INFO(each.words << ' ' << name(form));
      Carried<float> S_plain[] = {{Matrix<float>::Ones(parts * program.k.cols(), program.v.cols())}};
      Carried<float> S[] = {S_plain[0]};
      const EngineRequest request = {.form = form, .chunk_size = 8};
      const auto f32 = plain.rows.run(request, given, S_plain);
      const auto bf16 = rounding.rows.run(request, {&program, 1}, S);
      CHECK(bf16.front() == in_bf16(f32.front()));
      CHECK(S[0][0] == S_plain[0][0]);
    }
  }
  CachedQueries<float> cache = {.Q = Matrix<float>::Random(9, 6),
                                .K = Matrix<float>::Random(17, 6),
                                .V = Matrix<float>::Random(17, 5),
                                .first_query = 8};
  const EngineRequest whole = {.form = Form::parallel, .phase = 0};
  Carried<float> nothing;
  const Matrix<float> in_bf16_rows = rounding.softmax.block(whole, cache, nothing);
  const Matrix<float> Q = cache.Q;
  for (Matrix<float>* const rows : {&cache.Q, &cache.K, &cache.V}) *rows = in_bf16(*rows);
  CHECK(in_bf16_rows == in_bf16(plain.softmax.block(whole, cache, nothing)));
  CHECK_FALSE(cache.Q == Q);
}

namespace {

/// The same case with other numbers: its words name what it was drawn from.
Sequence drawn_again(const Case& each) {
  const std::size_t begin = each.words.find("random:");
  RandomCase random = parse_random_case(each.words.substr(begin, each.words.find(' ', begin) - begin));
  random.seed += 100;
  return random_case(*each.variant, each.settings, random).sequence;
}

/// Two heads that were computed together are what the processor makes of each alone.
void compare_alone(const Case& each, Form form, Index chunk_size) {
  INFO("chunks of " << chunk_size);
  const std::vector<Sequence> heads = {each.sequence, drawn_again(each)};
  const std::vector<Output> got =
      cuda_backend().run_heads(*each.variant, heads, form, Precision::f64, chunk_size);
  REQUIRE(got.size() == heads.size());
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const Output alone = cpu_backend().run(*each.variant, heads[head], form, Precision::f64, chunk_size);
    CHECK(compare(got[head], alone).error <= each.allowed(1e-10));
  }
}

}  // namespace

TEST_CASE("all heads at once give what every head gives by itself") {
  for_every_form(all_cases({.tokens = 33, .dk = 8, .dv = 8, .seed = 6}), Precision::f64,
                 [](const Case& each, Form form) { compare_alone(each, form, 8); });
}

TEST_CASE("heads of awkward sizes are on the device what they are on the processor") {
  constexpr RandomCase sizes[] = {{.tokens = 0, .dk = 3, .dv = 2},
                                  {.tokens = 1, .dk = 1, .dv = 1, .earlier = 0},
                                  {.tokens = 17, .dk = 33, .dv = 150},
                                  {.tokens = 65, .dk = 5, .dv = 40},
                                  {.tokens = 70, .dk = 5, .dv = 129, .earlier = 67}};
  constexpr std::string_view no_rows[] = {"softmax",    "fox",     "mamba", "rls",
                                          "ttt_linear", "ttt_mlp", "lact",  "mesanet"};
  for (const RandomCase& size : sizes) {
    for_every_form(all_cases(size), Precision::f64, [&](const Case& each, Form form) {
      if (std::ranges::find(no_rows, each.variant->id) == std::end(no_rows)) return;
      for (const Index chunk_size : {1, 7, 16, 300}) compare_alone(each, form, chunk_size);
    });
  }
}

TEST_CASE("chunks of several tiles are on the device what they are on the processor") {
  constexpr RandomCase sizes[] = {{.tokens = 129, .dk = 5, .dv = 3, .log_gates = true},
                                  {.tokens = 259, .dk = 33, .dv = 130, .seed = 2},
                                  {.tokens = 577, .dk = 4, .dv = 67, .seed = 3}};
  constexpr std::string_view rows[] = {
      "linear",          "gla",   "kda",          "longhorn",        "gated_deltanet",
      "gated_deltanet2", "rwkv7", "deltaproduct", "two_sided_delta", "mesanet"};
  for (const RandomCase& size : sizes) {
    for_every_form(all_cases(size), Precision::f64, [&](const Case& each, Form form) {
      if (form == Form::recurrent || std::ranges::find(rows, each.variant->id) == std::end(rows)) return;
      for (const Index chunk_size : {64, 130, 300}) compare_alone(each, form, chunk_size);
    });
  }
}

TEST_CASE("what least squares do not know yet stays exactly symmetric on the device") {
  const Case rls = random_case("rls", {.tokens = 40, .dk = 19, .dv = 3, .initial_state = true});
  for_every_form({rls}, Precision::f64, [](const Case& each, Form form) {
    const Output head = cuda_backend().run(*each.variant, each.sequence, form, Precision::f64, 16);
    const Matrix<double>& P = head.states[1].second;
    REQUIRE(P.rows() == 19);
    CHECK(P == P.transpose());
  });
}

TEST_CASE("a run of whole heads on the device stops when asked to") {
  for_every_form(
      all_cases({.tokens = 9, .dk = 4, .dv = 4}), Precision::f64, [&](const Case& each, Form form) {
        CHECK_THROWS_AS(cuda_backend().run(*each.variant, each.sequence, form, Precision::f64, 4, stopped()),
                        Cancelled);
      });
}

TEST_CASE("heads whose tables do not fit into the device's memory together come in groups, each as alone") {
  if (!has_gpu()) return;
  const Variant& variant = find_variant("gated_deltanet");
  RandomCase random = {.tokens = 4096, .dk = 3, .dv = 2, .initial_state = true};
  const double tables = 2 * sizeof(double) * 4096.0 * 4096.0;  // of scores and strengths, of one head
  const auto count =
      static_cast<std::size_t>(static_cast<double>(cuda_devices().front().memory) / tables) + 2;
  std::vector<Sequence> heads;
  for (std::size_t head = 0; head < count; ++head) {
    random.seed = head + 1;
    heads.push_back(random_case(variant, {}, random).sequence);
    heads.back().settings = heads.front().settings;
  }
  const std::vector<Output> together =
      cuda_backend().run_heads(variant, heads, Form::parallel, Precision::f64, 64);
  REQUIRE(together.size() == count);
  for (const std::size_t head : {std::size_t{0}, count / 2, count - 1}) {
    INFO("head " << head << " of " << count);
    const Output alone = cpu_backend().run(variant, heads[head], Form::chunkwise, Precision::f64, 64);
    CHECK(compare(together[head], alone).error <= 1e-10);
  }
}
