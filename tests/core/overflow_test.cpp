// Numbers that outgrow their type spoil what comes after them, and nothing before.

#include "tests/core/overflow.h"

#include <cmath>

#include "tests/catch.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("a token whose numbers overflow leaves the earlier ones of its chunk as they are") {
  for (const char* id : growing_rules) {
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
