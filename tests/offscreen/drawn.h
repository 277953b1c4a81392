#pragma once

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/scene/parts.h"
#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"
#include "app/window/offscreen.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/offscreen/plots.h"

namespace palimpsest::testing {

struct Size {
  int width;
  int height;
  float scale = 1;
};

inline constexpr Size usual_sizes[] = {{1280, 800}, {1920, 1080}};

/// The program as somebody sees it, drawn without a window.
class ShownProgram {
 public:
  Application application;
  Session& session = application.session;

  /// Opens data, the first capture where they have no name, and shows a workspace.
  explicit ShownProgram(const char* workspace = "step", const std::string& data = {},
                        const Size& size = usual_sizes[0], Devices devices = backends())
      : application(workspaces(), commands(), devices) {
    if (data.empty())
      application.open_first_capture();
    else
      REQUIRE(session.open_named(data));
    session.wait();
    application.enter(workspace);
    resize(size);
  }

  /// In a window of another size.
  void resize(const Size& size) {
    offscreen_ = std::make_unique<Offscreen>(size.width, size.height, size.scale);
  }

  Offscreen& offscreen() { return *offscreen_; }

  void open(const std::string& data) {
    REQUIRE(session.open_named(data));
    session.wait();
  }

  /// Changes what is computed, and waits until it is.
  template <std::invocable<Choice&> Change>
  void choose(const Change& change) {
    session.choose(change);
    session.wait();
  }
  void choose(const std::string& variant) {
    choose([&](Choice& choice) { choice.variant = variant; });
  }
  void choose(Form form) {
    choose([&](Choice& choice) { choice.form = form; });
  }
  void choose(const std::string& variant, Form form) {
    choose([&](Choice& choice) {
      choice.variant = variant;
      choice.form = form;
    });
  }

  /// Draws so many frames.
  void pass(int frames = 1) {
    for (int i = 0; i < frames; ++i) offscreen_->pass([&] { application.draw(offscreen_->scale()); });
  }

  /// What is seen after so many frames.
  Image picture(int frames) {
    return offscreen_->render([&] { application.draw(offscreen_->scale()); }, frames);
  }

  /// As a person clicks there.
  void click(const Rectangle& place) {
    ImGuiIO& io = ImGui::GetIO();
    io.AddMousePosEvent((place.minimum.x + place.maximum.x) / 2, (place.minimum.y + place.maximum.y) / 2);
    pass(2);
    for (const bool down : {true, false}) {
      io.AddMouseButtonEvent(ImGuiMouseButton_Left, down);
      pass();
    }
  }

  /// Draws until everything that is asked for is there.
  void draw() {
    for (int i = 0; i < 5; ++i) {
      pass();
      session.wait();
      session.questions().wait();
    }
    pass();
    REQUIRE(application.undrawn() == "");
  }

 private:
  std::unique_ptr<Offscreen> offscreen_;
};

/// None of them lies over another.
inline void check_apart(const std::vector<Rectangle>& places, float slack = 0.5F) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(places[i], places[j], slack));
  }
}

}  // namespace palimpsest::testing
