// Numbers that outgrow their type spoil what comes after them, and nothing before.

#include <cmath>

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The first token whose output is not finite; T if there is none.
Index first_bad(const Matrix<double>& o) {
  for (Index t = 0; t < o.rows(); ++t) {
    if (!o.row(t).allFinite()) return t;
  }
  return o.rows();
}

/// A rule whose memory grows without bound: its numbers, and what makes them grow.
Case growing(const char* id, double factor) {
  Case each = random_case(find_variant(id), {}, {.tokens = 200, .dk = 8, .dv = 8, .seed = 5});
  Arrays arrays = *each.arrays;
  for (const char* name : {"k", "beta", "theta", "a", "b"}) {
    if (!arrays.contains(name)) continue;
    for (double& value : std::get<0>(arrays.at(name).values)) value *= factor;
  }
  return bound(*each.variant, each.settings, std::move(arrays), id);
}

}  // namespace

TEST_CASE("a token whose numbers overflow leaves the earlier ones of its chunk as they are") {
  for (const char* id : {"deltanet", "gated_deltanet", "kda", "titans", "rwkv7", "value_decay_delta"}) {
    const Case each = growing(id, 6);
    const Index expected = first_bad(each.run(Form::recurrent, Precision::f32).o);
    INFO(id << " from token " << expected);
    REQUIRE(expected > 5);
    REQUIRE(expected < 195);  // it does overflow, inside a chunk
    for (const Form form : {Form::chunkwise, Form::two_pass, Form::parallel}) {
      for (const Index chunk_size : {64, 200}) {
        const Index bad = first_bad(each.run(form, Precision::f32, chunk_size).o);
        INFO(name(form) << " chunk " << chunk_size << " from token " << bad);
        // Sums in another order may overflow a token earlier or later.
        CHECK(std::abs(bad - expected) <= 2);
      }
    }
  }
}
