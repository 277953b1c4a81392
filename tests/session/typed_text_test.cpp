#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/session/memory_questions.h"
#include "app/session/typed_text.h"
#include "core/base/error.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Reads a text and waits until it is read.
void read_typed(Session& session, const TypedText& typed, std::string_view merge_key = {}) {
  session.read(typed, merge_key);
  session.wait();
}

}  // namespace

TEST_CASE("the id of a typed text holds all of it", "[typed text]") {
  TypedText typed = usual_text();
  typed.model = "a?b/c&d.npz";
  typed.text = "100 % of \"a & b\"?\n\tnaïve 你好 = 3";
  typed.interventions = {parse_intervention("only-add:2.1"), parse_intervention("start=/a&b=c/d.npz")};
  const TypedText back = typed_text(text_id(typed));
  CHECK(back.model == typed.model);
  CHECK(back.text == typed.text);
  CHECK(back.layer == 2);
  CHECK(back.head == 2);
  CHECK(back.interventions == typed.interventions);
  CHECK(text_id(back) == text_id(typed));
  CHECK_THROWS_WITH(typed_text("text:delta_net?layer=x&say=a"), says("layer is \"x\""));
  CHECK_THROWS_WITH(typed_text("text:delta_net?cat=1"), says("\"cat\"") && says("layer, head, do, say"));
  CHECK_THROWS_WITH(typed_text("text:delta_net?say=%4"), says("two hexadecimal digits"));
  CHECK_THROWS_WITH(typed_text("text:delta_net?do=dance&say=a"), says("no intervention \"dance\""));
  CHECK_THROWS_WITH(typed_text("texts"), says("is no typed text"));
}

TEST_CASE("data of a typed text are what enters the rule of its head", "[typed text]") {
  std::ifstream file(test_data_folder() + "/language/reference.json");
  for (const auto& each : nlohmann::json::parse(file)) {
    TypedText typed = usual_text();
    typed.text = each.at("text").get<std::string>();
    const DataSet data = open_data(text_id(typed));
    CHECK(data.rule == "deltanet");
    CHECK(data.labels == each.at("pieces").get<std::vector<std::string>>());
    const auto beta = each.at("beta_l2h2").get<std::vector<double>>();
    REQUIRE(data.tokens == std::ssize(beta));
    // The model runs in f32, three layers deep before this one.
    for (Index t = 0; t < data.tokens; ++t)
      CHECK(std::abs(data.arrays.at("beta")[t] - beta[static_cast<std::size_t>(t)]) < 1e-5);
    for (std::size_t i = 0; i < TextReading::told; ++i)
      CHECK(std::abs(data.read->said->next.back()[i].probability - each.at("top")[i][2].get<double>()) <
            1e-5);
    CHECK(data.read->said == data.read->trained);
    typed.interventions = {parse_intervention("only-add:2")};
    const DataSet changed = open_data(text_id(typed));
    CHECK(changed.rule == "linear_with_beta");
    CHECK(changed.arrays.at("v").values() == data.arrays.at("v").values());  // in whose units answers are
    CHECK(changed.read->trained == data.read->said);
    CHECK(std::abs(changed.read->said->next.back()[0].probability -
                   each.at("top_when_layer_2_only_adds")[0][2].get<double>()) < 1e-4);
  }
  CHECK_THROWS_WITH(open_data("text:delta_net?layer=4&say=a"), says("there is no layer 4; the model has 4"));
  CHECK_THROWS_WITH(open_data("text:delta_net?head=7&say=a"), says("there is no head 7"));
  CHECK_THROWS_WITH(open_data("text:nothing?say=a"),
                    says("there is no model \"nothing\"") && says("simple_gla"));
  CHECK_THROWS_WITH(open_data("text:delta_net?say=%20%0A"), says("the text has no words"));
  CHECK_THROWS_WITH(open_data("text:delta_net?say=%FF"), says("is not UTF-8"));
}

TEST_CASE("while somebody types, the answer follows, and one undo takes all of it back", "[typed text]") {
  Session session;
  REQUIRE(session.read(usual_text()));
  session.wait();
  CHECK(session.choice().variant == "deltanet");
  CHECK(session.token() == session.data().tokens - 1);
  const std::string first = session.data().id;
  TypedText typed = usual_text();
  for (const char* const letter : {" ", "l", "a", "m", "p", "."}) {
    typed.text += letter;
    read_typed(session, typed, "text");
    CHECK(session.message().empty());
    CHECK(session.data().read->typed.text == typed.text);
    CHECK(session.token() == session.data().tokens - 1);
  }
  const std::string last = session.data().id;
  typed.text.clear();
  read_typed(session, typed, "text");
  CHECK_THAT(session.message(), says("the text has no words"));
  CHECK(session.data().id == last);
  undo(session);
  CHECK(session.data().id == first);
  redo(session);
  CHECK(session.data().id == last);
  // A rule that somebody chose stays; the model's own follows its changes.
  typed = usual_text();
  typed.interventions = {parse_intervention("only-add:2")};
  read_typed(session, typed);
  CHECK(session.choice().variant == "linear_with_beta");
  choose(session, [](Choice& choice) { choice.variant = "kda"; });
  read_typed(session, usual_text());
  CHECK(session.choice().variant == "kda");
  Session other;
  REQUIRE(other.from_string(session.to_string()));
  other.wait();
  CHECK(other.data().id == session.data().id);
}

TEST_CASE("the first look at a text is at its facts, which stay asked for while one types behind them",
          "[typed text]") {
  Opened session(text_id(usual_text()));
  CHECK(session.token() == 29);
  std::string words;
  for (const Index word : session.state().words)
    words += session.data().labels[static_cast<std::size_t>(word)];
  CHECK(words == " coin map bell lamp");
  TypedText typed = usual_text();
  typed.text += " lamp.";
  typed.interventions = {parse_intervention("only-add:2")};
  read_typed(session, typed);
  CHECK(session.token() == 29);
  CHECK(session.state().words.size() == 4);
  typed.text.replace(typed.text.find("bell"), 4, "drum");
  read_typed(session, typed);
  CHECK(session.state().words == std::vector<Index>{6, 13});
}

TEST_CASE("a change of the model does not change which words are asked", "[typed text]") {
  TypedText typed = usual_text();
  typed.text =
      "The green box holds a key. Now the green box holds a stone. What does the green box hold? The green "
      "box holds a";
  const auto asked = [&] {
    Opened session(text_id(typed));
    auto words = texts_of(words_asked(*session.computed(), session.data().tokens - 1), &AskedWord::text);
    std::ranges::sort(words);
    return words;
  };
  const std::vector<std::string> trained = asked();
  CHECK(is_among("key", trained));
  CHECK(is_among("stone", trained));
  typed.interventions = {parse_intervention("only-add:2")};
  CHECK(asked() == trained);
}

TEST_CASE("the facts of the texts to start from are the words that they store", "[typed text]") {
  int seen = 0;
  for (const StartingText& start : starting_texts()) {
    TypedText typed = usual_text();
    typed.text = start.text;
    const DataSet data = open_data(text_id(typed));
    for (const Index fact : start.facts) {
      REQUIRE(fact < data.tokens);
      const std::string& label = data.labels[static_cast<std::size_t>(fact)];
      CHECK(start.text.find(" a" + label + ".") != std::string::npos);
      ++seen;
    }
  }
  CHECK(seen == 15);
}

TEST_CASE("a change of the model is made, replaced and taken back", "[typed text]") {
  TypedText typed = usual_text();
  Intervention half = targeted(typed, TextTarget::layer, "beta");
  half.value = "0.5";
  put(typed, half, true);
  Intervention twice = half;
  twice.value = "2";
  put(typed, twice, true);
  REQUIRE(typed.interventions.size() == 1);
  CHECK(in_words(typed.interventions.front()) == "layer 2: strength × 2");
  CHECK(!find_intervention(typed, targeted(typed, TextTarget::head, "beta")));
  CHECK(in_words(targeted(typed, TextTarget::head, "only-add")) == "head 2.2: only adds");
  CHECK(in_words(targeted(typed, TextTarget::all, "silent")) == "all layers: silent");
  put(typed, half, false);
  CHECK(typed.interventions.empty());
}
