// The processor's engines of memories that are matrix products over a batch of tokens, against the clear
// engines in f64, on every set of instructions that this processor has.

#include "core/base/parallel_for.h"
#include "core/rules/backend.h"
#include "kernels/device.h"
#include "tests/core/cases.h"
#include "tests/kernels/vector_targets.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr Index chunk_size = 16;
constexpr double allowed_in_f32 = 2e-5;  // of every form in f32 (docs/accuracy.md)

/// Rules that are computed with products over a batch of tokens.
constexpr const char* rules[] = {"ttt_mlp",  "ttt_linear",     "lact", "titans", "linear",
                                 "deltanet", "gated_deltanet", "kda",  "rwkv7",  "deltaproduct"};

Output by(const Backend& backend, const Case& each, Precision precision) {
  return backend.run(*each.variant, each.sequence, Form::chunkwise, precision, chunk_size);
}

/// How far the fast engine in f32 is from the clear one in f64, each with the inputs rounded to f32.
void check(const Case& each) {
  INFO(each.words);
  const std::string kernel =
      fused_kernel(fast_cpu_backend(), *each.variant, each.sequence, Form::chunkwise, Precision::f32);
  CHECK(kernel.empty() == (each.sequence.tokens == 0));
  const Output right = by(cpu_backend(), each, Precision::f64);
  CHECK(compare(by(fast_cpu_backend(), each, Precision::f32), right).error < each.allowed(allowed_in_f32));
}

/// Whether two outputs are the same to the bit.
bool is_same(const Output& one, const Output& other) {
  bool same = (one.o.array() == other.o.array()).all();
  for (std::size_t i = 0; i < one.states.size(); ++i)
    same = same && (one.states[i].second.array() == other.states[i].second.array()).all();
  return same;
}

}  // namespace

TEST_CASE("engines with products in vector instructions are the clear ones, whatever the sizes") {
  on_every_target([] {
    for (const char* const id : rules) {
      for (const Index tokens : {0, 1, 15, 16, 17, 63, 65})
        check(random_case(id, {.tokens = tokens, .dk = 17, .dv = 13, .initial_state = true, .hidden = 21}));
      const Case wide = random_case(id, {.tokens = 65, .dk = 70, .dv = 66, .hidden = 90});
      // At the usual rate a network of this size diverges, in f64 too.
      check(std::string_view(id) == "ttt_mlp" ? scaled(wide, "eta", 0.02) : wide);
      check(random_case(id, {.tokens = 1000, .dk = 9, .dv = 20, .hidden = 19}));
    }
  });
}

TEST_CASE("every choice of options of an inner network and of LaCT is that of the clear engine") {
  for (const char* const id : {"ttt_mlp", "ttt_linear", "lact", "titans"}) {
    const Variant& variant = find_variant(id);
    for (Settings given : option_choices(variant)) {
      for (const double batch : {1, 7, 16, 40}) {
        given.parameters["batch"] = batch;
        check(random_case(variant, given, {.tokens = 50, .dk = 19, .dv = 11, .initial_state = true}));
      }
    }
  }
}

TEST_CASE("engines with products in vector instructions give the same bits on any number of threads") {
  for (const char* const id : rules) {
    INFO(id);
    const Case each = random_case(id, {.tokens = 130, .dk = 33, .dv = 33, .hidden = 40});
    const std::vector<Sequence> heads(3, each.sequence);
    std::vector<Output> all;
    for (const unsigned threads : {1U, 2U, 3U}) {
      use_threads(threads);
      for (Output& output :
           fast_cpu_backend().run_heads(*each.variant, heads, Form::chunkwise, Precision::f32, chunk_size))
        all.push_back(std::move(output));
    }
    use_threads(0);
    for (const Output& output : all) CHECK(is_same(output, all.front()));
  }
}

TEST_CASE("a wrong number among the inputs of engines with vector products is found") {
  for (const char* const id : rules) {
    const Case each = random_case(id, {.tokens = 65, .dk = 17, .dv = 13});
    const Output right = by(cpu_backend(), each, Precision::f64);
    for (const char* const name : {"q", "k", "v"}) {
      INFO(id << " " << name);
      const auto at_token_9 = [&](double x, std::size_t i) {
        const auto width = numbers(*std::make_unique<Arrays>(*each.arrays), name).size() / 65;
        return i / width == 9 ? -x : x;
      };
      const Case faulty = changed(each, name, at_token_9);
      CHECK(compare(by(fast_cpu_backend(), faulty, Precision::f32), right).error >
            10 * each.allowed(allowed_in_f32));
    }
  }
}

TEST_CASE("runs of engines with vector products can be stopped") {
  for (const char* const id : rules) {
    INFO(id);
    const Case each = random_case(id, {.tokens = 65});
    CHECK_THROWS_AS(fast_cpu_backend().run(*each.variant, each.sequence, Form::chunkwise, Precision::f32,
                                           chunk_size, stopped()),
                    Cancelled);
  }
}
