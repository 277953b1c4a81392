#include "core/steps/recognised.h"

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("what a state is moved by is found through sums, signs and blocks") {
  for (const char* optimizer : {"sgd", "muon"}) {
    const Case lact = random_case(find_variant("lact"), {.options = {{"optimizer", optimizer}}}, {});
    INFO(optimizer);
    CHECK(state_steps(*lact.trace(Form::recurrent, 1)) ==
          std::set<std::string>{"G", "G_after", "G_before", "update"});
    CHECK(state_steps(*lact.trace(Form::chunkwise, 2)) ==
          std::set<std::string>{"G", "G_in", "G_out", "update"});
  }
  // An error is made of values: it is laid down along a key before it moves anything.
  const Case delta = random_case(find_variant("deltanet"), {}, {});
  for (const Form form : delta.forms()) CHECK(state_steps(*delta.trace(form, 4)).empty());
}
