#pragma once

#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

namespace palimpsest::testing {

/// Draws until everything that is asked for is there.
inline void draw_fully(Application& application, Offscreen& offscreen) {
  const auto draw = [&] { application.draw(offscreen.scale()); };
  for (int i = 0; i < 5; ++i) {
    offscreen.pass(draw);
    application.session.wait();
    application.session.questions().wait();
  }
  offscreen.pass(draw);
  REQUIRE(application.undrawn() == "");
}

}  // namespace palimpsest::testing
