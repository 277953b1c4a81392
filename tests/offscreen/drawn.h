#pragma once

#include <concepts>
#include <string>
#include <utility>

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

/// Changes what is computed, and waits until it is.
template <class Change>
requires std::invocable<Change, Choice&>
void choose(Application& application, const Change& change) {
  Choice choice = application.session.choice();
  change(choice);
  application.session.choose(std::move(choice));
  application.session.wait();
}

/// Another rule.
inline void choose(Application& application, const std::string& variant) {
  choose(application, [&](Choice& choice) { choice.variant = variant; });
}

}  // namespace palimpsest::testing
