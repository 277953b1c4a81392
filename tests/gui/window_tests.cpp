#include <imgui.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <algorithm>

#include "app/window.h"
#include "tests/gui/tests.h"

namespace palimpsest {

void register_window_tests(ImGuiTestEngine* engine, Window& window) {
  ImGuiTest* test = IM_REGISTER_TEST(engine, "window", "a click is seen and the frame can be read back");
  static int clicks = 0;
  test->GuiFunc = [](ImGuiTestContext*) {
    ImGui::SetNextWindowSize({300, 100});
    ImGui::Begin("Self-test");
    if (ImGui::Button("Press")) ++clicks;
    ImGui::End();
  };
  test->TestFunc = [&window](ImGuiTestContext* context) {
    clicks = 0;
    context->SetRef("Self-test");
    context->ItemClick("Press");
    IM_CHECK_EQ(clicks, 1);
    const Image image = window.read_pixels();
    IM_CHECK_GT(image.width, 0);
    IM_CHECK(*std::max_element(image.rgb.begin(), image.rgb.end()) > 128);
  };
}

}  // namespace palimpsest
