#pragma once

#include <epoxy/gl.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>  // to find windows
#include <malloc.h>

#include <algorithm>
#include <cfloat>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/views/verify.h"
#include "app/widgets/font_face.h"
#include "app/widgets/formula.h"
#include "app/window/pace.h"
#include "core/base/free_memory.h"
#include "tests/overwriting.h"

namespace palimpsest::testing {

// The address sanitizer keeps what was freed for a while, in mappings of its own.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// What this process holds at one moment: what must not grow while somebody plays with the program.
struct Holdings {
  int faces = 0;     // open fonts
  int textures = 0;  // of the current OpenGL context
  int layouts = 0;   // of formulas
  int pictures = 0;  // of formulas
  int computations = 0;
  int windows = 0;      // Dear ImGui's, which it never forgets
  int mappings = 0;     // of files and memory
  double heap = 0;      // MB in use; 0 under the address sanitizer, which has a heap of its own
  double resident = 0;  // MB
};

inline int count_mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

inline double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

/// How many textures the current OpenGL context has. Drivers name a new one by the smallest free number or by
/// the next.
inline int count_textures() {
  GLuint next = 0;
  glGenTextures(1, &next);
  glDeleteTextures(1, &next);
  int count = 0;
  for (GLuint name = 1; name < std::max<GLuint>(next, 1 << 14); ++name)
    count += glIsTexture(name) == GL_TRUE ? 1 : 0;
  return count;
}

/// Needs the OpenGL context and Dear ImGui's to be current.
inline Holdings holdings() {
  const auto heap = mallinfo2();
  return {.faces = open_font_faces(),
          .textures = count_textures(),
          .layouts = cached_layouts(),
          .pictures = cached_formulas(),
          .computations = live_computations(),
          .windows = ImGui::GetCurrentContext()->Windows.Size,
          .mappings = count_mappings(),
          .heap = static_cast<double>(heap.uordblks + heap.hblkhd) / 1048576,
          .resident = resident_megabytes()};
}

inline std::string words(const Holdings& now) {
  return fmt::format(
      "resident {:.1f} MB, heap {:.1f} MB, {} mappings; {} faces, {} textures, {} layouts, {} pictures, {} "
      "computations, {} windows",
      now.resident, now.heap, now.mappings, now.faces, now.textures, now.layouts, now.pictures,
      now.computations, now.windows);
}

/// Plays with the program as a person does, by mouse and keyboard, in every workspace, at random but the same
/// each time with the same seed.
class Player {
 public:
  /// `frame` draws one frame of `application`.
  Player(Application& application, std::function<void()> frame, unsigned seed = 1)
      : application_(application), frame_(std::move(frame)), random_(seed) {}

  /// Does one thing.
  void act() {
    struct Act {
      const char* name;
      void (Player::*perform)();
    };
    static constexpr Act acts[] = {{"a key", &Player::press_a_key},
                                   {"a key", &Player::press_a_key},
                                   {"a key", &Player::press_a_key},
                                   {"a drag", &Player::drag_somewhere},
                                   {"the wheel", &Player::wheel},
                                   {"opening", &Player::open_something},
                                   {"the list of data", &Player::click_in_the_list},
                                   {"playing", &Player::play},
                                   {"a click", &Player::point}};
    const Act& chosen = acts[below(std::size(acts))];
    doing_ = chosen.name;
    (this->*chosen.perform)();
    leave();
  }

  /// What it does now, in words.
  const std::string& doing() const { return doing_; }

  /// Drags from one place of a panel to another: over sliders, the timeline, pictures.
  void drag_somewhere() {
    const ImGuiWindow* window = some_window();
    if (!window) return;
    move_to(inside(*window));
    button(true);
    for (int i = 0; i < 4; ++i) move_to(inside(*window));
    button(false);
  }

  /// Presses one of the program's keys, but for those that write files or end it.
  void press_a_key() {
    const auto all = application_.commands();
    const Command& command = all[below(all.size())];
    if (command.key == 0 || command.id == "help.quit" || command.id == "data.save") return;
    doing_ = "the key of " + command.id;
    press(command.key);
  }

  /// The place, look and data of the first minute, with nothing left that is forgotten with time; as in a
  /// window that sleeps.
  void rest() {
    leave();
    application_.checks.stop();  // else this would wait for minutes
    application_.races.cancel(application_.session);
    application_.leave_lesson();
    application_.playing = application_.presenting = false;
    application_.steps_per_second = 2;
    application_.pinned.reset();
    application_.zoom = 1;
    application_.panel_layout.show_tabs(false);
    application_.panel_layout.reset(application_.workspace());
    application_.show_welcome = false;
    Session& session = application_.session;
    open_overwriting(session);
    session.wait();
    session.change(SessionState{.data = session.state().data});
    session.wait();
    session.go_to_token(6);
    ImGui::GetIO().AddMousePosEvent(-FLT_MAX, -FLT_MAX);
    constexpr int until_all_is_forgotten = 160;
    for (int i = 0; i < until_all_is_forgotten; ++i) frame_();
    session.update();
    session.questions().wait();
    give_back_free_memory();
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  float share() { return static_cast<float>(random_() % 1000) / 1000; }

  /// A window that is on the screen, whatever the workspace.
  const ImGuiWindow* some_window() {
    constexpr float least = 40;
    std::vector<const ImGuiWindow*> shown;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      const bool is_shown = window->WasActive && !window->Hidden;
      if (is_shown && window->Size.x > least && window->Size.y > least) shown.push_back(window);
    }
    return shown.empty() ? nullptr : shown[below(shown.size())];
  }

  /// Somewhere in a window, away from the separators at its edges.
  ImVec2 inside(const ImGuiWindow& window) {
    constexpr float edge = 12;
    return {window.Pos.x + edge + (window.Size.x - 2 * edge) * share(),
            window.Pos.y + edge + (window.Size.y - 2 * edge) * share()};
  }

  void move_to(ImVec2 position) {
    ImGui::GetIO().AddMousePosEvent(position.x, position.y);
    frame_();
  }

  void button(bool down) {
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, down);
    frame_();
  }

  void press(ImGuiKeyChord chord) {
    ImGuiIO& io = ImGui::GetIO();
    const auto send = [&](bool down) {
      for (const ImGuiKey modifier : {ImGuiMod_Ctrl, ImGuiMod_Shift}) {
        if ((chord & modifier) != 0) io.AddKeyEvent(modifier, down);
      }
      io.AddKeyEvent(static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_), down);
      frame_();
    };
    send(true);
    send(false);
  }

  void wheel() {
    if (const ImGuiWindow* window = some_window()) move_to(inside(*window));
    ImGui::GetIO().AddMouseWheelEvent(0, share() - 0.5F);
    frame_();
  }

  void point() {
    const ImGuiWindow* window = some_window();
    if (!window) return;
    for (int i = 0; i < 5; ++i) move_to(inside(*window));
    button(true);
    button(false);
  }

  void play() {
    application_.steps_per_second = 64;
    press(ImGuiKey_Space);
    for (int i = 0; i < 30; ++i) frame_();
  }

  /// Other data, now and then so long that the parallel form comes late.
  void open_something() {
    const auto table = presets();
    const Preset& preset = table[below(table.size())];
    PresetSize size{.tokens = static_cast<Index>(5 + below(60)),
                    .dk = static_cast<Index>(1 + below(24)),
                    .dv = static_cast<Index>(1 + below(24)),
                    .seed = below(1000)};
    if (below(8) == 0) size.tokens = 300;
    size.tokens = std::max(size.tokens, preset.fewest_tokens);
    doing_ = "opening " + preset_id(preset, size);
    application_.session.open_named(preset_id(preset, size));
    frame_();
  }

  /// Opens the list of data and clicks something in it.
  void click_in_the_list() {
    press(ImGuiKey_D);
    frame_();
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    if (context.OpenPopupStack.empty() || !context.OpenPopupStack.back().Window) return;
    move_to(inside(*context.OpenPopupStack.back().Window));
    button(true);
    button(false);
    frame_();
  }

  /// Closes what is open.
  void leave() {
    for (int i = 0; i < 3 && ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup); ++i)
      press(ImGuiKey_Escape);
    if (ImGui::GetIO().WantTextInput) press(ImGuiKey_Escape);
    for (bool Application::*card :
         {&Application::show_keys, &Application::show_palette, &Application::show_open,
          &Application::show_data, &Application::show_save, &Application::show_places,
          &Application::show_names, &Application::show_lessons})
      application_.*card = false;
  }

  Application& application_;
  std::function<void()> frame_;
  std::mt19937 random_;
  std::string doing_;
};

}  // namespace palimpsest::testing
