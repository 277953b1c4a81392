// Lessons: their text, the places of their steps, and expressions over facts.

#include "app/lessons/walk.h"
#include "app/session/typed_text.h"
#include "core/base/error.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const Json& views() {
  static const Json all = Json::parse(R"({
    "answers": {"words": [{"text": "coin"}, {"text": "."}, {"text": "bell", "times": 2}],
                "after": [[0.5, 0.25, -1], [0, 1, 0], [0.125, 0, 2]], "sentence": "So it is.", "linear": true},
    "learning": {"edge": 2.5, "nothing": null, "losses": [4, 1, 0.5]}})");
  return all;
}

Json value_of(const char* text) { return FactExpression(text).value(views()); }

/// A lesson of one step, with `more` in it.
std::string lesson_with(const std::string& more) {
  return "# A title\n\n```lesson\nminutes = 5\n```\n\n## A step\n\n" + more;
}

using Problems = std::vector<std::pair<std::string, const char*>>;

/// For each text, what `act` refuses it with.
void check_problems(const Problems& rows, const std::function<void(const std::string&)>& act) {
  for (const auto& [text, expected] : rows) {
    INFO(text);
    CHECK_THAT(input_error([&] { act(text); }), says(expected));
  }
}

}  // namespace

TEST_CASE("an expression over facts is worked out as it is written") {
  const std::pair<const char*, Json> known[] = {
      {"1 + 2 * 3 ^ 2", 19.0},
      {"2 ^ 3 ^ 2 - -1", 65.0},  // from the left, as everything else
      {"(1 + 2) * 3 / 4", 2.25},
      {"answers.after[coin, bell]", -1.0},
      {"answers.after[\".\", 1]", 1.0},
      {"answers.after[2][2]", 2.0},
      {"-answers.after[bell, coin] * 8", -1.0},
      {"largest(answers.after[bell])", "bell"},
      {"largest(answers.after[coin]) == \"coin\"", true},
      {"min(learning.losses) + max(1, learning.losses) + sum(answers.after[0])", 0.5 + 4 - 0.25},
      {"size(learning.losses) == 3 and not answers.linear or 1 > 2", false},
      {"learning.edge >= 2.5 and learning.edge != 2 and 1e-3 < 0.002", true},
      {"abs(-3) + sqrt(16) + exp(0) + log(1)", 8.0},
      {"answers.linear", true},
      {"answers.words[bell].times", 2},
  };
  for (const auto& [text, expected] : known) {
    INFO(text);
    CHECK(value_of(text) == expected);
  }
  const FactExpression cell("answers.after[i, j] > 0.2");
  int marked = 0;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) marked += cell.is_true(views(), {i, j}) ? 1 : 0;
  CHECK(marked == 4);
  CHECK(cell.views() == std::set<std::string>{"answers"});
  CHECK(FactExpression("notable.x + orange.y").views() == std::set<std::string>{"notable", "orange"});
}

TEST_CASE("a wrong expression says where, and what was expected") {
  const Problems wrong = {
      {"", "column 1: expected a number, a name or a bracket"},
      {"1 +", "column 4: expected a number, a name or a bracket"},
      {"1 2", "column 3: expected an operator, or the end, not \"2\""},
      {"(1", "column 3: expected \")\""},
      {"answers.", "column 9: expected a field"},
      {"answers.after[coin", "column 19: expected \"]\""},
      {"\"open", "column 1: the quotation mark is not closed"},
      {"abs 3", "column 5: expected \"(\""},
      {"3 $ 4", "column 3: expected an operator"},
  };
  check_problems(wrong, [](const std::string& text) { FactExpression{text}; });
  CHECK_THROWS_WITH(FactExpression(std::string(1000, '(') + "1"), says("more than 64 levels"));
  CHECK_THROWS_WITH(FactExpression(std::string(1000, '-') + "1"), says("more than 64 levels"));
  const Problems refused = {
      {"nothing.x", "there is no view \"nothing\""},
      {"answers.before", "there is no field \"before\"; there are words, after, sentence, linear"},
      {"answers.after[lamp]", "there is no \"lamp\"; there are coin, ., bell"},
      {"answers.after[3]", "there is no entry 3; the list has 3"},
      {"answers.after[-1]", "there is no entry -1"},
      {"answers.after[0.5]", "there is no entry 0.5"},
      {"answers.after[1e300]", "there is no entry 1e+300"},
      {"learning.losses[coin]", "the entries of \"learning\" have no names"},
      {"learning.edge[0]", "has no entries"},
      {"answers.sentence + 1", "takes numbers, not \"So it is.\""},
      {"learning.nothing * 2", "not a number that is not finite, or nothing"},
      {"learning.edge and true", "takes true or false, not 2.5"},
      {"learning.edge == \"2.5\"", "cannot be equal"},
      {"largest(learning.losses)", "have no names"},
      {"size(3)", "takes a list"},
  };
  check_problems(refused, [](const std::string& text) { value_of(text.c_str()); });
  CHECK_THROWS_WITH(FactExpression("log(0)").number(views()), says("is not finite"));
}

TEST_CASE("a lesson is read with all that is in it") {
  const Lesson lesson = parse_lesson(
      "# Erase, then write\r\n\n```lesson\nminutes = 6\nneeds = lesson 7\nafter = more\nsource = A\nsource = "
      "B\n```\n\n"
      "## First\n\n```set\nat = 3\npoint = step/a\nhide = step/b\n```\n\n"
      "One **bold** $x_t$ ① `code`\nsecond line {= 1 + 1} and {2.5 = learning.edge ± 0.1}.\n\nAnother.\n\n"
      "```choose\nyes, $x$ | learning.edge > 2\nno | learning.edge <= 2\n```\n\n> After.\n> More.\n\n## "
      "Second\n\nText.\n");
  CHECK(lesson.title == "Erase, then write");
  CHECK(lesson.minutes == 6);
  CHECK(lesson.sources == std::vector<std::string>{"A", "B"});
  REQUIRE(lesson.steps.size() == 2);
  const LessonStep& step = lesson.steps.front();
  CHECK(step.at.line == 11);
  CHECK(step.settings.size() == 1);
  CHECK(step.spots.front().value == "step/a");
  CHECK(step.hidden.front().at.line == 16);
  REQUIRE(step.text.size() == 2);
  using enum LessonSpan::Kind;
  std::vector<LessonSpan::Kind> kinds;
  for (const LessonSpan& span : step.text.front()) kinds.push_back(span.kind);
  CHECK(kinds == std::vector{words, strong, words, formula, words, spot, words, code, words, number, words,
                             number, words});
  CHECK(step.text.front()[11].text == "2.5");
  CHECK(step.text.front()[11].tolerance == 0.1);
  CHECK(step.after.size() == 1);
  CHECK(true_choice(*step.question, views()) == 0);
  CHECK(views_of(step) == std::vector<std::string>{"learning"});
  CHECK(expressions_of(step).size() == 4);
}

TEST_CASE("what is wrong with a lesson is said by line and column") {
  const Problems wrong = {
      {"", "line 1, column 1: expected a title"},
      {"# A\n## B\n", "line 1, column 1: expected a block ```lesson"},
      {"# A\n```lesson\nminutes = 2\n```\n", "expected at least one step"},
      {"# A\n# B\n", "line 2, column 1: a lesson has one title"},
      {"# A\nText\n", "line 2, column 1: expected a step first"},
      {"# A\n```lesson\nminutes = many\n```\n", "line 3, column 11: this is \"many\"; expected a number"},
      {"# A\n```lesson\nlength = 2\n```\n", "there is no \"length\"; expected minutes"},
      {"# A\n```lesson\nminutes = 2\n", "line 2, column 1: this block is not closed"},
  };
  check_problems(wrong, parse_lesson);
  const Problems in_step = {
      {"A **b", "line 9, column 3: \"**\" is not closed"},
      {"A {0.5}", "line 9, column 3: expected {= EXPRESSION}"},
      {"A {0.5 = 1}", "line 9, column 3: a written number needs a tolerance"},
      {"A {= 1 ± 2}", "line 9, column 3: a written number needs a tolerance"},
      {"A {= 1 +}", "line 9, column 5: column 4: expected a number"},
      {"```ask\n```", "line 9, column 1: there is no block \"ask\""},
      {"```set\nat 3\n```", "line 10, column 1: expected NAME = VALUE"},
      {"```number\ntruth =\n```", "line 10, column 8: expected a value"},
      {"```set\npoint = a\npoint = b\npoint = c\n```",
       "line 12, column 9: a step points at two parts at most"},
      {"```choose\na | 1 < 2\n```", "line 9, column 1: expected at least two choices"},
      {"```choose\na 1 < 2\n```", "line 10, column 1: expected WORDS | EXPRESSION"},
      {"```number\nfrom = 0\n```", "line 9, column 1: expected a line truth"},
      {"```number\ntruth = 1\nfrom = 2\nto = 1\n```", "line 9, column 1: expected from = ... below to"},
      {"```mark\ntruth = 1 < 2\n```", "line 9, column 1: expected lines cells = PATH and of = TABLE"},
      {"```number\ntruth = 1\n```\n```number\ntruth = 1\n```", "line 12, column 1: a step asks one question"},
  };
  check_problems(in_step, [](const std::string& text) { parse_lesson(lesson_with(text)); });
  const auto chosen = [](const char* first, const char* second) {
    const Lesson lesson =
        parse_lesson(lesson_with(fmt::format("```choose\na | {}\nb | {}\n```\n", first, second)));
    return true_choice(*lesson.steps.front().question, views());
  };
  CHECK(chosen("1 > 2", "1 < 2") == 1);
  CHECK_THROWS_WITH(chosen("1 < 2", "1 < 2"),
                    says("line 11, column 5: this choice is true here, and so is choice 1"));
  CHECK_THROWS_WITH(chosen("1 > 2", "1 > 2"), says("line 9, column 1: none of these choices is true"));
  CHECK_THROWS_WITH(chosen("lost.x", "1 < 2"), says("line 10, column 5: there is no view \"lost\""));
}

TEST_CASE("steps set what is shown, one after the other") {
  const Lesson lesson =
      parse_lesson(lesson_with("```set\ntext = The red jar holds a coin.\ndo = only-add\nrule = deltanet\nat "
                               "= 5:error\nwords = 2, 4\nlevel = story\n```\n"
                               "## Next\n\n```set\nat = 6\nworkspace = learn\nlearn.page = "
                               "keys\nsides.0.parameters.scale = 0.5\ndo = nothing\n```\n"
                               "## Last\n\n```set\nat = 6\nhead = 1\n```\n"));
  const LessonPlace first = place_of(lesson, 0);
  CHECK(first.at == "5:error");
  CHECK(first.state.place.token == 5);
  CHECK(first.state.words == std::vector<Index>{2, 4});
  CHECK(first.state.view.level == Level::story);
  CHECK(first.state.sides.front().variant == "deltanet");
  REQUIRE(typed_text(first.state.data).interventions.size() == 1);
  const LessonPlace next = place_of(lesson, 1);
  CHECK(next.state.words == first.state.words);
  CHECK(next.state.workspace == "learn");
  CHECK(next.state.learn.page == LearnPage::keys);
  CHECK(next.state.sides.front().settings.parameters.at("scale") == 0.5);
  CHECK(typed_text(next.state.data).interventions.empty());
  const std::vector<TextPlace> idle = settings_without_effect(lesson);
  REQUIRE(idle.size() == 1);
  CHECK(idle.front().line == 29);
  const Problems wrong = {
      {"data = x\nlevel = most", "line 11, column 9: \"level\" is \"most\"; expected one of"},
      {"data = x\nspeed = 3", "there is no \"speed\" in a state"},
      {"data = x\nview.colour = 3", "there is no \"colour\" in a state"},
      {"data = x\nsides.7.variant = gla", "there is no entry 7"},
      {"data = x\nat = last", "line 11, column 6: the token of \"at\" is \"last\""},
      {"text = x\ndo = dance", "dance"},
      {"data = x\nwords = a, b", "line 11, column 9: \"a, b\" is not a list"},
      {"at = 3", "it does not say which text or data are shown"},
  };
  check_problems(wrong, [](const std::string& text) {
    place_of(parse_lesson(lesson_with("```set\n" + text + "\n```\n")), 0);
  });
}

TEST_CASE("a walk keeps what was predicted at every step") {
  LessonWalk walk;
  CHECK_FALSE(walk.is_on());
  CHECK_FALSE(walk.hides());
  walk.begin(parse_lesson(lesson_with("```choose\na | 1 < 2\nb | 1 > 2\n```\n\n## Two\n\nText.\n")), "file",
             7);
  CHECK(walk.index() == 1);  // the last one there is
  CHECK_FALSE(walk.go(1));
  CHECK(walk.go(-1));
  CHECK(walk.hides());
  walk.guess().choice = 1;
  CHECK(walk.guess().is_made());
  walk.guess().looked = true;
  CHECK_FALSE(walk.hides());
  CHECK(walk.go(1));
  CHECK_FALSE(walk.guess().is_made());
  CHECK(walk.go(-1));
  CHECK(walk.guess().choice == 1);
  CHECK(walk.progress() == "B!;;");
  LessonWalk again;
  again.begin(walk.lesson(), "file", 0, walk.progress());
  CHECK(again.guess().choice == 1);
  CHECK_FALSE(again.hides());
  CHECK(again.progress() == walk.progress());
  CHECK(steps_seen("") == 0);
  for (const char* kept : {"", "C", "C!", "0.25!", "-3", "0:2 1:3!"})
    CHECK(Guess::parse(kept).to_string() == kept);
  for (const char* broken : {"x", "1:y", ":", "1:2:3", "!", "99999999999999999999:1"})
    CHECK(Guess::parse(broken).to_string().empty());
}
