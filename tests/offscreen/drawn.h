#pragma once

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
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
#include "tests/overwriting.h"

namespace palimpsest::testing {

struct Size {
  int width;
  int height;
  float scale = 1;
};

inline constexpr Size usual_sizes[] = {{1280, 800}, {1920, 1080}};

/// A small picture in the dark theme.
struct DarkOffscreen : Offscreen {
  DarkOffscreen(int width, int height) : Offscreen(width, height) { style::apply(style::Theme::dark, 1); }
};

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
      open_overwriting(application.session);
    else
      REQUIRE(session.open_named(data));
    session.wait();
    application.enter(workspace);
    resize(size);
  }

  /// With workspaces and commands of a test's own, and the first capture.
  explicit ShownProgram(std::span<const Workspace> own, std::span<const Command> known = commands())
      : application(own, known) {
    open_overwriting(application.session);
    session.wait();
    resize(usual_sizes[0]);
  }

  /// In a window of another size.
  void resize(const Size& size) {
    offscreen_.resize(size.width, size.height);
    scale_ = size.scale;
  }

  Offscreen& offscreen() { return offscreen_; }

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
  void choose(const std::string& variant, Form form, std::optional<Index> chunk_size = {}) {
    choose([&](Choice& choice) {
      choice.variant = variant;
      choice.form = form;
      choice.chunk_size = chunk_size.value_or(choice.chunk_size);
    });
  }

  /// Draws so many frames.
  void pass(int frames = 1) {
    for (int i = 0; i < frames; ++i) offscreen_.pass([&] { application.draw(scale_); });
  }

  /// What is seen after so many frames.
  Image picture(int frames) {
    return offscreen_.render([&] { application.draw(scale_); }, frames);
  }

  /// As a person lets the pointer rest there, clicks there, presses a key.
  void point(ImVec2 at, int frames = 2) {
    ImGui::GetIO().AddMousePosEvent(at.x, at.y);
    pass(frames);
  }
  void click(ImVec2 at) {
    point(at);
    for (const bool down : {true, false}) {
      ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, down);
      pass();
    }
  }
  void click(const Rectangle& place) { click(place.middle()); }
  void press(ImGuiKey key, int frames = 1) {
    ImGui::GetIO().AddKeyEvent(key, true);
    pass(frames);
    ImGui::GetIO().AddKeyEvent(key, false);
    pass();
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

  /// Draws it so at a token, in a window of another size, in a workspace, after a command, after a click on a
  /// part, as another rule or form.
  void draw_at(Index token) {
    session.go_to_token(token);
    draw();
  }
  void draw(const Size& size) {
    resize(size);
    draw();
  }
  void draw_in(std::string_view workspace) {
    application.enter(workspace);
    draw();
  }
  void draw_after(std::string_view command) {
    perform(find_command(application, command), application);
    draw();
  }
  void draw_clicked(std::string_view path) {
    const Part* part = parts().find(path);
    INFO(path << " is not among\n" << parts().paths());
    REQUIRE(part);
    click(part->where);
    draw();
  }
  void draw_as(const auto&... chosen) {
    choose(chosen...);
    draw();
  }

  void set_theme(Theme theme) {
    application.change_view([&](ViewOptions& view) { view.theme = theme; });
  }

 private:
  Offscreen offscreen_ = {usual_sizes[0].width, usual_sizes[0].height};
  float scale_ = 1;
};

/// Draws in a window of this size without a frame of its own.
void in_window(ImVec2 size, const auto& draw, ImVec2 at = {}) {
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize(size);
  ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
  draw();
  ImGui::End();
}

/// Draws so many frames in such a window, whose pixels nobody sees.
void pass_in_window(Offscreen& offscreen, ImVec2 size, const auto& draw, int frames = 1, ImVec2 at = {}) {
  for (int i = 0; i < frames; ++i) offscreen.pass([&] { in_window(size, draw, at); });
}

inline Rgb8 pixel(const Image& image, int x, int y) {
  const std::uint8_t* bytes = image.pixel(x, y);
  return {bytes[0], bytes[1], bytes[2]};
}

/// Counts the pixels of a rectangle for which `is` is true.
int count_pixels(const Rectangle& where, const std::predicate<int, int> auto& is) {
  int count = 0;
  for (int y = static_cast<int>(where.minimum.y); y < static_cast<int>(where.maximum.y); ++y) {
    for (int x = static_cast<int>(where.minimum.x); x < static_cast<int>(where.maximum.x); ++x)
      count += is(x, y) ? 1 : 0;
  }
  return count;
}

/// All of a picture.
inline Rectangle everywhere(const Image& image) {
  return {{0, 0}, {static_cast<float>(image.width), static_cast<float>(image.height)}};
}

/// None of them lies over another.
inline void check_apart(const std::vector<Rectangle>& places, float slack = 0.5F) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(places[i], places[j], slack));
  }
}

/// There are numbers, which lie over no other one and over no bar.
inline void check_numbers_and_bars_apart(const std::vector<Rectangle>& numbers,
                                         const std::vector<Rectangle>& bars) {
  CHECK_FALSE(numbers.empty());
  check_apart(numbers, 0);
  for (const Rectangle& number : numbers) {
    for (const Rectangle& bar : bars) CHECK_FALSE(overlap(number, bar));
  }
}

}  // namespace palimpsest::testing
