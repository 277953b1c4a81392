// What Compare shows: sides of the state, and what a direct run of each of them gives.

#include <fmt/format.h>

#include "app/session/compared_sides.h"
#include "app/session/state.h"
#include "core/insight/answers.h"
#include "core/insight/recall.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/session/opened.h"
#include "tests/session/random_states.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

SideAtWord at_word(const std::shared_ptr<Computation>& side, const std::shared_ptr<Computation>& reference,
                   Index token, const WordChoice& words = {}) {
  return {.of = side, .reference = reference, .asking = reference, .token = token, .words = words};
}

constexpr const char* narrow_overwrite = "preset:overwrite?T=21&K=5&V=3&seed=4";

Side side_of(const char* variant, Form form = Form::recurrent, Precision precision = Precision::f64) {
  return {.variant = variant, .form = form, .precision = precision, .chunk_size = 4};
}

}  // namespace

TEST_CASE("a side that nothing is asked of has a memory and no table", "[compare]") {
  const auto side = begun(Choice{side_of("deltanet")}, narrow_overwrite);
  const auto moment = find_out(at_word(side, side, 3, {.pinned = {}, .most = 0, .with_present = false}));
  CHECK(moment->table.after.size() == 0);
  CHECK(moment->after.length > 0);
}

TEST_CASE("what the other words stand at leaves out those told of, and no others", "[compare]") {
  const auto side = begun(Choice{side_of("gated_deltanet")}, overwriting_capture);
  const auto at = [&](Index token, const std::vector<Index>& pinned) {
    return find_out(at_word(side, side, token, {.pinned = pinned}));
  };
  CHECK(at(63, {6, 42, 63})->others ==
        "The other keys return their own values 0.35 to 0.77.");  // "key" hardly changes here
  const auto one = at(63, {42, 63});
  CHECK(one->others == fmt::format("The other key returns its own value {:.2f}.", one->table.after(0, 0)));
  CHECK(at(42, {6, 42})->others.empty());  // the sentence tells of both
  const auto early = at(63, {6, 63, 80});  // the last comes later
  CHECK(early->others ==
        fmt::format("The other key returns its own value {:.2f}.", early->table.after(0, 0)));
}

TEST_CASE("a side's memory is what its own form and precision compute up to the word", "[compare]") {
  const auto reference = begun(Choice{side_of("gated_deltanet")}, narrow_overwrite);
  for (const char* variant : {"linear", "retnet_to_scalar_decay", "gla", "gated_deltanet", "kda", "titans"}) {
    for (const Form form : all_forms) {
      for (const Precision precision : scalar_precisions) {
        const auto side = begun(Choice{side_of(variant, form, precision)}, narrow_overwrite);
        for (const Index token : {0, 6, 20}) {
          INFO(variant << " " << name(form) << " " << name(precision) << " word " << token);
          const auto moment = find_out(at_word(side, reference, token));
          REQUIRE(moment->no_memory.empty());
          Sequence first = side->sequence;
          first.tokens = token + 1;
          const Matrix<double> S = side->variant->rule->run(first, form, precision, 4).states.front().second;
          CHECK(moment->after.S == S);
          const Matrix<double> own =
              RecurrentMemory(*reference->variant, reference->sequence, *reference->trace(Form::recurrent))
                  .after(token + 1)
                  .front()
                  .second;
          CHECK(moment->after.apart == S - own);
          CHECK(moment->after.length == S.norm());
          if (token == 0) CHECK(moment->before.S.isZero(0));
        }
      }
    }
  }
}

TEST_CASE("what a side answers is the one table of answers, and the reference is no way from itself",
          "[compare]") {
  const auto reference = begun(Choice{side_of("deltanet")}, narrow_overwrite);
  const auto moment = find_out(at_word(reference, reference, 15));
  const auto words = words_asked(*reference, 15);
  const AnswerTable table = answer_table(
      *reference->variant, reference->sequence,
      RecurrentMemory(*reference->variant, reference->sequence, *reference->trace(Form::recurrent))
          .around(15),
      words);
  CHECK(moment->table.after == table.after);
  CHECK(moment->table.before == table.before);
  CHECK(moment->sentence == answer_sentence(table));
  CHECK(moment->after.apart.isZero(0));
  CHECK(moment->after.apart_length == 0);
  // Every side is asked with the same words.
  const auto other = find_out(at_word(begun(Choice{side_of("linear")}, narrow_overwrite), reference, 15));
  REQUIRE(other->table.words.size() == words.size());
  for (std::size_t i = 0; i < words.size(); ++i) CHECK(other->table.words[i].token == words[i].token);
}

TEST_CASE("a side without a memory, or with one of another shape, says so", "[compare]") {
  const auto reference = begun(Choice{side_of("gated_deltanet")}, narrow_overwrite);
  const auto softmax = begun(Choice{side_of("softmax")}, narrow_overwrite);
  const auto none = find_out(at_word(softmax, reference, 7));
  CHECK_FALSE(none->no_memory.empty());
  CHECK(none->after.S.size() == 0);
  const auto beside = find_out(at_word(reference, softmax, 7));
  CHECK(beside->no_memory.empty());
  CHECK(beside->no_difference == softmax->variant->memory.none);
  CHECK(beside->after.apart.size() == 0);
  const auto network = begun(Choice{side_of("ttt_mlp")}, narrow_overwrite);
  CHECK_THAT(find_out(at_word(network, reference, 7))->no_difference, says("×"));
}

TEST_CASE("a side says what the rule does and what these data lack of what it takes", "[compare]") {
  CHECK_THAT(side_sentence(*begun(Choice{side_of("deltanet")}, "capture:gla_recall_l1")),
             says("Not in the data: beta = 0.104"));
  Side between = moved_on_rail(side_of("linear"), 0.4);
  CHECK_THAT(side_sentence(*begun(Choice{between}, narrow_overwrite)), says("γ") && says("0.40"));
}

TEST_CASE("one side alone is compared with the usual ones, until one changes them", "[compare]") {
  SessionState state;
  CHECK(compared_sides(state).size() == most_sides);
  CHECK(compared_sides(state).front() == state.sides.front());
  for (const char* own : {"linear", "retnet", "softmax", "kda"}) {
    state.sides = {side_of(own)};
    const std::vector<Side> sides = compared_sides(state);
    REQUIRE(sides.size() == most_sides);
    for (std::size_t i = 0; i < sides.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) CHECK(sides[i].variant != sides[j].variant);
    }
  }
  state.sides = {side_of("deltanet"), side_of("deltanet", Form::chunkwise)};
  CHECK(compared_sides(state) == state.sides);
}

TEST_CASE("sides are added, taken out and made the reference", "[compare]") {
  SessionState state{.sides = {side_of("gated_deltanet"), side_of("linear")}};
  CHECK(next_side(state).variant == "deltanet");  // the nearest stop that nobody stands at
  state = with_side(state, next_side(state));
  REQUIRE(state.sides.size() == 3);
  CHECK(handle_side(state) == 2);
  state = with_reference(state, 2);
  CHECK(reference_side(state) == 2);
  state = without_side(state, 1);
  REQUIRE(state.sides.size() == 2);
  CHECK(state.sides[1].variant == "deltanet");
  CHECK(reference_side(state) == 1);  // the same side as before
  CHECK(handle_side(state) == 1);
  CHECK(without_side(state, 0).sides.size() == 2);  // two stay
  for (int i = 0; i < 5; ++i) state = with_side(state, next_side(state));
  CHECK(state.sides.size() == most_sides);
  state.compare.reference = 3;
  CHECK(reference_side(without_side(state, 3)) == 0);
}

TEST_CASE("a side on the rail goes anywhere, and stands in the order of the rail", "[compare]") {
  Side side = side_of("gated_deltanet");
  side.settings.parameters["scale"] = 2;
  side = moved_on_rail(side, 0.25);
  CHECK(side.variant == "linear_to_retnet");
  CHECK(place_on_rail(side) == 0.25);
  CHECK(side.settings.parameters.at("scale") == 2);
  side = moved_on_rail(side, 4);
  CHECK(side.variant == "deltanet");
  CHECK_FALSE(side.settings.parameters.contains(rail_parameter));
  CHECK(moved_on_rail(side, 7.4).variant == "titans");
  CHECK(moved_on_rail(side, 7.6).variant == "lact");
  CHECK(side_order({side_of("gated_deltanet"), side_of("softmax"), side_of("linear")}) ==
        std::vector<std::size_t>{2, 0, 1});
}

TEST_CASE("each side keeps its column wherever it is moved", "[compare]") {
  SessionState state{.sides = {side_of("gated_deltanet")}};
  const std::vector<std::size_t> first = column_order(state);
  CHECK(first == side_order(compared_sides(state)));
  REQUIRE(first == std::vector<std::size_t>{1, 2, 3, 0});
  for (const double place : {4.5, 2.0, 0.0, 8.0}) {
    state = with_side_as(state, 0, moved_on_rail(state.sides.front(), place));
    CHECK(column_order(state) == first);
  }
  state = without_side(state, 2);
  CHECK(column_order(state) == std::vector<std::size_t>{1, 2, 0});
  CHECK(state.sides[2].variant == "deltanet");
  state = with_side(state, side_of("gla"));
  CHECK(column_order(state) == std::vector<std::size_t>{1, 2, 0, 3});  // another one comes at the right
  state = without_side(state, 0);
  CHECK(column_order(state) == std::vector<std::size_t>{0, 1, 2});
  state.compare.columns = "01";  // of another number of sides
  CHECK(column_order(state) == side_order(state.sides));
}

TEST_CASE("sides with the same rule and settings are known as the same", "[compare]") {
  const SessionState state{.sides = {side_of("retnet"), side_of("deltanet"), side_of("retnet")}};
  const std::vector<std::size_t> order = column_order(state);
  REQUIRE(order == std::vector<std::size_t>{0, 2, 1});
  CHECK_FALSE(same_further_left(state, 0));
  CHECK(same_further_left(state, 1) == std::size_t{0});
  CHECK_FALSE(same_further_left(state, 2));
  Side given = side_of("linear");
  given.settings.options["causal"] = "true";  // as it is anyway
  CHECK(is_same_as(given, side_of("linear")));
  given.settings.options["causal"] = "false";
  CHECK_FALSE(is_same_as(given, side_of("linear")));
  CHECK_FALSE(is_same_as(side_of("deltanet"), side_of("deltanet", Form::recurrent, Precision::f32)));
  CHECK_FALSE(is_same_as(side_of("deltanet"), side_of("deltanet", Form::chunkwise)));
  Side chunks = side_of("deltanet", Form::chunkwise);
  chunks.chunk_size *= 2;
  CHECK_FALSE(is_same_as(chunks, side_of("deltanet", Form::chunkwise)));
  chunks.form = Form::recurrent;  // which has none
  CHECK(is_same_as(chunks, side_of("deltanet")));
}

TEST_CASE("a side goes along the rail in tenths, and over what does not join", "[compare]") {
  Side side = further_on_rail(side_of("linear"), 1);
  CHECK(place_on_rail(side) == 0.1);
  for (int i = 0; i < 9; ++i) side = further_on_rail(side, 1);
  CHECK(side.variant == "retnet");
  CHECK(place_on_rail(further_on_rail(side, -1)) == 0.9);
  CHECK(further_on_rail(side_of("titans"), 1).variant == "lact");
  CHECK(further_on_rail(side_of("lact"), -1).variant == "titans");
  CHECK(further_on_rail(side_of("lact"), 1) == side_of("lact"));
  CHECK(further_on_rail(side_of("linear"), -1) == side_of("linear"));
  CHECK(further_on_rail(side_of("softmax"), 1) == side_of("softmax"));
}

TEST_CASE("what is otherwise about a side is said in words", "[compare]") {
  const Side side = side_of("deltanet");
  CHECK(otherwise(side, side).empty());
  CHECK(otherwise(side_of("deltanet", Form::chunkwise, Precision::f32), side) ==
        "chunkwise, chunks of 4 · f32");
  Side batched = side_of("titans");
  batched.settings.parameters["batch"] = 4;
  CHECK(otherwise(batched, side_of("titans")) == "batch=4");
}

TEST_CASE("a side has sliders of its own, in the place of the data's", "[compare]") {
  Side half = side_of("deltanet");
  half.sliders["scale_strength"] = 0.5;
  SessionState state{.data = narrow_overwrite, .sides = {side_of("deltanet"), half, side_of("linear")}};
  set_slider(state.edits, "scale_strength", 0.7);
  set_slider(state.edits, "scale_keys", 0.9);
  CHECK(otherwise(half, state.sides[0]) == "β × 0.5");
  const auto data = shared(open_data(narrow_overwrite));
  const auto computed = begin(data, choice_of(state, half));
  Choice direct{side_of("deltanet")};
  set_slider(direct.edits, "scale_strength", 0.5);
  set_slider(direct.edits, "scale_keys", 0.9);
  CHECK(computed->reference->expected().o == begin(data, direct)->reference->expected().o);
  CHECK(computed->reference->expected().o !=
        begin(data, choice_of(state, state.sides[0]))->reference->expected().o);
  const ComputedSide with_sliders = computed_side(data, choice_of(state, half), 1);
  const ComputedSide plain = computed_side(data, choice_of(state, state.sides[0]), 1);
  CHECK((with_sliders < plain || plain < with_sliders));
  CHECK(parse_state(write_state(state)) == state);
  CHECK_THAT(why_it_stays(state, 0), says("sliders of its own"));
  CHECK(without_side(state, 0) == state);
  CHECK(without_side(state, 1).sides.size() == 2);
}

TEST_CASE("every change of sides is one entry of the history; where one looks is none", "[compare]") {
  Opened session(narrow_overwrite);
  const SessionState first = session.state();
  session.change(with_side(with_reference(first, 0), side_of("kda")));
  CHECK(session.state().sides.size() == most_sides);
  session.change(without_side(session.state(), 3));
  session.change(with_reference(session.state(), 1));
  CHECK(session.undo());
  CHECK(session.state().compare.reference == 0);
  CHECK(session.state().sides.size() == 3);
  CHECK(session.undo());
  CHECK(session.undo());
  CHECK(session.state().sides.size() == 1);
  CHECK_FALSE(session.can_undo());
  session.change([](SessionState& looked) {
    looked.compare.before = true;
    looked.compare.handle = 2;
  });
  CHECK_FALSE(session.can_undo());
  CHECK(session.state().compare.before);
  // A drag along the rail is one entry, and computes a rule between two.
  for (const double place : {4.2, 4.4, 4.6})
    session.change(with_side_as(session.state(), 0, moved_on_rail(session.state().sides.front(), place)),
                   "rail");
  session.end_merge();
  session.wait();
  CHECK(session.computed()->variant->id == "deltanet_to_gated_deltanet");
  CHECK(session.computed()->sequence.parameter(rail_parameter) == Approx(0.6));
  CHECK(session.computed()->agree);
  CHECK(session.undo());
  CHECK_FALSE(session.can_undo());
  CHECK(session.state().compare.before);  // it stays
}
