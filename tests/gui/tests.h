#pragma once

struct ImGuiTestEngine;

namespace palimpsest {

class Window;

// One function per file of tests; each registers its tests and may keep the window.
void register_window_tests(ImGuiTestEngine* engine, Window& window);

/// Every function that registers GUI tests.
inline constexpr void (*gui_tests[])(ImGuiTestEngine*, Window&) = {
    register_window_tests,
};

}  // namespace palimpsest
