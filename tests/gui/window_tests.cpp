#include <fmt/format.h>
#include <imgui.h>
#include <imgui_microtex/imgui_microtex.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <algorithm>

#include "app/session/paths.h"
#include "app/window.h"
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

  ImGuiTest* formula = IM_REGISTER_TEST(engine, "window", "a formula is drawn in its colour");
  formula->GuiFunc = [](ImGuiTestContext*) {
    ImGuiMicroTeX::Init(asset("fonts/latex/latinmodern-math.clm1").string(),
                        asset("fonts/latex/latinmodern-math.otf").string());
    const ImGuiMicroTeX::FormulaTexture texture = ImGuiMicroTeX::RenderToTexture(
        R"(S_t = S_{t-1} + k_t^\top v_t)", 26, IM_COL32(255, 0, 255, 255), ImGuiMicroTeX::TexStyle::Display);
    ImGui::GetForegroundDrawList()->AddImage(
        texture.TextureId(), {0, 0},
        ImVec2(static_cast<float>(texture.Width), static_cast<float>(texture.Height)));
  };
  formula->TestFunc = [](ImGuiTestContext* context) {
    const Image image = take_picture(context);
    int coloured = 0;
    for (int y = 0; y < 60; ++y) {
      for (int x = 0; x < 300; ++x) {
        const std::uint8_t* pixel = image.pixel(x, y);
        if (pixel[0] > 200 && pixel[1] < 60 && pixel[2] > 200) ++coloured;
      }
    }
    IM_CHECK_GT(coloured, 100);
  };
}

}  // namespace palimpsest
