// Attention over a cache, Mamba and recursive least squares: whole heads on the device, in sizes that fit no
// block of threads and no warp.

#include "core/base/error.h"
#include "core/contract/output.h"
#include "kernels/cuda_backend.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

namespace {

/// Two heads of other numbers, with an initial state (or a cache of earlier tokens).
std::vector<Sequence> two_heads(const char* id, RandomCase random) {
  const Variant& variant = find_variant(id);
  random.initial_state = true;
  std::vector<Sequence> heads;
  for (const std::uint64_t seed : {11, 12}) {
    random.seed = seed;
    heads.push_back(testing::random_case(variant, {}, random).sequence);
  }
  heads[1].settings = heads[0].settings;
  return heads;
}

std::vector<Output> run(const char* id, const std::vector<Sequence>& heads, Form form, Index chunk_size,
                        const std::stop_token& stop = {}) {
  return cuda_backend().run_heads(find_variant(id), heads, form, Precision::f64, chunk_size, stop);
}

constexpr const char* ids[] = {"softmax", "fox", "mamba", "rls"};
constexpr Form forms[] = {Form::recurrent, Form::chunkwise, Form::parallel};

}  // namespace

TEST_CASE("heads of awkward sizes are on the device what they are on the processor") {
  if (!testing::has_gpu()) return;
  constexpr RandomCase sizes[] = {{.tokens = 0, .dk = 3, .dv = 2},
                                  {.tokens = 1, .dk = 1, .dv = 1, .earlier = 0},
                                  {.tokens = 17, .dk = 33, .dv = 150},
                                  {.tokens = 70, .dk = 5, .dv = 129, .earlier = 67}};
  for (const char* id : ids) {
    for (const RandomCase& size : sizes) {
      const std::vector<Sequence> heads = two_heads(id, size);
      for (const Form form : forms) {
        for (const Index chunk_size : {1, 7, 16, 300}) {
          INFO(id << ' ' << to_string(size) << ' ' << name(form) << ' ' << chunk_size);
          const std::vector<Output> got = run(id, heads, form, chunk_size);
          REQUIRE(got.size() == heads.size());
          for (std::size_t head = 0; head < heads.size(); ++head) {
            const Output alone =
                cpu_backend().run(find_variant(id), heads[head], form, Precision::f64, chunk_size);
            CHECK(compare(got[head], alone).error <= 1e-10);
          }
        }
      }
    }
  }
}

TEST_CASE("what least squares do not know yet stays exactly symmetric on the device") {
  if (!testing::has_gpu()) return;
  const std::vector<Sequence> heads = two_heads("rls", {.tokens = 40, .dk = 19, .dv = 3});
  for (const Form form : forms) {
    INFO(name(form));
    for (const Output& head : run("rls", heads, form, 16)) {
      const Matrix<double>& P = head.states[1].second;
      REQUIRE(P.rows() == 19);
      CHECK(P == P.transpose());
    }
  }
}

TEST_CASE("a run of whole heads on the device stops when asked to") {
  if (!testing::has_gpu()) return;
  std::stop_source asked;
  asked.request_stop();
  for (const char* id : ids) {
    const std::vector<Sequence> heads = two_heads(id, {.tokens = 9, .dk = 4, .dv = 4});
    for (const Form form : forms) {
      INFO(id << ' ' << name(form));
      CHECK_THROWS_AS(run(id, heads, form, 4, asked.get_token()), Cancelled);
    }
  }
}
