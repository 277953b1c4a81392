#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <functional>
#include <optional>
#include <utility>

#include "app/studio/command.h"
#include "tests/gui/tests.h"

// Where the panels lie: as designed at every size, until somebody moves one.

namespace palimpsest {

namespace {

std::optional<std::pair<int, int>> wanted_size;  // of the window; GLFW belongs to the main thread

std::function<void(ImGuiTestContext*)> draw_program;

void draw_resized(ImGuiTestContext* context) {
  if (const auto size = std::exchange(wanted_size, std::nullopt))
    glfwSetWindowSize(glfwGetCurrentContext(), size->first, size->second);
  draw_program(context);
}

void resize(ImGuiTestContext* context, int width, int height) {
  wanted_size = {width, height};
  for (int frame = 0; frame < 300 && static_cast<int>(ImGui::GetIO().DisplaySize.x) != width; ++frame)
    context->Yield();
  context->Yield(4);
}

ImRect place(const char* title) {
  const ImGuiWindow* window = ImGui::FindWindowByName(title);
  return {window->Pos, {window->Pos.x + window->Size.x, window->Pos.y + window->Size.y}};
}

bool are_equal(const ImRect& a, const ImRect& b) {
  return a.Min.x == b.Min.x && a.Min.y == b.Min.y && a.Max.x == b.Max.x && a.Max.y == b.Max.y;
}

bool is_own() { return program().panel_layout().is_own(program().workspace()); }

void lays_out_as_designed(ImGuiTestContext* context) {
  start_program(context);
  const ImRect data = place("Data");
  const ImRect stage = place("Stage");
  resize(context, 1280, 800);
  IM_CHECK_EQ(ImGui::GetIO().DisplaySize.x, 1280.0F);
  IM_CHECK(!is_own());
  const ImRect small_data = place("Data");
  const ImRect small_stage = place("Stage");
  IM_CHECK_LT(small_data.GetWidth(), data.GetWidth());
  start_program(context);  // at this size
  IM_CHECK(are_equal(place("Data"), small_data));
  IM_CHECK(are_equal(place("Stage"), small_stage));
  resize(context, 1920, 1080);
  IM_CHECK(are_equal(place("Data"), data));
  IM_CHECK(are_equal(place("Stage"), stage));
}

void keeps_what_was_docked(ImGuiTestContext* context) {
  start_program(context);
  const ImRect data = place("Data");
  const ImRect equation = place("Equation");
  IM_CHECK(!is_own());
  context->KeyPress(find_command(program(), "view.tabs").key);
  context->Yield(2);
  IM_CHECK(!is_own());
  context->DockInto("//Data", "//Timeline", ImGuiDir_Right);
  context->KeyPress(find_command(program(), "view.tabs").key);
  context->Yield(2);
  IM_CHECK(is_own());
  const auto is_beside = [] {
    return place("Data").Min.y == place("Timeline").Min.y && place("Timeline").Max.x <= place("Data").Min.x;
  };
  IM_CHECK(is_beside());
  const float part = place("Data").GetWidth() / ImGui::GetIO().DisplaySize.x;
  resize(context, 1280, 800);
  IM_CHECK(is_beside());
  IM_CHECK_LT(std::abs(place("Data").GetWidth() / ImGui::GetIO().DisplaySize.x - part), 0.02F);
  resize(context, 1920, 1080);
  IM_CHECK(is_beside());

  perform(find_command(program(), "view.reset_layout"), program());
  context->Yield(4);
  IM_CHECK(!is_own());
  IM_CHECK(are_equal(place("Data"), data));
  IM_CHECK(are_equal(place("Equation"), equation));
  perform(find_command(program(), "view.reset_layout"), program());
  IM_CHECK_NE(program().refusal, std::string());
}

void keeps_a_separator(ImGuiTestContext* context) {
  start_program(context);
  const ImRect equation = place("Equation");
  context->MouseMoveToPos({equation.Max.x + 1, equation.GetCenter().y});
  context->MouseDown();
  context->MouseMoveToPos({equation.Max.x + 101, equation.GetCenter().y});
  context->MouseUp();
  context->Yield(2);
  IM_CHECK(is_own());
  const float width = place("Equation").GetWidth();
  IM_CHECK_GT(width, equation.GetWidth() + 50);
  resize(context, 1600, 1000);
  IM_CHECK_EQ(place("Equation").GetWidth(), width);  // the centre gives way
  resize(context, 1920, 1080);
  IM_CHECK_EQ(place("Equation").GetWidth(), width);
  perform(find_command(program(), "view.reset_layout"), program());
  context->Yield(4);
  IM_CHECK(are_equal(place("Equation"), equation));
}

}  // namespace

void register_layout_tests(ImGuiTestEngine* engine) {
  const auto add = [&](const char* name, void (*test)(ImGuiTestContext*)) {
    ImGuiTest* made = add_program_test(engine, name, test);
    draw_program = made->GuiFunc;
    made->GuiFunc = draw_resized;
  };
  add("lays the panels out as designed at every size", lays_out_as_designed);
  add("keeps a panel where it was docked", keeps_what_was_docked);
  add("keeps a separator where it was dragged", keeps_a_separator);
}

}  // namespace palimpsest
