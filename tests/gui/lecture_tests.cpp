#include "tests/gui/tests.h"

// What a lecturer needs: presenting, pinned places, files that are completed.

using namespace palimpsest;

namespace {

int key(const char* command) { return find_command(program(), command).key; }

/// Where a window lies once it stays there: panels that have something to show at last take their room, and
/// on a slow machine their answers come after any fixed number of frames.
Rectangle settled_place(ImGuiTestContext* context, const char* window) {
  settle(context);
  Rectangle place = window_place(window);
  for (int unchanged = 0, frames = 0; unchanged < 10 && frames < 1000; ++frames) {
    context->Yield();
    const Rectangle now = window_place(window);
    unchanged = now == place ? unchanged + 1 : 0;
    place = now;
  }
  return place;
}

PROGRAM_TEST("presents and comes back") {
  Session& session = start_program(context);
  const Rectangle before = settled_place(context, "Stage");
  const OwnLayout own = program().panel_layout.own(program().workspaces());
  const Index token = session.token();
  press(context, ImGuiKey_F);
  IM_CHECK(program().presenting);
  IM_CHECK(!is_window_shown("Data"));
  IM_CHECK(is_window_shown("What happened##fixed"));
  IM_CHECK(is_window_shown("The text##fixed"));
  IM_CHECK_GT(window_place("What happened##fixed").width(), 1.4F * before.width());
  context->KeyPress(ImGuiKey_RightArrow);  // the program goes on as ever, a token at a time
  IM_CHECK_EQ(session.token(), token + 1);
  IM_CHECK(program().undrawn().empty());

  program().pinned = CellFocus();  // Esc lets go of a number first
  press(context, ImGuiKey_Escape);
  IM_CHECK(program().presenting);
  press(context, ImGuiKey_Escape);
  IM_CHECK(!program().presenting);
  IM_CHECK(is_window_shown("Data"));
  IM_CHECK(!is_window_shown("What happened##fixed"));
  const Rectangle after = settled_place(context, "Stage");
  IM_CHECK_EQ(after.minimum.x, before.minimum.x);
  IM_CHECK_EQ(after.maximum.x, before.maximum.x);
  IM_CHECK_EQ(after.maximum.y, before.maximum.y);
  IM_CHECK(program().panel_layout.own(program().workspaces()) == own);
  context->KeyPress(ImGuiKey_Escape);
  IM_CHECK_EQ(program().refusal, "");  // there is nothing to let go of, and nothing to say
}

PROGRAM_TEST("walks through pinned places") {
  Session& session = start_program(context);
  context->KeyPress(key("places.next"));
  IM_CHECK_EQ(program().refusal, "next pinned place: no place is pinned yet");
  session.go_to_token(6);
  context->KeyPress(key("places.add"));
  session.go_to_token(42);
  context->KeyPress(ImGuiKey_2);
  context->KeyPress(key("places.add"));
  IM_CHECK_EQ(program().places.all().size(), 2u);
  IM_CHECK(program().places.all()[1].name.starts_with("Step · chunkwise · token 43 “drum” · Gated DeltaNet"));
  context->KeyPress(key("places.next"));
  IM_CHECK_EQ(program().refusal, "next pinned place: this is the last place");
  press(context, ImGuiKey_V);  // somewhere else
  press(context, key("places.previous"));
  IM_CHECK_EQ(session.token(), 6);
  IM_CHECK(session.choice().form == Form::recurrent);
  IM_CHECK_EQ(session.choice().variant, std::string("gated_deltanet"));
  press(context, key("places.next"));
  IM_CHECK_EQ(session.token(), 42);
  IM_CHECK(session.choice().form == Form::chunkwise);
}

PROGRAM_TEST("keeps pinned places in a file") {
  const OwnFolder folder;
  Session& session = start_program(context);
  for (const Index token : {6, 42, 60}) {
    session.go_to_token(token);
    context->KeyPress(key("places.add"));
  }
  const std::vector<PinnedPlace> pinned = program().places.all();
  press(context, key("places.list"));
  click(context, "//Places/**/Save them…");
  context->KeyCharsReplaceEnter((folder / "lecture").c_str());
  context->Yield(3);
  IM_CHECK_EQ(program().notice, "These places are saved in " + (folder / "lecture.json"));
  perform(find_command(program(), "places.remove"), program());
  IM_CHECK_EQ(program().places.all().size(), 2u);

  press(context, ImGuiMod_Ctrl | ImGuiKey_O);
  context->KeyCharsReplace((folder / "lec").c_str());
  press(context, ImGuiKey_Tab);  // completes it
  IM_CHECK_EQ(program().open_path, folder / "lecture.json");
  press(context, ImGuiKey_Enter);
  IM_CHECK(!program().show_open);
  IM_CHECK(program().places.all() == pinned);
  IM_CHECK_EQ(session.token(), 6);

  program().open(folder.file("broken.json", R"({"palimpsest_places": 1, "places": [{"name": "x"}]})"));
  IM_CHECK(session.message().find("broken.json: place 1: \"state\" is missing") != std::string::npos);
  IM_CHECK(program().places.all() == pinned);
  session.clear_message();
}

PROGRAM_TEST("changes the size of everything") {
  start_program(context);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Equal);
  IM_CHECK_EQ(program().zoom, 1.25);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Minus);
  IM_CHECK_EQ(program().zoom, 1.1);
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0);
  IM_CHECK_EQ(program().zoom, 1.0);
}

}  // namespace
