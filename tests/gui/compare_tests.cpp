#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "tests/gui/tests.h"

// Compare: a person drags the rail's handle, adds a side, takes one out, makes one the reference.

using namespace palimpsest;

namespace {

/// How many sides stand beside each other.
std::size_t columns() {
  std::size_t count = 0;
  while (parts().find(fmt::format("compare/sides/{}", count))) ++count;
  return count;
}

Session& enter_compare(ImGuiTestContext* context) { return start_in(context, ImGuiKey_4, 42); }

PROGRAM_TEST("Compare opens with four sides, and the rail's handle is dragged and moved by keys") {
  Session& session = enter_compare(context);
  IM_CHECK_STR_EQ(program().workspace().id, "compare");
  IM_CHECK_EQ(columns(), std::size_t{4});
  for (const ComparedSide& side : compared(program()).sides) IM_CHECK(side.moment != nullptr);
  IM_CHECK_EQ(session.state().sides.size(), std::size_t{1});  // looking changes nothing
  IM_CHECK(!session.can_undo());

  const ImVec2 handle = place_of("compare/rail/track/mark/handle").middle();
  std::vector<ImVec2> stops;
  for (int i = 0; i < 9; ++i)
    stops.push_back(place_of(fmt::format("compare/rail/track/mark/stop {}", i)).middle());
  const float half = (stops[3].x + stops[4].x) / 2;
  context->MouseMoveToPos(handle);
  context->MouseDown(0);
  context->MouseMoveToPos({half + (stops[5].x - half) * 0.8F, handle.y});
  context->MouseMoveToPos({(stops[4].x + stops[5].x) / 2, handle.y});
  context->MouseUp(0);
  settle_questions(context);
  IM_CHECK_STR_EQ(session.computed()->variant->id.c_str(), "deltanet_to_gated_deltanet");
  IM_CHECK(session.computed()->agree);
  IM_CHECK(program().undrawn().empty());
  IM_CHECK(session.undo());  // the drag is one entry
  IM_CHECK(!session.can_undo());
  settle_questions(context);
  IM_CHECK_STR_EQ(session.computed()->variant->id.c_str(), "gated_deltanet");
  context->KeyPress(ImGuiKey_Period);
  settle_questions(context);
  IM_CHECK_STR_EQ(session.computed()->variant->id.c_str(), "gated_deltanet_to_kda");
  context->KeyPress(ImGuiKey_Comma);
  settle_questions(context);
  IM_CHECK_STR_EQ(session.computed()->variant->id.c_str(), "gated_deltanet");
}

PROGRAM_TEST("sides are added, taken out and made the reference") {
  Session& session = enter_compare(context);
  context->KeyPress(ImGuiKey_A);  // four are shown: there is no room for another
  context->Yield(2);
  IM_CHECK(!program().refusal.empty());
  IM_CHECK(!session.can_undo());
  context->ItemClick("//Side by side/**/###remove 1");
  settle_questions(context);
  IM_CHECK_EQ(session.state().sides.size(), std::size_t{3});
  IM_CHECK_EQ(columns(), std::size_t{3});
  context->ItemClick("//Side by side/**/###baseline 2");
  settle_questions(context);
  IM_CHECK_EQ(session.state().compare.reference, std::size_t{2});
  context->KeyPress(ImGuiKey_A);
  settle_questions(context);
  IM_CHECK_EQ(columns(), std::size_t{4});
  for (int i = 0; i < 3; ++i) IM_CHECK(session.undo());
  IM_CHECK(!session.can_undo());
  settle_questions(context);
  IM_CHECK_EQ(session.state().sides.size(), std::size_t{1});
}

/// Opens the menu of side 1, chooses a line of it, and closes it.
void choose_in_menu(ImGuiTestContext* context, const char* line) {
  click(context, "//Side by side/**/###another 1");
  const auto& popups = ImGui::GetCurrentContext()->OpenPopupStack;
  IM_CHECK_EQ(popups.Size, 1);
  context->SetRef(popups.back().Window->ID);
  click(context, line);
  press(context, ImGuiKey_Escape);
}

PROGRAM_TEST("a side is computed in another form and precision") {
  Session& session = enter_compare(context);
  choose_in_menu(context, "**/f32");
  IM_CHECK(session.state().sides[1].precision == Precision::f32);
  choose_in_menu(context, "**/chunkwise");
  IM_CHECK(session.state().sides[1].form == Form::chunkwise);
  settle_questions(context);
  IM_CHECK(program().undrawn().empty());
  for (const ComparedSide& column : compared(program()).sides) {
    if (column.index == 1) IM_CHECK(column.moment && column.moment->no_memory.empty());
  }
}

}  // namespace
