#include "tests/gui/tests.h"

// Where the panels lie: as designed at every size, until somebody moves one.

namespace palimpsest {

namespace {

ImRect place(const char* title) {
  const ImGuiWindow* window = ImGui::FindWindowByName(title);
  return {window->Pos, {window->Pos.x + window->Size.x, window->Pos.y + window->Size.y}};
}

bool are_equal(const ImRect& a, const ImRect& b) {
  return a.Min.x == b.Min.x && a.Min.y == b.Min.y && a.Max.x == b.Max.x && a.Max.y == b.Max.y;
}

bool is_own() { return program().panel_layout.is_own(program().workspace()); }

PROGRAM_TEST("lays the panels out as designed at every size") {
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

PROGRAM_TEST("keeps a panel where it was docked") {
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

PROGRAM_TEST("keeps a separator where it was dragged") {
  start_program(context);
  const ImRect equation = place("Equation");
  drag(context, {equation.Max.x + 1, equation.GetCenter().y}, {equation.Max.x + 101, equation.GetCenter().y});
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

}  // namespace palimpsest
