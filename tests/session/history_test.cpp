#include "app/session/state.h"

#include <algorithm>
#include <vector>

#include "core/io/array_file.h"
#include "tests/catch.h"
#include "tests/other_device.h"
#include "tests/session/random_states.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// A state that is told from others by its head.
SessionState numbered(int number, const std::string& data = "preset:copy") {
  return {.data = data, .head = number};
}

std::string at(const History& history) { return fmt::format("{}", history.present().head); }

}  // namespace

TEST_CASE("what was changed is taken back and made again in order", "[history]") {
  History history(numbered(0));
  CHECK(!history.can_undo());
  CHECK(history.undo() == numbered(0));
  for (int i = 1; i <= 3; ++i) history.change(numbered(i));
  CHECK(history.undo() == numbered(2));
  CHECK(history.undo() == numbered(1));
  CHECK(history.redo() == numbered(2));
  history.change(numbered(9));  // what was undone is forgotten
  CHECK(!history.can_redo());
  CHECK(history.redo() == numbered(9));
  CHECK(history.undo() == numbered(2));
  CHECK(history.undo() == numbered(1));
  CHECK(history.undo() == numbered(0));
  CHECK(!history.can_undo());
}

TEST_CASE("a drag is one entry, from its first change to its end", "[history]") {
  History history(numbered(0));
  for (int i = 1; i <= 5; ++i) history.change(numbered(i), "slider");
  history.end_merge();
  for (int i = 6; i <= 8; ++i) history.change(numbered(i), "slider");
  history.change(numbered(9), "another");
  history.change(numbered(10));
  history.change(numbered(11));
  std::string walked = at(history);
  while (history.can_undo()) walked += fmt::format(" {}", history.undo().head);
  CHECK(walked == "11 10 9 8 5 0");

  // After undo the same slider starts an entry of its own, and what is dragged back leaves none.
  history.redo();
  history.change(numbered(20), "slider");
  history.change(numbered(21), "slider");
  CHECK(history.undo().head == 5);
  history.change(numbered(30), "slider");
  CHECK(history.undo().head == 5);
  history.change(numbered(31), "slider");
  history.change(numbered(5), "slider");
  CHECK(at(history) == "5");
  CHECK(!history.can_redo());
  CHECK(history.undo().head == 0);
}

TEST_CASE("where one looks is no entry, but each entry knows it", "[history]") {
  History history(numbered(0));
  history.look_at({.token = 7});
  SessionState moved = numbered(0);
  moved.place.token = 9;
  history.change(moved);
  CHECK(!history.can_undo());
  history.change(numbered(1));
  CHECK(history.undo().place.token == 7);
}

TEST_CASE("of more entries than are kept the oldest are forgotten; those with many edits are fewer",
          "[history]") {
  struct Entries {
    int changes;
    std::size_t edits;  // of each
    std::size_t kept;
  };
  for (const auto& [changes, edits, kept] :
       {Entries{510, 0, History::most_entries}, Entries{100, 1000, History::most_edits_held / 1000}}) {
    CAPTURE(changes);
    History history(numbered(0));
    for (int i = 1; i <= changes; ++i) {
      SessionState state = numbered(i);
      state.edits.assign(edits, Edit{.kind = "paint_gate", .array = "beta", .numbers = {0, 0, 0.5}});
      history.change(state);
    }
    CHECK(at(history) == fmt::format("{}", changes));
    std::size_t undone = 0;
    for (; history.can_undo(); ++undone) history.undo();
    CHECK(undone + 1 == kept);
    CHECK(at(history) == fmt::format("{}", changes - static_cast<int>(undone)));
  }
}

TEST_CASE("an entry that could not be had is forgotten", "[history]") {
  struct Case {
    int undone, shown;  // what is done
    int before;         // the entry before
  };
  for (const auto& [undone, shown, before] : {Case{0, 3, 2}, {1, 4, 2}, {0, 1, 0}, {0, 7, 3}, {0, 4, 3}}) {
    CAPTURE(undone, shown);
    History history(numbered(0));
    for (int i = 1; i <= 4; ++i) history.change(numbered(i));
    for (int i = 0; i < undone; ++i) history.undo();
    history.fall_back(numbered(shown));
    CHECK(history.present() == numbered(shown));
    CHECK(!history.can_redo());
    CHECK(history.undo() == numbered(before));
  }
}

TEST_CASE("a session takes changes back, and where one looks stays while the data do", "[history]") {
  Opened session("preset:copy?T=12&K=3&V=2");
  CHECK(!session.can_undo());  // that nothing is open is nothing to go back to
  CHECK(!session.undo());
  const SessionState first = session.state();
  for (const double value : {0.9, 0.8, 0.7})
    session.choose([&](Choice& choice) { set_slider(choice.edits, "scale_keys", value); }, "scale_keys");
  session.end_merge();
  choose(session, [](Choice& choice) { choice.variant = "deltanet"; });
  session.go_to_token(5);
  CHECK(session.undo());
  CHECK(session.token() == 5);
  CHECK(slider_value(session.choice().edits, "scale_keys") == 0.7);
  CHECK(session.choice().variant == first.sides[0].variant);
  undo(session);
  CHECK(session.computed()->choice.edits.empty());
  CHECK(same_but_place(session.state(), first));
  CHECK(!session.can_undo());
  CHECK(session.redo());
  CHECK(session.redo());
  CHECK(!session.redo());
  session.wait();
  CHECK(session.computed()->variant->id == "deltanet");
  CHECK(session.token() == 5);
}

TEST_CASE("where and how one looks is no entry, and stays while changes are taken back", "[history]") {
  Opened session("preset:copy?T=12&K=3&V=2");
  choose(session, [](Choice& choice) { set_slider(choice.edits, "scale_keys", 0.5); });
  SessionState looked = session.state();
  looked.workspace = "learn";
  looked.view.theme = Theme::light;
  looked.view.state_value_by_key = true;
  looked.attention.sharpness = 3;
  session.change(looked);
  session.go_to_token(4);
  undo(session);
  CHECK(session.choice().edits.empty());
  CHECK(session.state().workspace == "learn");
  CHECK(session.state().view == looked.view);
  CHECK(session.state().attention == looked.attention);
  CHECK(session.token() == 4);
  CHECK(!session.can_undo());
  session.change_view({});
  CHECK(session.can_redo());  // a look forgets nothing that was undone
  redo(session);
  CHECK(slider_value(session.choice().edits, "scale_keys") == 0.5);
  CHECK(session.state().view == ViewOptions{});
  CHECK(session.state().workspace == "learn");

  // The precision changes numbers.
  choose(session, [](Choice& choice) { choice.precision = Precision::f32; });
  undo(session);
  CHECK(session.choice().precision == Precision::f64);
}

TEST_CASE("other data are opened again by undo, at the place where they were left", "[history]") {
  Opened session("preset:copy?T=12&K=3&V=2");
  session.go_to_token(7);
  session.step(Session::Grain::operation, 1);
  const SessionState left = session.state();
  open(session, in_memory());  // nothing but the session can open these again
  session.go_to_token(3);
  const SessionState second = session.state();
  open(session, "preset:overwrite?T=13&K=2&V=3");
  session.go_to_token(11);
  undo(session);
  CHECK(session.message().empty());
  CHECK(session.state() == second);
  CHECK(session.data().id == second.data);
  undo(session);
  CHECK(session.state() == left);
  CHECK(session.redo());
  redo(session);
  CHECK(session.data().tokens == 13);
  CHECK(session.token() == 11);
}

TEST_CASE("an entry of a file that was written anew with less in it is brought into its range", "[history]") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "layer.npz";
  const auto write = [&](Index tokens, Index heads) { write_npz(file, three({tokens, heads, 2})); };
  Session session;
  write(12, 4);
  open(session, file.string());
  change(session, [](SessionState& far) {
    far.head = 3;
    far.words = {2, 10};
    far.repeated = {9, 11};
    far.sides.front().chunk_size = 12;
  });
  REQUIRE(session.computed()->choice.head == 3);
  write(5, 2);
  open(session, file.string());
  REQUIRE(session.data().tokens == 5);
  const SessionState anew = session.state();
  const auto is_in_range = [&] {
    CHECK(session.message() == "");
    CHECK(session.state().words == std::vector<Index>{2});
    CHECK(session.state().repeated.empty());
    CHECK(session.computed()->choice.head == 1);
    CHECK(session.computed()->choice.chunk_size == 5);
    CHECK(session.computed()->sequence.tokens == 5);
    CHECK(has_valid_cursor(session));
  };
  undo(session);
  is_in_range();
  session.change_view({.numbers = false});  // the entry is what is shown: a look forgets nothing
  redo(session);
  CHECK(same_but_place(session.state(), anew));
  undo(session);
  is_in_range();
}

TEST_CASE("what is being opened is given up by undo", "[history]") {
  Opened session("preset:copy?T=12&K=3&V=2");
  session.change_view({.numbers = false});
  const SessionState before = session.state();
  session.open_named("preset:drift?T=3000&K=32&V=32");
  const bool was_under_way = session.data().id == before.data;
  undo(session);
  CHECK(session.data().id == before.data);
  CHECK(session.state() == before);
  CHECK(session.can_redo() == !was_under_way);
}

TEST_CASE("what cannot be computed or opened leaves no entry", "[history]") {
  Opened session("preset:copy?T=12&K=3&V=2");
  choose(session, [](Choice& choice) { choice.variant = "deltanet"; });
  choose(session, [](Choice& choice) { choice.settings.parameters["nonsense"] = 1; });
  CHECK_THAT(session.message(), says("has no parameter \"nonsense\""));
  session.open_named("preset:nonsense");
  session.wait();
  CHECK_THAT(session.message(), says("there is no preset"));
  undo(session);
  CHECK(session.choice().variant != "deltanet");
  CHECK(!session.can_undo());
  CHECK(session.redo());
  CHECK(!session.can_redo());
}

TEST_CASE("two thousand changes at random are written, read, taken back and made again", "[history]") {
  const OtherDevice device;  // to choose from without a GPU, too
  Session session(device.beside_cpu());
  open(session, in_memory());
  open(session, "preset:copy?T=12&K=3&V=2&seed=1");
  session.start_history();
  const SessionState first = session.state();
  const std::vector<FieldChange> fields = field_changes();
  const std::string keys[] = {"", "slider", "another"};
  Dice dice(11);
  for (int round = 0; round < 2000; ++round) {
    const FieldChange& field = dice.one_of(fields);
    SessionState next = session.state();
    switch (dice.below(8)) {
      case 0:
        session.step(static_cast<Session::Grain>(dice.below(4)), dice.below(2) == 0 ? -1 : 1);
        break;
      case 1:
        if (dice.below(2) == 0) session.end_merge();
        if (dice.below(8) == 0) session.undo();
        if (dice.below(8) == 0) session.redo();
        break;
      default:
        field.change(next, dice);
        session.change(next, dice.one_of(keys));
        // While data are being opened, changes are not yet entries of their own.
        if (field.name == "data" && dice.below(8) != 0) session.wait();
    }
    if (dice.below(16) == 0) session.wait();
    session.update();
    CAPTURE(round, field.name, session.to_json());
    REQUIRE(has_valid_cursor(session));
    REQUIRE(parse_state(write_state(session.state())) == session.state());
    REQUIRE(parse_state_string(state_string(session.state())) == session.state());
  }
  session.wait();
  while (session.redo()) session.wait();
  const SessionState last = session.state();
  int entries = 0;
  for (; session.undo(); ++entries) session.update();
  session.wait();
  CHECK(entries > 300);  // half of the fields say how one looks
  CHECK(entries + 1 < static_cast<int>(History::most_entries));
  CHECK(same_but_place(session.state(), first));
  while (session.redo()) session.update();
  session.wait();
  CHECK(same_but_place(session.state(), last));
}

namespace {

void refused(const std::string& more, const std::string& words) {
  CAPTURE(more);
  CHECK_THROWS_WITH(parse_state(R"({"data": "preset:copy", )" + more + "}"), says(words));
}

}  // namespace

TEST_CASE("every field of a state is written, and read as it was", "[state]") {
  for (const FieldChange& field : field_changes()) {
    CAPTURE(field.name);
    Dice dice(7);
    SessionState state = numbered(0, "preset:copy?T=12");
    state.sides.push_back(state.sides.front());
    if (field.name == "head") state.data = "made in a test";
    if (field.name == "sides.options") state.sides[0].variant = "linear";
    const SessionState before = state;
    for (int i = 0; i < 20 && state == before; ++i) field.change(state, dice);
    CHECK(state != before);
    CHECK(parse_state(write_state(state)) == state);
    CHECK(parse_state_string(state_string(state)) == state);
    CHECK(write_state(state) != write_state(before));
    CHECK(state_string(state) != state_string(before));
  }
}

TEST_CASE("every kind of edit is written, and read as it was", "[state]") {
  Dice dice(3);
  SessionState state = numbered(0);
  for (const EditKind& kind : edit_kinds()) {
    state.edits.push_back(random_edit(kind, dice));
    CHECK(parse_state(write_state(state)) == state);
    CHECK(parse_state_string(state_string(state)) == state);
  }
  state.edits.back().numbers.back() = -0x1.fffffffffffffp+900;
  CHECK(parse_state_string(state_string(state)) == state);
}

TEST_CASE("a state's string holds what differs from the standard, in the letters of a link", "[state]") {
  SessionState state = numbered(0, "preset:copy?T=12");
  CHECK(state_string(state) == "eyJkYXRhIjoicHJlc2V0OmNvcHk_VD0xMiJ9");  // {"data":"preset:copy?T=12"}
  state.sides.assign(most_sides, state.sides.front());
  state.data = "/home/somebody/ä long name + % & 日本.npz";
  const std::string text = state_string(state);
  CHECK(std::ranges::all_of(text,
                            [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; }));
  CHECK(parse_state_string(text) == state);
  CHECK_THROWS_WITH(parse_state_string("eyJ kYXR"),
                    says("character 4 is \" \"; expected letters, digits, - and _"));
  CHECK_THROWS_WITH(parse_state_string(""), says("not valid JSON"));
  CHECK_THROWS_WITH(parse_state_string(text.substr(0, text.size() / 2)), says("not valid JSON"));
}

TEST_CASE("session files of earlier versions still open", "[state]") {
  // As Ctrl+S wrote it before there were sides and edits.
  const SessionState state = parse_state(R"({
    "data": "capture:kda_overwrite_l1", "variant": "kda", "form": "chunkwise", "precision": "f32",
    "chunk_size": 16, "head": 2, "options": {}, "parameters": {"scale": 0.5},
    "adjustments": {"decay": 2.0, "beta": 1.0, "key_length": 0.9, "missing_alpha": 0.98, "missing_beta": 0.25},
    "token": 19, "operation": "solve", "phase": 0, "tile": 0})");
  CHECK(state == SessionState{.data = "capture:kda_overwrite_l1",
                              .edits = {{.kind = "scale_decay", .numbers = {2}},
                                        {.kind = "scale_keys", .numbers = {0.9}},
                                        {.kind = "missing_strength", .numbers = {0.25}}},
                              .head = 2,
                              .sides = {{.variant = "kda",
                                         .form = Form::chunkwise,
                                         .precision = Precision::f32,
                                         .chunk_size = 16,
                                         .settings = {.parameters = {{"scale", 0.5}}}}},
                              .place = {.token = 19, .operation = "solve"}});

  // As it was written while the workspace Verify was called Prove.
  const std::string before = R"({"data": "preset:copy", "workspace": "prove",
    "prove": {"fault": "solve-sign", "form": "chunkwise", "lens": "forms"}})";
  CHECK(parse_state(before) ==
        SessionState{.data = "preset:copy",
                     .workspace = "verify",
                     .verify = {.fault = {"solve-sign", Form::chunkwise}, .lens = ProofLens::forms}});
}

TEST_CASE("what is wrong in a state is refused by name", "[state]") {
  refused(R"("sides": [])", "\"sides\" has 0 entries; expected 1 to 4");
  refused(R"("sides": [{}, {}, {}, {}, {}])", "\"sides\" has 5 entries; expected 1 to 4");
  refused(R"("sides": {})", "\"sides\" is object; expected a list");
  refused(R"("sides": [{}, 4])", "side 2 is number; expected an object");
  refused(R"("sides": [{"head": 1}])", "\"head\" is no field of side 1; known: variant, ");
  refused(R"("sides": [{"variant": "nonsense"}])", "there is no variant \"nonsense\"");
  refused(R"("sides": [{"device": "abacus"}])", "there is no device \"abacus\"; expected one of: cpu, cuda");
  refused(R"("sides": [{"sliders": {"scale_keys": 2}}])", "the first side has");
  refused(R"("sides": [{}, {"sliders": {"set_cell": 2}}])", "is no slider");
  refused(R"("sides": [{}, {"sliders": {"scale_keys": -2}}])", "expected a number from 0");
  refused(R"("compare": {"columns": "011"})", "\"columns\" is \"011\"");
  for (const char* columns : {"011", "04"})
    refused(fmt::format(R"("compare": {{"columns": "{}"}})", columns), "each once");
  refused(R"("sides": [{}], "form": "parallel")",
          "both \"form\" and \"sides\" are given; expected one of them");
  refused(R"("place": {"token": 1}, "token": 2)", "both \"token\" and \"place\" are given");
  refused(R"("edits": [], "adjustments": {})", "both \"adjustments\" and \"edits\" are given");
  refused(R"("place": {"block": 1})", "\"block\" is no field of \"place\"; known: token, ");
  refused(R"("view": {"theme": "blue"})", "\"theme\" is \"blue\"; expected one of: dark, light");
  refused(R"("view": {"numbers": 1})", "\"numbers\" is number; expected true or false");
  refused(R"("view": {"colour": 1})", "\"colour\" is no field of \"view\"");
  refused(R"("words": [3, 2])", "\"words\" holds 2; expected whole numbers, ascending");
  refused(R"("words": [-1])", "\"words\" holds -1; expected whole numbers, ascending");
  refused(R"("repeated": [3, 2])", "\"repeated\" holds 2; expected whole numbers, ascending");
  refused(R"("repeated": [1, 2, 3])", "\"repeated\" holds 3 tokens; expected the first and the last");
  refused(R"("workspace": 1)", "\"workspace\" is number; expected a string");
  refused(R"("edits": [{"edit": "nonsense"}])", "\"edit\" is \"nonsense\"; expected one of: scale_decay, ");
  refused(R"("edits": [{"edit": "scale_keys"}])", "edit 1 (scale_keys) does not say its \"factor\"");
  refused(R"("edits": [{"edit": "scale_keys", "factor": "2"}])", "\"factor\" is string; expected a number");
  refused(R"("edits": [{"edit": "scale_keys", "factor": 2, "row": 1}])",
          "\"row\" is no field of edit 1; known: edit, factor");
}

TEST_CASE("JSON of something else is refused with what it seems to be and what was expected", "[state]") {
  const std::pair<const char*, const char*> others[] = {
      {R"({"name": "x", "version": "1", "dependencies": {}})", "a description of a package"},
      {R"({"cells": [], "metadata": {}, "nbformat": 4})", "a Jupyter notebook"},
      {R"({"theme": "dark", "scale": 1, "recent_files": []})", "the settings of Palimpsest"},
      {R"({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})",
       R"(an object with the fields "a", "b", "c", "d" and 1 more)"},
      {R"({"head": 1, "colour": "red"})", R"(an object with the fields "colour", "head")"},
      {"[1, 2]", "a list of 2 entries"},
      {"\"words\"", "a string"},
  };
  for (const auto& [text, words] : others) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_state(text), says(fmt::format("this seems to be {}; expected a session that was "
                                                          "saved here (an object with \"data\", \"sides\", "
                                                          "\"place\") or pinned places",
                                                          words)));
  }
  // The first field that no session has is named; of a session the known fields are.
  CHECK_THROWS_WITH(parse_state(R"({"head": 1, "colour": "red"})"),
                    says("\"colour\" is no field of the session"));
  CHECK_THROWS_WITH(parse_state(R"({"head": 1})"), says("it does not say which \"data\" it belongs to"));
}

TEST_CASE("brackets in brackets are refused at any depth, wherever they stand", "[state]") {
  const std::size_t depth = 400'000;  // a call for each would overrun any usual stack
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  CHECK_THROWS_WITH(parse_state(deep), says("this seems to be a list of 1 entry; expected a session"));
  refused("\"words\": " + deep, "\"words\" holds array; expected whole numbers, ascending");
  refused("\"words\": [1, " + deep + "]", "\"words\" holds array; expected whole numbers, ascending");
  refused("\"edits\": " + deep, "edit 1 is array; expected an object");
  refused("\"sides\": " + deep, "side 1 is array; expected an object");
  for (const char* field : {"head", "chunk_size", "token", "workspace"})
    refused(fmt::format("\"{}\": {}", field, deep), fmt::format("\"{}\" is array; expected", field));
  for (const char* field : {"place", "view", "adjustments", "options", "parameters"})
    refused(fmt::format("\"{}\": {}", field, deep), "is array; expected an object");
  refused("\"nothing\": " + deep, "\"nothing\" is no field of the session");
}
