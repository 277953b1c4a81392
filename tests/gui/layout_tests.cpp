#include "tests/gui/tests.h"

// Where the panels lie: as designed at every size, until somebody moves one.

using namespace palimpsest;

namespace {

bool is_own() { return program().panel_layout.is_own(program().workspace()); }

PROGRAM_TEST("lays the panels out as designed at every size") {
  start_program(context);
  const Rectangle data = window_place("Data");
  const Rectangle stage = window_place("Stage");
  resize(context, 1280, 800);
  IM_CHECK_EQ(ImGui::GetIO().DisplaySize.x, 1280.0F);
  IM_CHECK(!is_own());
  const Rectangle small_data = window_place("Data");
  const Rectangle small_stage = window_place("Stage");
  IM_CHECK_LT(small_data.width(), data.width());
  start_program(context);  // at this size
  IM_CHECK(window_place("Data") == small_data);
  IM_CHECK(window_place("Stage") == small_stage);
  resize(context, 1920, 1080);
  IM_CHECK(window_place("Data") == data);
  IM_CHECK(window_place("Stage") == stage);
}

PROGRAM_TEST("keeps a panel where it was docked") {
  start_program(context);
  const Rectangle data = window_place("Data");
  const Rectangle equation = window_place("Equation");
  IM_CHECK(!is_own());
  context->KeyPress(find_command(program(), "view.tabs").key);
  context->Yield(2);
  IM_CHECK(!is_own());
  context->DockInto("//Data", "//Timeline", ImGuiDir_Right);
  context->KeyPress(find_command(program(), "view.tabs").key);
  context->Yield(2);
  IM_CHECK(is_own());
  const auto is_beside = [] {
    return window_place("Data").minimum.y == window_place("Timeline").minimum.y &&
           window_place("Timeline").maximum.x <= window_place("Data").minimum.x;
  };
  IM_CHECK(is_beside());
  const float part = window_place("Data").width() / ImGui::GetIO().DisplaySize.x;
  resize(context, 1280, 800);
  IM_CHECK(is_beside());
  IM_CHECK_LT(std::abs(window_place("Data").width() / ImGui::GetIO().DisplaySize.x - part), 0.02F);
  resize(context, 1920, 1080);
  IM_CHECK(is_beside());

  perform(find_command(program(), "view.reset_layout"), program());
  context->Yield(4);
  IM_CHECK(!is_own());
  IM_CHECK(window_place("Data") == data);
  IM_CHECK(window_place("Equation") == equation);
  perform(find_command(program(), "view.reset_layout"), program());
  IM_CHECK_NE(program().refusal, std::string());
}

PROGRAM_TEST("keeps a separator where it was dragged") {
  start_program(context);
  const Rectangle equation = window_place("Equation");
  drag(context, {equation.maximum.x + 1, equation.middle().y},
       {equation.maximum.x + 101, equation.middle().y});
  IM_CHECK(is_own());
  const float width = window_place("Equation").width();
  IM_CHECK_GT(width, equation.width() + 50);
  resize(context, 1600, 1000);
  IM_CHECK_EQ(window_place("Equation").width(), width);  // the centre gives way
  resize(context, 1920, 1080);
  IM_CHECK_EQ(window_place("Equation").width(), width);
  perform(find_command(program(), "view.reset_layout"), program());
  context->Yield(4);
  IM_CHECK(window_place("Equation") == equation);
}

}  // namespace
