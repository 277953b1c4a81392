#include <iterator>
#include <sstream>

#include "app/views/attend.h"
#include "tests/gui/tests.h"

// Attend: a person looks at a row, zooms in, and changes what is shown.

using namespace palimpsest;

namespace {

Session& enter_attend(ImGuiTestContext* context) { return start_in(context, ImGuiKey_3, 63); }

PROGRAM_TEST("a click in Attend looks at a row") {
  Session& session = enter_attend(context);
  IM_CHECK_STR_EQ(program().workspace().id, "attend");
  IM_CHECK(parts().find("attend/softmax/area") != nullptr);
  const Part* const loupe = parts().find("attend/rule corner/loupe/numbers");
  IM_CHECK(loupe != nullptr);
  std::istringstream words(loupe->words);
  const auto numbers = std::count_if(std::istream_iterator<std::string>(words), {}, [](const auto& word) {
    return word.find_first_not_of("-0123456789") == std::string::npos;
  });
  IM_CHECK_EQ(numbers, 9 * 9);  // every cell has its number
  const Rectangle square = place_of("attend/rule/area");
  const float unit = square.width() / static_cast<float>(session.data().tokens);
  click(context, square.minimum + ImVec2(6.5F, 80.5F) * unit);
  IM_CHECK_EQ(session.token(), 80);
}

PROGRAM_TEST("Attend zooms to single cells and back") {
  Session& session = enter_attend(context);
  const Index tokens = session.data().tokens;
  const Rectangle square = place_of("attend/rule/area");
  const auto block = [&] { return attended_block(session); };
  IM_CHECK_EQ(block().count, tokens);
  context->MouseMoveToPos(square.middle());
  context->MouseWheelY(1);
  context->Yield(3);
  IM_CHECK_EQ(block().count, (tokens + 1) / 2);
  IM_CHECK_GT(block().first_row, 0);
  for (int i = 0; i < 12; ++i) context->MouseWheelY(1);
  context->Yield(3);
  IM_CHECK_EQ(block().count, 8);
  for (int i = 0; i < 12; ++i) context->MouseWheelY(-1);
  context->Yield(3);
  IM_CHECK_EQ(block().count, tokens);
  IM_CHECK_EQ(block().first_row, 0);
}

PROGRAM_TEST("Attend switches what is shown") {
  Session& session = enter_attend(context);
  click(context, "//Effective attention weights/**/weights");
  IM_CHECK(!session.state().attention.shares);
  click(context, "//Effective attention weights/**/mask");
  IM_CHECK(!session.state().attention.mask);
  IM_CHECK(parts().find("attend/rule corner/loupe") == nullptr);
  IM_CHECK(!session.can_undo());  // how one looks is no entry of the history
  click(context, "//Effective attention weights/**/mask");
  IM_CHECK(session.state().attention.mask);
  IM_CHECK(program().undrawn().empty());
}

}  // namespace
