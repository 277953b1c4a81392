// The row of small answer tables in which a head is chosen.

#include "app/views/head_tables.h"

#include "app/session/memory_questions.h"
#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"
#include "tests/offscreen/plots.h"

using namespace palimpsest;

TEST_CASE("heads are pictures where they are few, and their tables are those of the answer", "[heads]") {
  Application application;
  REQUIRE(application.session.open_named("capture:gated_deltanet_overwrite_l1"));
  application.session.wait();
  CHECK(has_head_tables(application.session));
  Offscreen offscreen(1280, 800);
  const auto draw = [&] { application.draw(offscreen.scale()); };
  HeadTables key;
  key.of = application.session.sight().computation;
  CHECK_FALSE(application.session.questions().ask(key).value);
  for (int i = 0; i < 3; ++i) {
    offscreen.pass(draw);
    application.session.wait();
    application.session.questions().wait();
  }
  key.of = application.session.sight().computation;
  const auto answer = application.session.questions().ask(key);
  REQUIRE(answer.value);
  CHECK(answer.value->heads.size() == 4);
  CHECK(application.undrawn() == "");

  // The pointer rests on the second picture.
  const ImVec2 second = testing::middle_of(testing::place_of("step/heads/1"));
  ImGui::GetIO().AddMousePosEvent(second.x, second.y);
  for (int frame = 0; frame < 60; ++frame) offscreen.pass(draw);
  CHECK(application.undrawn() == "");
  ImGui::GetIO().AddMouseButtonEvent(0, true);
  offscreen.pass(draw);
  ImGui::GetIO().AddMouseButtonEvent(0, false);
  offscreen.pass(draw);
  offscreen.pass(draw);
  CHECK(application.session.choice().head == 1);

  // One head needs no choice, and a very long text is not run through for it.
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=5"));
  application.session.wait();
  CHECK_FALSE(has_head_tables(application.session));
}
