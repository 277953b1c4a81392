// Inner networks, LaCT and MesaNet: whole heads on the device, in sizes that fit no block of threads and no
// warp, and batches that end in the middle of a chunk.

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

constexpr std::string_view learners[] = {"ttt_linear", "ttt_mlp", "lact", "mesanet"};

/// Calls `visit(each, heads)` for every case of these learners, with two heads of other numbers.
template <class Visit>
void for_every_case(RandomCase random, Visit visit) {
  const std::vector<testing::Case> cases = testing::all_cases(random);
  random.seed += 100;
  const std::vector<testing::Case> others = testing::all_cases(random);
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const testing::Case& each = cases[index];
    if (std::ranges::find(learners, each.variant->id) == std::end(learners)) continue;
    Sequence other = others[index].sequence;
    other.settings = each.settings;
    visit(each, std::vector<Sequence>{each.sequence, other});
  }
}

}  // namespace

TEST_CASE("heads of learners in awkward sizes are on the device what they are on the processor") {
  if (!testing::has_gpu()) return;
  constexpr RandomCase sizes[] = {{.tokens = 0, .dk = 3, .dv = 2},
                                  {.tokens = 1, .dk = 1, .dv = 1},
                                  {.tokens = 17, .dk = 33, .dv = 21},
                                  {.tokens = 65, .dk = 5, .dv = 40}};
  for (const RandomCase& size : sizes) {
    for_every_case(size, [](const testing::Case& each, const std::vector<Sequence>& heads) {
      for (const Form form : each.forms()) {
        for (const Index chunk_size : {1, 7, 64}) {
          INFO(each.words << ' ' << name(form) << ' ' << chunk_size);
          const std::vector<Output> got =
              cuda_backend().run_heads(*each.variant, heads, form, Precision::f64, chunk_size);
          REQUIRE(got.size() == heads.size());
          for (std::size_t head = 0; head < heads.size(); ++head) {
            const Output alone =
                cpu_backend().run(*each.variant, heads[head], form, Precision::f64, chunk_size);
            CHECK(compare(got[head], alone).error <= each.allowed(1e-10));
          }
        }
      }
    });
  }
}

TEST_CASE("a run of whole heads of learners on the device stops when asked to") {
  if (!testing::has_gpu()) return;
  std::stop_source asked;
  asked.request_stop();
  for_every_case(
      {.tokens = 9, .dk = 4, .dv = 4}, [&](const testing::Case& each, const std::vector<Sequence>& heads) {
        for (const Form form : each.forms()) {
          INFO(each.words << ' ' << name(form));
          CHECK_THROWS_AS(
              cuda_backend().run_heads(*each.variant, heads, form, Precision::f64, 4, asked.get_token()),
              Cancelled);
        }
      });
}
