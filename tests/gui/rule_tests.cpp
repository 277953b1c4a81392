#include <chrono>
#include <thread>

#include "app/session/own_rule.h"
#include "tests/gui/tests.h"

// Write: a person types a rule, makes a mistake, mends it, begins with another, and keeps it.

using namespace palimpsest;

namespace {

constexpr Index token_to_write_at = 20;

/// Waits until the pause after a change is over, by the clock of the machine as the editor does.
void pause(ImGuiTestContext* context) {
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  context->Yield(2);
  settle_questions(context);
}

void type_at_end(ImGuiTestContext* context, const char* text) {
  click(context, place_of("write/rule/text").middle());
  press(context, ImGuiMod_Ctrl | ImGuiKey_End);
  context->KeyChars(text);
  pause(context);
}

PROGRAM_TEST("a rule is typed, is wrong, is mended and computed") {
  Session& session = start_in(context, ImGuiKey_7, token_to_write_at);
  IM_CHECK_STR_EQ(program().workspace().id, "write");
  const std::string begun = own_rule(session.state());
  type_at_end(context, "o2 = ");
  IM_CHECK(parts().find("write/rule/flaw") != nullptr);
  IM_CHECK_STR_EQ(session.state().rule.c_str(), (begun + "o2 = ").c_str());
  // Keys are letters here: neither form nor workspace changes.
  IM_CHECK(session.choice().form == Form::recurrent);
  context->KeyChars("q");
  pause(context);
  IM_CHECK(parts().find("write/rule/flaw") == nullptr);
  IM_CHECK_STR_EQ(session.choice().variant.c_str(), written_id(begun + "o2 = q").c_str());
  IM_CHECK(session.computed()->agree);
  IM_CHECK(session.message().empty());
}

PROGRAM_TEST("a rule is begun with another, opened from a file and saved in one") {
  Session& session = start_in(context, ImGuiKey_7, token_to_write_at);
  const std::string begun = own_rule(session.state());
  click(context, place_of("write/rule/start from").middle());
  click(context, place_of("write/rule/start from/texts/deltanet").middle());
  IM_CHECK_STR_EQ(session.state().rule.c_str(), find_variant("deltanet").text.c_str());
  type_at_end(context, "#");
  for (int i = 0; i < 2; ++i) press(context, ImGuiMod_Ctrl | ImGuiKey_Z);
  pause(context);
  IM_CHECK_STR_EQ(own_rule(session.state()).c_str(), begun.c_str());  // the editor itself takes it back
  const OwnFolder folder;
  const std::string text = "title: Mine\nS = 0.5 * S + k v^T\no = S^T q\n";
  IM_CHECK(program().open(folder.file("mine.rule", text)));
  settle_questions(context);
  IM_CHECK_STR_EQ(session.choice().variant.c_str(), written_id(text).c_str());
  IM_CHECK(place_of("write/rule/text").width() > 100);
  click(context, place_of("write/rule/export…").middle());
  IM_CHECK(program().show_save);
  IM_CHECK_STR_EQ(program().save_to(folder / "again.rule").c_str(), "");
  program().show_save = false;
  std::ifstream saved(folder / "again.rule");
  IM_CHECK_STR_EQ(std::string(std::istreambuf_iterator<char>(saved), {}).c_str(), text.c_str());
}

}  // namespace
