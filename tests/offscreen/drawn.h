#pragma once

#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

namespace palimpsest::testing {

/// Opens data, the first capture where they have no name, and shows a workspace.
inline void open_in(Application& application, const char* workspace, const std::string& data = {}) {
  if (data.empty())
    application.open_first_capture();
  else
    REQUIRE(application.session.open_named(data));
  application.session.wait();
  application.enter(workspace);
}

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
