// What a trace shows is what the device computed: every tensor that the CUDA engines keep is the one that the
// engines of core keep, of every step of every variant and form.

#include <cmath>
#include <limits>

#include "core/contract/output.h"
#include "core/engines/engines.h"
#include "core/numbers/arithmetic.h"
#include "core/rules/row_rule.h"
#include "core/steps/interpreted.h"
#include "kernels/cuda_backend.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/core/overflow.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

namespace {

/// max|X - Y| / max(1, max|Y|), where both are finite; infinite where their shapes or infinities differ.
double difference(const Matrix<double>& X, const Matrix<double>& Y) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (X.rows() != Y.rows() || X.cols() != Y.cols()) return infinity;
  double furthest = 0;
  double largest = 1;
  for (Index i = 0; i < X.size(); ++i) {
    const double x = X.data()[i];
    const double y = Y.data()[i];
    if (x == y) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return infinity;
    furthest = std::max(furthest, std::abs(x - y));
    largest = std::max(largest, std::abs(y));
  }
  return furthest / largest;
}

/// Calls `visit(each, form)` for every form of every case of this size that the device computes.
template <class Visit>
void for_every_form(const RandomCase& random, Visit visit) {
  for (const testing::Case& each : testing::all_cases(random)) {
    for (const Form form : each.forms()) {
      if (cuda_backend().missing(*each.variant, each.settings, form, Precision::f64)) continue;
      INFO(each.words << ' ' << name(form));
      visit(each, form);
    }
  }
}

std::unique_ptr<Trace> trace_on_device(const testing::Case& each, Form form, Index chunk_size) {
  return cuda_backend().trace(*each.variant, each.sequence, form, Precision::f64, chunk_size,
                              std::size_t{1} << 24);
}

std::vector<std::string> names(const Record& record) {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : record.tensors()) all.push_back(name);
  return all;
}

void compare_every_tensor(const RandomCase& random, Index chunk_size) {
  for_every_form(random, [&](const testing::Case& each, Form form) {
    const auto expected = each.trace(form, chunk_size);
    const auto got = trace_on_device(each, form, chunk_size);
    REQUIRE(got->block_count() == expected->block_count());
    for (Index index = 0; index < expected->block_count(); ++index) {
      const Record& mine = got->record(index);
      const Record& theirs = expected->record(index);
      INFO("block " << index);
      CHECK(names(mine) == names(theirs));
      for (const auto& [tensor, value] : theirs.tensors()) {
        INFO(tensor);
        if (mine.contains(tensor)) CHECK(difference(mine.at(tensor), value) <= each.allowed(1e-10));
      }
    }
  });
}

}  // namespace

TEST_CASE("every tensor that the CUDA engines keep is the one of the processor") {
  if (!testing::has_gpu()) return;
  compare_every_tensor({.tokens = 17, .dk = 12, .dv = 12, .seed = 3}, 5);
  compare_every_tensor({.tokens = 9, .dk = 6, .dv = 9, .seed = 4}, 16);
}

TEST_CASE("the equations alone give what the CUDA engines give") {
  if (!testing::has_gpu()) return;
  for_every_form({.tokens = 11, .dk = 8, .dv = 8, .seed = 5}, [](const testing::Case& each, Form form) {
    const Output run = cuda_backend().run(*each.variant, each.sequence, form, Precision::f64, 4);
    CHECK(compare(interpret(*trace_on_device(each, form, 4)), run).error <= each.allowed(1e-10));
  });
}

TEST_CASE("on the device a token whose numbers overflow leaves the earlier ones of its chunk as they are") {
  if (!testing::has_gpu()) return;
  for (const char* id : testing::growing_rules) {
    const testing::Case each = testing::growing(id, 6);
    const Index expected = testing::first_bad(each.run(Form::recurrent, Precision::f32).o);
    INFO(id << " from token " << expected);
    for (const Form form : all_forms) {
      for (const Index chunk_size : {64, 200}) {
        const Output run = cuda_backend().run(*each.variant, each.sequence, form, Precision::f32, chunk_size);
        const Index bad = testing::first_bad(run.o);
        INFO(name(form) << " chunk " << chunk_size << " from token " << bad);
        // Sums in another order may overflow a token earlier or later.
        CHECK(std::abs(bad - expected) <= 2);
      }
    }
  }
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
  if (!testing::has_gpu()) return;
  const Engines<float>& plain = cuda_backend().engines(Precision::f32).f32;
  const Engines<float>& rounding = cuda_backend().engines(Precision::bf16).f32;
  for (const testing::Case& each : testing::all_cases({.tokens = 33, .dk = 8, .dv = 8, .seed = 8})) {
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
      const auto f32 = plain.rows.run(request, given, S_plain).o;
      const auto bf16 = rounding.rows.run(request, {&program, 1}, S).o;
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
