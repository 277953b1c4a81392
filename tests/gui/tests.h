#pragma once

#include <imgui.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <algorithm>
#include <cmath>

#include "app/gl/image.h"
#include "app/scene/parts.h"
#include "app/session/devices.h"
#include "app/studio/application.h"
#include "core/variants/variants.h"
#include "tests/offscreen/plots.h"

namespace palimpsest {

class Window;

/// Filling in pixels takes most of a frame where no graphics card does it: without a need for a picture, only
/// one frame in so many has any.
inline constexpr int frames_to_seen_one = 16;

/// The window that the tests drive.
Window& test_window();

/// Lets one frame be drawn and returns it. Tests run in a thread of their own, which cannot call OpenGL.
Image take_picture(ImGuiTestContext* context);

/// A test that plays with the whole program.
ImGuiTest* add_program_test(ImGuiTestEngine* engine, const char* name, void (*test)(ImGuiTestContext*));

/// Starts the program anew, with its first capture, at the first token.
Session& start_program(ImGuiTestContext* context, Devices devices = backends());

/// What was started last.
Application& program();

/// Lets what was asked for be computed and drawn; with what panels ask in the background, too.
void settle(ImGuiTestContext* context);
void settle_questions(ImGuiTestContext* context);

/// Presses a key, or clicks on an item, and lets what follows settle.
void press(ImGuiTestContext* context, int key);
void click(ImGuiTestContext* context, const char* item);

/// Plays with the program in a window for so many minutes, printing what the process holds. False when that
/// grew after the first tenth by more than 20 MB, when something could not be drawn, or when a frame took
/// more than a second. `stalls`: one frame does, to see that it is found.
bool soak(double minutes, unsigned seed, bool stalls);

// One function per file of tests.
void register_window_tests(ImGuiTestEngine* engine);
void register_application_tests(ImGuiTestEngine* engine);
void register_palette_tests(ImGuiTestEngine* engine);
void register_layout_tests(ImGuiTestEngine* engine);
void register_data_tests(ImGuiTestEngine* engine);
void register_learn_tests(ImGuiTestEngine* engine);
void register_step_tests(ImGuiTestEngine* engine);
void register_attend_tests(ImGuiTestEngine* engine);
void register_compare_tests(ImGuiTestEngine* engine);
void register_prove_tests(ImGuiTestEngine* engine);
void register_measure_tests(ImGuiTestEngine* engine);
void register_lecture_tests(ImGuiTestEngine* engine);
void register_device_tests(ImGuiTestEngine* engine);

/// Every function that registers GUI tests: the runner calls them in this order.
inline constexpr void (*gui_tests[])(ImGuiTestEngine*) = {
    register_window_tests,  register_application_tests, register_palette_tests, register_layout_tests,
    register_data_tests,    register_learn_tests,       register_step_tests,    register_attend_tests,
    register_compare_tests, register_prove_tests,       register_measure_tests, register_lecture_tests,
    register_device_tests,
};

}  // namespace palimpsest
