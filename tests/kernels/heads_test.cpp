// Whole heads on the device; those of what is no row program in sizes that fit no block of threads and no
// warp, and with batches that end in the middle of a chunk; and more heads than the tables of one form of
// them have room for.

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/contract/output.h"
#include "kernels/cuda_backend.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

namespace {

/// The same case with other numbers: its words name what it was drawn from.
Sequence drawn_again(const testing::Case& each) {
  const std::size_t begin = each.words.find("random:");
  RandomCase random = parse_random_case(each.words.substr(begin, each.words.find(' ', begin) - begin));
  random.seed += 100;
  return testing::random_case(*each.variant, each.settings, random).sequence;
}

/// Calls `visit(each, heads, form)` for every case and form that the device computes, with two heads of other
/// numbers.
template <class Visit>
void for_every_case(const RandomCase& random, Visit visit) {
  for (const testing::Case& each : testing::all_cases(random)) {
    const std::vector<Sequence> heads = {each.sequence, drawn_again(each)};
    for (const Form form : each.forms()) {
      if (!cuda_backend().missing(*each.variant, each.settings, form, Precision::f64))
        visit(each, heads, form);
    }
  }
}

/// Heads that were computed together are what the processor makes of each alone.
void compare_alone(const testing::Case& each, const std::vector<Sequence>& heads, Form form,
                   Index chunk_size) {
  INFO(each.words << ' ' << name(form) << ' ' << chunk_size);
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
  if (!testing::has_gpu()) return;
  for_every_case({.tokens = 33, .dk = 8, .dv = 8, .seed = 6},
                 [](const testing::Case& each, const std::vector<Sequence>& heads, Form form) {
                   compare_alone(each, heads, form, 8);
                 });
}

TEST_CASE("heads of awkward sizes are on the device what they are on the processor") {
  if (!testing::has_gpu()) return;
  constexpr RandomCase sizes[] = {{.tokens = 0, .dk = 3, .dv = 2},
                                  {.tokens = 1, .dk = 1, .dv = 1, .earlier = 0},
                                  {.tokens = 17, .dk = 33, .dv = 150},
                                  {.tokens = 65, .dk = 5, .dv = 40},
                                  {.tokens = 70, .dk = 5, .dv = 129, .earlier = 67}};
  constexpr std::string_view no_rows[] = {"softmax",    "fox",     "mamba", "rls",
                                          "ttt_linear", "ttt_mlp", "lact",  "mesanet"};
  for (const RandomCase& size : sizes) {
    for_every_case(size, [&](const testing::Case& each, const std::vector<Sequence>& heads, Form form) {
      if (std::ranges::find(no_rows, each.variant->id) == std::end(no_rows)) return;
      for (const Index chunk_size : {1, 7, 16, 300}) compare_alone(each, heads, form, chunk_size);
    });
  }
}

TEST_CASE("what least squares do not know yet stays exactly symmetric on the device") {
  if (!testing::has_gpu()) return;
  for_every_case({.tokens = 40, .dk = 19, .dv = 3}, [](const testing::Case& each,
                                                       const std::vector<Sequence>& heads, Form form) {
    if (each.variant->id != "rls") return;
    INFO(name(form));
    for (const Output& head : cuda_backend().run_heads(*each.variant, heads, form, Precision::f64, 16)) {
      const Matrix<double>& P = head.states[1].second;
      REQUIRE(P.rows() == 19);
      CHECK(P == P.transpose());
    }
  });
}

TEST_CASE("a run of whole heads on the device stops when asked to") {
  if (!testing::has_gpu()) return;
  std::stop_source asked;
  asked.request_stop();
  for_every_case({.tokens = 9, .dk = 4, .dv = 4},
                 [&](const testing::Case& each, const std::vector<Sequence>& heads, Form form) {
                   INFO(each.words << ' ' << name(form));
                   CHECK_THROWS_AS(cuda_backend().run_heads(*each.variant, heads, form, Precision::f64, 4,
                                                            asked.get_token()),
                                   Cancelled);
                 });
}

TEST_CASE("heads whose tables do not fit into the device's memory together come in groups, each as alone") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("gated_deltanet");
  RandomCase random = {.tokens = 4096, .dk = 3, .dv = 2, .initial_state = true};
  const double tables = 2 * sizeof(double) * 4096.0 * 4096.0;  // of scores and strengths, of one head
  const auto count =
      static_cast<std::size_t>(static_cast<double>(cuda_devices().front().memory) / tables) + 2;
  std::vector<Sequence> heads;
  for (std::size_t head = 0; head < count; ++head) {
    random.seed = head + 1;
    heads.push_back(testing::random_case(variant, {}, random).sequence);
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
