#pragma once

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>  // to find windows
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/gl/canvas.h"
#include "app/session/devices.h"
#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "core/variants/variants.h"
#include "tests/offscreen/plots.h"

namespace palimpsest {

using namespace testing;

/// Filling in pixels takes most of a frame where no graphics card does it: without a need for a picture, only
/// one frame in so many has any.
inline constexpr int frames_to_seen_one = 16;

/// What plays with the whole program; each registers itself.
struct ProgramTest {
  ProgramTest(const char* called, void (*test)(ImGuiTestContext*));

  const char* name;
  void (*perform)(ImGuiTestContext*);
};

// PROGRAM_TEST("name") { … } is one, as TEST_CASE of Catch2; in it `context` is that of the test engine.
#define PROGRAM_TEST(name) PROGRAM_TEST_NUMBERED(name, __COUNTER__)
#define PROGRAM_TEST_NUMBERED(name, number) PROGRAM_TEST_AS(name, number)
#define PROGRAM_TEST_AS(name, number)                                      \
  void program_test_##number(ImGuiTestContext* context);                   \
  const ProgramTest registered_test_##number(name, program_test_##number); \
  void program_test_##number(ImGuiTestContext* context)

/// Lets one frame be drawn and returns it. Tests run in a thread of their own, which cannot call OpenGL.
Image take_picture(ImGuiTestContext* context);

/// Starts the program anew, with its first capture: as a newcomer finds it, or at the first token.
Session& start_afresh(ImGuiTestContext* context, Devices devices = backends());
Session& start_program(ImGuiTestContext* context, Devices devices = backends());

/// Starts it at a token, in the workspace that Ctrl and this key lead to.
Session& start_in(ImGuiTestContext* context, ImGuiKey workspace, Index token, Devices devices = backends());

/// What was started last.
Application& program();

/// Gives the window another size.
void resize(ImGuiTestContext* context, int width, int height);

/// Lets what was asked for be computed and drawn; with what panels ask in the background, too.
void settle(ImGuiTestContext* context);
void settle_questions(ImGuiTestContext* context);

/// Presses a key, clicks on an item or a place, or drags something, and lets what follows settle.
void press(ImGuiTestContext* context, int key);
void click(ImGuiTestContext* context, const char* item);
void click(ImGuiTestContext* context, ImVec2 at);
void drag(ImGuiTestContext* context, ImVec2 from, ImVec2 to);

/// Changes what is computed, and lets that settle.
inline void choose(ImGuiTestContext* context, const auto& change) {
  program().session.choose(change);
  settle_questions(context);
}

/// A folder that is gone at the end.
class OwnFolder {
 public:
  OwnFolder() : path_(std::filesystem::temp_directory_path() / "palimpsest gui") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~OwnFolder() { std::filesystem::remove_all(path_); }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  std::string operator/(const char* name) const { return (path_ / name).string(); }

  /// A file in it with this text.
  std::string file(const char* name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

/// Plays with the program in a window for so many minutes, printing what the process holds. False when that
/// grew after the first tenth by more than 20 MB, when something could not be drawn, or when a frame took
/// more than a second. `stalls`: one frame does, to see that it is found.
bool soak(double minutes, unsigned seed, bool stalls);

}  // namespace palimpsest
