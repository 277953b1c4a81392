#include "app/session/state.h"

#include <algorithm>

#include "app/session/state_text.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/session/random_states.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

SessionState with_data() {
  SessionState state;
  state.data = "preset:copy?T=12";
  return state;
}

void refused(const std::string& more, const std::string& words) {
  CAPTURE(more);
  CHECK_THROWS_WITH(parse_state(R"({"data": "preset:copy", )" + more + "}"), says(words));
}

}  // namespace

TEST_CASE("every field of a state is written, and read as it was", "[state]") {
  for (const FieldChange& field : field_changes()) {
    CAPTURE(field.name);
    Dice dice(7);
    SessionState state = with_data();
    state.sides.push_back(state.sides.front());
    if (field.name == "head") state.data = "made in a test";
    if (field.name == "options") state.sides[0].variant = "linear";
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
  SessionState state = with_data();
  for (const EditKind& kind : edit_kinds()) {
    state.edits.push_back(random_edit(kind, dice));
    CHECK(parse_state(write_state(state)) == state);
    CHECK(parse_state_string(state_string(state)) == state);
  }
  state.edits.back().numbers.back() = -0x1.fffffffffffffp+900;
  CHECK(parse_state_string(state_string(state)) == state);
}

TEST_CASE("a state's string holds what differs from the standard, in the letters of a link", "[state]") {
  SessionState state = with_data();
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
  SessionState expected;
  expected.data = "capture:kda_overwrite_l1";
  expected.edits = {{.kind = "scale_decay", .numbers = {2}},
                    {.kind = "scale_keys", .numbers = {0.9}},
                    {.kind = "missing_strength", .numbers = {0.25}}};
  expected.head = 2;
  expected.sides = {{.variant = "kda",
                     .form = Form::chunkwise,
                     .precision = Precision::f32,
                     .chunk_size = 16,
                     .settings = {.parameters = {{"scale", 0.5}}}}};
  expected.place = {.token = 19, .operation = "solve"};
  CHECK(state == expected);
}

TEST_CASE("what is wrong in a state is refused by name", "[state]") {
  refused(R"("sides": [])", "\"sides\" has 0 entries; expected 1 to 4");
  refused(R"("sides": [{}, {}, {}, {}, {}])", "\"sides\" has 5 entries; expected 1 to 4");
  refused(R"("sides": {})", "\"sides\" is object; expected a list");
  refused(R"("sides": [{}, 4])", "side 2 is number; expected an object");
  refused(R"("sides": [{"head": 1}])", "\"head\" is no field of side 1; known: variant, ");
  refused(R"("sides": [{"variant": "nonsense"}])", "there is no variant \"nonsense\"");
  refused(R"("sides": [{"device": "abacus"}])", "there is no device \"abacus\"; expected one of: cpu, cuda");
  refused(R"("sides": [{}], "form": "parallel")", "\"form\" stands beside \"sides\"; expected one of them");
  refused(R"("place": {"token": 1}, "token": 2)", "\"token\" stands beside \"place\"");
  refused(R"("edits": [], "adjustments": {})", "\"adjustments\" stands beside \"edits\"");
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
