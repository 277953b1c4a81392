// Runs the GUI tests: the test engine drives a real window, at full speed. The exit status is 0 only when
// tests ran and all of them passed. An argument filters the tests by name; `--offscreen` instead checks that
// the same pictures come out where there is no display; `--soak MINUTES [SEED [stall]]` plays for so long and
// fails when the memory of the process grows or a frame takes more than a second, as one does with `stall`.

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui_te_internal.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "app/window/offscreen.h"
#include "app/window/window.h"
#include "tests/gui/tests.h"
#include "tests/overwriting.h"

namespace palimpsest {
namespace {

std::unique_ptr<Window> window;
bool picture_wanted = false;
bool is_seen = false;  // the present frame, with its pixels
std::optional<Image> picture;
std::unique_ptr<Application> application;
std::optional<std::pair<int, int>> wanted_size;  // of the window; GLFW belongs to the main thread

std::vector<ProgramTest>& program_tests() {
  static std::vector<ProgramTest> all;
  return all;
}

void draw_application(ImGuiTestContext*) {
  if (const auto size = std::exchange(wanted_size, std::nullopt))
    glfwSetWindowSize(glfwGetCurrentContext(), size->first, size->second);
  if (application) application->draw(1);
}

void after_frame(ImGuiTestEngine* engine) {
  if (picture_wanted && is_seen) {
    picture = window->read_pixels();
    picture_wanted = false;
  }
  ImGuiTestEngine_PostSwap(engine);
}

// Prints the tests that failed and the totals; true when tests ran and all of them passed.
bool report(ImGuiTestEngine* engine) {
  for (int i = 0; i < engine->TestsAll.Size; ++i) {
    const ImGuiTest* test = engine->TestsAll[i];
    if (test->Output.Status == ImGuiTestStatus_Error) {
      fmt::print("FAILED {}: {}\n", test->Category.c_str(), test->Name.c_str());
    }
  }
  ImGuiTestEngineResultSummary summary;
  ImGuiTestEngine_GetResultSummary(engine, &summary);
  const int unfinished = summary.CountInQueue;
  fmt::print("{} passed, {} failed\n", summary.CountSuccess,
             summary.CountTested - summary.CountSuccess + unfinished);
  return summary.CountTested > 0 && summary.CountSuccess == summary.CountTested && unfinished == 0;
}

bool run(const char* filter) {
  ImGuiTestEngine* engine = nullptr;
  window = std::make_unique<Window>(WindowOptions{.title = "Palimpsest tests",
                                                  .width = 1920,
                                                  .height = 1080,
                                                  .scale = 1,
                                                  .vsync = false,
                                                  .after_frame = [&engine] { after_frame(engine); }});
  engine = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine);
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigNoThrottle = true;
  // Time passes by frames, not by the clock: on a busy machine, too, keys do not repeat while they are
  // pressed once, and the engine ends a test for the frames it takes (60 s of them), not for its share of the
  // machine.
  io.ConfigFixedDeltaTime = 1.0F / 60;
  io.ConfigLogToTTY = true;
  io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Warning;
  for (const ProgramTest& each : program_tests()) {
    ImGuiTest* test = IM_REGISTER_TEST(engine, "application", each.name);
    test->GuiFunc = draw_application;
    test->TestFunc = each.perform;
  }
  ImGuiTestEngine_Start(engine, ImGui::GetCurrentContext());

  ImGuiTestEngine_QueueTests(engine, ImGuiTestGroup_Tests, filter, ImGuiTestRunFlags_RunFromCommandLine);
  // The tests draw what they need themselves.
  for (int frame = 0; !ImGuiTestEngine_IsTestQueueEmpty(engine) && !window->closing(); ++frame) {
    is_seen = picture_wanted || frame % frames_to_seen_one == 0;
    window->draw_frame([] {}, is_seen);
  }

  const bool good = report(engine);
  ImGuiTestEngine_Stop(engine);
  window.reset();  // the engine must outlive Dear ImGui's context
  ImGuiTestEngine_DestroyContext(engine);
  return good;
}

// Draws a white rectangle, without a window, and looks where it lies.
bool check_offscreen() {
  Offscreen offscreen(64, 48);
  const auto draw = [] { ImGui::GetBackgroundDrawList()->AddRectFilled({10, 20}, {30, 40}, IM_COL32_WHITE); };
  const Image image = offscreen.render(draw);
  const Image again = offscreen.render(draw);
  const bool good = image.width == 64 && image.height == 48 && image.pixel(20, 30)[0] == 255 &&
                    image.pixel(20, 10)[0] == 0 && image.pixel(40, 30)[1] == 0 && image.rgb == again.rgb;
  fmt::print("off-screen: {}\n", good ? "as expected" : "the picture is wrong");
  return good;
}

}  // namespace

ProgramTest::ProgramTest(const char* called, void (*test)(ImGuiTestContext*)) : name(called), perform(test) {
  program_tests().push_back(*this);
}

Image take_picture(ImGuiTestContext* context) {
  picture_wanted = true;
  while (picture_wanted) context->Yield();
  return *picture;
}

Session& start_afresh(ImGuiTestContext* context, Devices devices) {
  application.reset();
  context->Yield(2);
  // The test engine puts back the style that it found before the first test, which knows nothing of ours.
  style::apply(Theme::light, 1);
  style::apply(Theme::dark, 1);
  auto fresh = std::make_unique<Application>(workspaces(), commands(), devices);
  open_overwriting(fresh->session);
  fresh->session.wait();
  application = std::move(fresh);
  context->Yield(4);
  return application->session;
}

Session& start_program(ImGuiTestContext* context, Devices devices) {
  Session& session = start_afresh(context, devices);
  session.set_cursor({});
  context->MouseTeleportToPos({1, 1});  // where the last test left it something might answer
  return session;
}

Session& start_in(ImGuiTestContext* context, ImGuiKey workspace, Index token, Devices devices) {
  Session& session = start_program(context, devices);
  context->KeyPress(ImGuiMod_Ctrl | workspace);
  context->Yield(2);
  session.go_to_token(token);
  settle_questions(context);
  return session;
}

Application& program() { return *application; }

void resize(ImGuiTestContext* context, int width, int height) {
  wanted_size = {width, height};
  for (int frame = 0; frame < 300 && static_cast<int>(ImGui::GetIO().DisplaySize.x) != width; ++frame)
    context->Yield();
  context->Yield(4);
}

void settle(ImGuiTestContext* context) {
  context->Yield(2);
  application->session.wait();
  context->Yield(2);
}

void settle_questions(ImGuiTestContext* context) {
  settle(context);
  application->session.questions().wait();
  settle(context);
}

void press(ImGuiTestContext* context, int key) {
  context->KeyPress(key);
  settle(context);
}

void click(ImGuiTestContext* context, const char* item) {
  context->ItemClick(item);
  settle(context);
}

void click(ImGuiTestContext* context, ImVec2 at) {
  context->MouseMoveToPos(at);
  context->MouseClick(0);
  settle(context);
}

void drag(ImGuiTestContext* context, ImVec2 from, ImVec2 to) {
  context->MouseMoveToPos(from);
  context->MouseDown(0);
  context->Yield(2);
  context->MouseMoveToPos(to);
  context->Yield(2);
  context->MouseUp(0);
  settle(context);
}

}  // namespace palimpsest

int main(int argc, char** argv) try {
  const char* argument = argc > 1 ? argv[1] : nullptr;
  const std::string_view mode = argument != nullptr ? argument : "";
  if (mode == "--offscreen") return palimpsest::check_offscreen() ? 0 : 1;
  if (mode == "--soak") {
    const double minutes = argc > 2 ? std::stod(argv[2]) : 30;
    const auto seed = argc > 3 ? static_cast<unsigned>(std::stoul(argv[3])) : 1U;
    const bool stalls = argc > 4 && std::string_view(argv[4]) == "stall";
    return palimpsest::soak(minutes, seed, stalls) ? 0 : 1;
  }
  return palimpsest::run(argument) ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "tests_gui: {}\n", error.what());
  return 1;
}
