#include <fmt/format.h>

#include "app/window/window.h"
#include "tests/gui/tests.h"

namespace palimpsest {

void register_window_tests(ImGuiTestEngine* engine) {
  ImGuiTest* click = IM_REGISTER_TEST(engine, "window", "a click is seen and the frame can be read back");
  static int clicks = 0;
  click->GuiFunc = [](ImGuiTestContext*) {
    ImGui::SetNextWindowSize({300, 100});
    ImGui::Begin("Self-test");
    if (ImGui::Button("Press")) ++clicks;
    ImGui::End();
  };
  click->TestFunc = [](ImGuiTestContext* context) {
    clicks = 0;
    context->SetRef("Self-test");
    context->ItemClick("Press");
    IM_CHECK_EQ(clicks, 1);
    const Image image = take_picture(context);
    IM_CHECK_EQ(image.width, 1920);
    IM_CHECK_EQ(image.height, 1080);
    IM_CHECK(*std::max_element(image.rgb.begin(), image.rgb.end()) > 128);
  };
}

}  // namespace palimpsest
