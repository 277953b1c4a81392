// The table of commands, what stands in the way of each, how they are found by words, and keys that come
// faster than frames.

#include "tests/offscreen/drawn.h"

namespace palimpsest {
std::vector<Command> commands_here(const Application& application, std::string_view typed);
}

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::string reason(const Application& application, std::string_view id) {
  return why_not(find_command(application, id), application);
}

std::vector<std::string> ids(const std::vector<const Command*>& found) {
  std::vector<std::string> all;
  for (const Command* command : found) all.push_back(command->id);
  return all;
}

Command named(std::string id, std::string group, std::string words) {
  return {
      .id = std::move(id), .group = std::move(group), .words = std::move(words), .perform = [](Application&) {
      }};
}

void control(bool down) {
  for (const ImGuiKey key : {ImGuiMod_Ctrl, ImGuiKey_LeftCtrl}) ImGui::GetIO().AddKeyEvent(key, down);
}

/// A letter as a keyboard sends it.
void type(char letter) {
  ImGuiIO& io = ImGui::GetIO();
  const auto key = static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'a'));
  io.AddKeyEvent(key, true);
  io.AddInputCharacter(static_cast<unsigned>(letter));
  io.AddKeyEvent(key, false);
}

/// The program after its first frames.
struct Awaited : ShownProgram {
  Awaited() { pass(3); }
};

}  // namespace

TEST_CASE("every command has an id, a key and words of its own", "[commands]") {
  std::set<std::string> ids;
  std::set<std::string> words;
  std::set<int> keys;
  std::size_t with_key = 0;
  for (const Command& command : commands()) {
    CAPTURE(command.id);
    CHECK(ids.insert(command.id).second);
    CHECK(words.insert(command.group + ": " + command.words).second);
    CHECK(command.group != "");
    CHECK(command.words != "");
    CHECK(command.perform);
    if (command.key == 0) continue;
    CHECK(keys.insert(command.key).second);
    ++with_key;
  }
  CHECK(with_key > 30);
  for (const Variant& variant : variants()) CHECK(ids.contains("variant." + variant.id));
  for (const Preset& preset : presets()) CHECK(ids.contains("preset." + preset.id));
  CHECK(ids.contains("capture.kda_overwrite_l1"));
  CHECK_THROWS_WITH(find_command(Application(), "form.square"), says("form.square"));
}

TEST_CASE("a command that cannot be done says why, and does nothing", "[commands]") {
  Application application;
  CHECK(reason(application, "operation.forward") == "nothing is open yet");
  CHECK(reason(application, "data.save") == "nothing is open yet");
  perform(find_command(application, "preset.random"), application);
  application.session.wait();
  REQUIRE(application.session.message() == "");
  CHECK(reason(application, "head.next") == "there is only one head");
  perform(find_command(application, "time.start"), application);
  CHECK(reason(application, "operation.back") == "this is the start");
  CHECK(reason(application, "operation.forward") == "");
  CHECK(reason(application, "chunk.256") == "a chunk has at most 32 tokens here");
  CHECK(reason(application, "view.release") == "");  // with nothing to do it says nothing
  CHECK(reason(application, "form.parallel") == "");
  perform(find_command(application, "time.end"), application);
  CHECK(reason(application, "operation.forward") == "this is the end");
  CHECK(reason(application, "operation.back") == "");

  perform(find_command(application, "variant.ttt_mlp"), application);
  application.session.wait();
  const std::string missing = application.session.computed()->form(Form::parallel).missing;
  REQUIRE(missing != "");
  CHECK(reason(application, "form.parallel") == missing);
  perform(find_command(application, "form.parallel"), application);
  CHECK(application.session.choice().form == Form::recurrent);
  CHECK(application.refusal == "parallel: " + missing);
  perform(find_command(application, "form.chunkwise"), application);
  CHECK(application.session.choice().form == Form::chunkwise);
  CHECK(application.refusal == "");
}

// What is possible changes something, and what is refused would not.
TEST_CASE("a step is refused exactly where it would lead nowhere", "[commands]") {
  Application application;
  application.session.open_named("preset:random?T=5&K=2&V=3&seed=1");
  application.session.wait();
  const std::string steps[] = {"operation.forward", "operation.back", "token.forward", "token.back",
                               "chunk.forward",     "chunk.back",     "time.end",      "time.start"};
  int refused = 0;
  for (const Form form : all_forms) {
    perform(find_command(application, fmt::format("form.{}", name(form))), application);
    Session& session = application.session;
    session.step(Session::Grain::end, -1);
    bool goes_on = true;
    while (goes_on) {
      const Cursor here = session.cursor();
      for (const std::string& id : steps) {
        CAPTURE(name(form), here.block, here.operation, here.row, id);
        const bool possible = reason(application, id).empty();
        perform(find_command(application, id), application);
        CHECK(possible == !(session.cursor() == here));
        refused += possible ? 0 : 1;
        session.set_cursor(here);
      }
      goes_on = session.step(Session::Grain::operation, 1);
    }
  }
  CHECK(refused > 16);
}

TEST_CASE("commands are found by the beginnings of their words, then by what was done last", "[commands]") {
  const std::vector<Command> table = {
      named("a.rewind", "Time", "rewind the end"), named("b.window", "View", "end of the window"),
      named("c.bend", "View", "bend"), named("d.cafe", "Data", "CAFÉ Ωmega Жар"),
      named("e.other", "Data", "other")};
  const auto find = [&](std::string_view typed, std::vector<std::string> recent = {}) {
    return ids(search({table}, typed, recent));
  };
  using Ids = std::vector<std::string>;
  CHECK(find("") == Ids{"a.rewind", "b.window", "c.bend", "d.cafe", "e.other"});
  CHECK(find("", {"e.other", "c.bend"}) == Ids{"e.other", "c.bend", "a.rewind", "b.window", "d.cafe"});
  CHECK(find("end") == Ids{"b.window", "a.rewind", "c.bend"});
  CHECK(find("end", {"c.bend", "a.rewind"}) == Ids{"b.window", "a.rewind", "c.bend"});
  CHECK(find("nd", {"c.bend", "b.window"}) == Ids{"c.bend", "b.window", "a.rewind"});
  CHECK(find("wind") == Ids{"b.window", "a.rewind"});
  CHECK(find("VIEW  wind ") == Ids{"b.window"});
  CHECK(find("e.oth") == Ids{"e.other"});
  CHECK(find("café ωM жар") == Ids{"d.cafe"});
  CHECK(find("\xC3") == Ids{});  // half a letter is none
  CHECK(find("\xA9") == Ids{});  // nor is the other half
  CHECK(find("end nothing") == Ids{});
  // As docs/using.md tells it.
  CHECK(search({commands()}, "retn", {}).front()->id == "variant.retnet");
  CHECK(search({commands()}, "chunks 16", {}).front()->id == "chunk.16");
  CHECK(search({commands()}, "over pres", {}).front()->id == "preset.overwrite");
}

// A command that only this test knows is there by key, by name and in the palette.
TEST_CASE("a command is one row", "[commands]") {
  int done = 0;
  std::vector<Command> table(commands().begin(), commands().end());
  table.push_back({.id = "test.count",
                   .group = "Test",
                   .words = "count one more",
                   .key = ImGuiKey_F9,
                   .perform = [&](Application&) { ++done; },
                   .why_not = [&](const Application&) { return done < 2 ? "" : "two is the limit"; }});
  ShownProgram shown(workspaces(), table);
  Application& application = shown.application;
  shown.pass(4);
  shown.press(ImGuiKey_F9);
  CHECK(done == 1);
  application.show_palette = true;
  shown.pass(4);
  ImGui::GetIO().AddInputCharactersUTF8("more cOUNT");
  shown.pass(4);
  shown.press(ImGuiKey_Enter);
  CHECK(done == 2);
  CHECK_FALSE(application.show_palette);
  shown.press(ImGuiKey_F9);
  CHECK(done == 2);
  CHECK(application.refusal == "count one more: two is the limit");
  CHECK(application.undrawn() == "");
}

TEST_CASE("keys that switch act once, however long they are held", "[keys]") {
  ShownProgram shown;
  shown.session.set_cursor({});
  shown.resize({640, 480});
  int switched = 0;
  style::Theme theme = shown.application.view.theme;
  const auto hold = [&](ImGuiKey key) {
    ImGui::GetIO().AddKeyEvent(key, true);
    for (int frame = 0; frame < 90; ++frame) {  // a second and a half
      shown.pass();
      if (shown.application.view.theme != theme) ++switched;
      theme = shown.application.view.theme;
    }
    ImGui::GetIO().AddKeyEvent(key, false);
    shown.pass();
  };
  shown.pass(4);
  hold(ImGuiKey_L);
  CHECK(switched == 1);
  hold(ImGuiKey_RightArrow);
  CHECK(shown.session.token() > 1);  // steps go on
}

TEST_CASE("all keys and all that the mouse does fit into the smallest window", "[keys]") {
  ShownProgram shown;
  shown.application.show_keys = true;
  for (const Workspace& workspace : workspaces()) {  // each has keys of its own
    CAPTURE(workspace.id);
    shown.draw_in(workspace.id);
    int cards = 0;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      if (!window->WasActive || std::string_view(window->Name).find("Keys") == std::string_view::npos)
        continue;
      ++cards;
      CHECK(window->ScrollMax == ImVec2());
      const Rectangle all = box_at(window->Pos, window->ContentSize + 2 * window->WindowPadding);
      CHECK(Rectangle{{0, 0}, {1280, 800}}.holds(all));
    }
    CHECK(cards >= 1);
  }
}

TEST_CASE("what is open is found by its words", "[commands]") {
  ShownProgram shown;
  shown.session.go_to_token(40);
  shown.pass(3);
  const auto find = [&](std::string_view typed) {
    static std::vector<Command> here;
    here = commands_here(shown.application, typed);
    return search({shown.application.commands(), here}, typed, {});
  };
  const auto words = [&](std::string_view typed) {
    std::vector<std::string> all;
    for (const Command* command : find(typed)) all.push_back(command->group + ": " + command->words);
    return all;
  };
  const auto has = [&](std::string_view typed, const char* wanted) {
    return std::ranges::count(words(typed), wanted) > 0;
  };
  CHECK(words("drum") ==
        std::vector<std::string>{"Token: go to token 43 “drum”", "Token: go to token 65 “drum”"});
  CHECK(words("go to token 43").front() == "Token: go to token 43 “drum”");
  CHECK(words("43").front() == "Token: go to token 43 “drum”");
  CHECK(words("go to DRUM").size() == 2);
  find("drum").front()->perform(shown.application);
  CHECK(shown.session.token() == 42);

  // What rules, sliders, steps and panels are called leads somewhere.
  CHECK(has("erase", "Rule: Gated DeltaNet-2"));
  CHECK(has("muon", "Rule: LaCT"));
  CHECK(has("newton", "Rule: LaCT"));
  CHECK(has("cost", "Panel: Step: Forms"));
  CHECK(has("loss gradient", "Panel: Learn: How large can the step be?"));
  CHECK(has("roofline", "Panel: Measure: How much of the machine is used"));
  CHECK(words("chunk 16").front() == "Form: chunks of 16 tokens");
  find("memory returns").front()->perform(shown.application);
  CHECK(shown.application.workspace().id == std::string("step"));
  CHECK(find("").size() == shown.application.commands().size());

  // A slider is brought into sight, its number ready to be typed over.
  const auto sliders = find("beta");
  REQUIRE(!sliders.empty());
  CHECK(sliders.front()->group == "Slider");
  sliders.front()->perform(shown.application);
  shown.pass(4);
  CHECK(ImGui::GetIO().WantTextInput);
  ImGui::GetIO().AddInputCharactersUTF8("2");
  shown.pass();
  shown.press(ImGuiKey_Enter);
  CHECK(slider_value(shown.session.state().edits, "scale_strength") == 2);
}

// As where a frame takes long: all that was typed meanwhile comes at once.
TEST_CASE("a chord counts with the modifiers that were held when its key was pressed", "[commands]") {
  Awaited shown;
  Application& application = shown.application;
  ImGuiIO& io = ImGui::GetIO();
  for (const bool key_is_let_go_first : {false, true}) {
    for (const bool control_is_down_before : {false, true}) {
      CAPTURE(key_is_let_go_first, control_is_down_before);
      application.show_palette = false;
      shown.pass(4);
      control(true);
      if (control_is_down_before) shown.pass();
      io.AddKeyEvent(ImGuiKey_P, true);
      if (key_is_let_go_first) io.AddKeyEvent(ImGuiKey_P, false);
      control(false);
      if (!key_is_let_go_first) io.AddKeyEvent(ImGuiKey_P, false);
      shown.pass(4);
      CHECK(application.show_palette);
      CHECK(application.session.choice().precision == Precision::f64);
    }
  }
  // A modifier that is pressed after its key does not count, and nothing is lost.
  application.show_palette = false;
  shown.pass(4);
  io.AddKeyEvent(ImGuiKey_P, true);
  control(true);
  io.AddKeyEvent(ImGuiKey_P, false);
  control(false);
  shown.pass(4);
  CHECK_FALSE(application.show_palette);
  CHECK(application.session.choice().precision == Precision::f32);
  CHECK_FALSE(io.KeyCtrl);
}

TEST_CASE("what is typed at once after the key of the palette stands in it", "[commands]") {
  for (const int frames_between : {0, 1, 2, 3}) {
    CAPTURE(frames_between);
    Awaited shown;
    control(true);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_P, true);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_P, false);
    control(false);
    shown.pass(frames_between);
    for (const char letter : {'r', 'e', 't', 'n'}) {
      type(letter);
      if (frames_between > 0) shown.pass();
    }
    shown.pass(12);
    CHECK(shown.application.show_palette);
    CHECK_FALSE(shown.application.show_data);
    CHECK(words_at("commands/typed") == "retn");
    type('e');  // it goes on behind them
    shown.pass(4);
    CHECK(words_at("commands/typed") == "retne");
  }
}

TEST_CASE("the filter of the data takes what follows its key, and where nothing matches shows nothing",
          "[commands]") {
  Awaited shown;
  const std::string title = shown.session.data().title;
  type('d');
  shown.pass();
  REQUIRE(shown.application.show_data);
  shown.draw();
  CHECK(words_at("all data/details/title") == title);  // its own letter filters nothing
  for (const char letter : {'z', 'z', 'q'}) type(letter);
  shown.pass(12);
  CHECK(words_at("all data/details/title").empty());
  for (int i = 0; i < 3; ++i) {
    shown.press(ImGuiKey_Backspace);
    shown.pass();
  }
  shown.draw();
  CHECK(words_at("all data/details/title") == title);
}
