// Runs the GUI tests: the test engine drives a real window, at full speed. The exit status is 0 only when
// tests ran and all of them passed. An argument filters the tests by name.

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>
#include <imgui_te_internal.h>

#include <cstdio>
#include <exception>

#include "app/window.h"
#include "tests/gui/tests.h"

namespace {

int run(const char* filter) {
  palimpsest::Window window(
      {.title = "Palimpsest tests", .width = 1920, .height = 1080, .scale = 1, .vsync = false});
  ImGuiTestEngine* engine = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine);
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigNoThrottle = true;
  io.ConfigLogToTTY = true;
  io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Warning;
  for (const auto register_tests : palimpsest::gui_tests) register_tests(engine, window);
  ImGuiTestEngine_Start(engine, ImGui::GetCurrentContext());
  window.set_after_frame([engine] { ImGuiTestEngine_PostSwap(engine); });
  ImGuiTestEngine_QueueTests(engine, ImGuiTestGroup_Tests, filter, ImGuiTestRunFlags_RunFromCommandLine);
  // The tests draw what they need themselves; a test of the program draws the program.
  while (!ImGuiTestEngine_IsTestQueueEmpty(engine)) {
    if (window.closing()) break;
    window.draw_frame([] {});
  }

  for (int i = 0; i < engine->TestsAll.Size; ++i) {
    const ImGuiTest* test = engine->TestsAll[i];
    if (test->Output.Status == ImGuiTestStatus_Error)
      fmt::print("FAILED {}: {}\n", test->Category.c_str(), test->Name.c_str());
  }
  ImGuiTestEngineResultSummary summary;
  ImGuiTestEngine_GetResultSummary(engine, &summary);
  fmt::print("{} passed, {} failed\n", summary.CountSuccess, summary.CountTested - summary.CountSuccess);
  const bool good =
      summary.CountTested > 0 && summary.CountSuccess == summary.CountTested && summary.CountInQueue == 0;
  ImGuiTestEngine_Stop(engine);
  window.set_after_frame(nullptr);
  // The engine must outlive Dear ImGui's context, which the window owns: it is left to the end of the
  // program.
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc > 1 ? argv[1] : nullptr);
} catch (const std::exception& error) {
  fmt::print(stderr, "tests_gui: {}\n", error.what());
  return 1;
}
