#include "app/session/event_marks.h"

#include "tests/catch.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Tokens at which nothing happens but a strong write at the end: they write a little, fade alike and are
/// known alike.
struct Quiet : Computation {
  Quiet() {
    for (auto& form : forms) form = std::make_shared<FormResult>();
    tokens.assign(21, {.alpha = 0.9, .beta = 0.1, .written = 0.4});
    tokens[20].written = 1;
    written_by = "beta";
    TokenRecalls known;
    known.tokens.assign(21, {.before = 0.5, .after = 0.25});
    recalls = std::make_shared<const TokenRecalls>(known);
  }
};

/// What is marked at a token; empty: nothing is.
std::string at(const Computation& computed, Index token) {
  const auto mark = next_mark(computed, token - 1, 1);
  return mark && mark->token == token ? mark->words : "";
}

}  // namespace

TEST_CASE("where nothing happens there is no mark, and a strong write is one", "[marks]") {
  Quiet computed;
  CHECK(next_mark(computed, 0, 1)->token == 20);
  CHECK(next_mark(computed, 19, 1)->words == "erases and writes strongly");
  CHECK(!next_mark(computed, 20, 1));
  CHECK(!next_mark(computed, 20, -1));
  computed.tokens[7].written = 0.5;  // half as strong as the strongest
  CHECK(next_mark(computed, 20, -1)->token == 7);
  CHECK(!next_mark(computed, 7, -1));
  computed.written_by = "";
  CHECK(at(computed, 7) == "writes strongly");
}

TEST_CASE("every kind of event is a mark of its own words", "[marks]") {
  Quiet computed;
  computed.tokens[3].alpha = 0.5;
  CHECK(at(computed, 3) == "fades more than most words");
  TokenRecalls recalls = *computed.recalls;
  recalls.tokens[4].before = 8;
  recalls.tokens[6].before = std::nan("");
  computed.recalls = std::make_shared<const TokenRecalls>(recalls);
  CHECK(at(computed, 4) == "is further off before its write than most words");
  CHECK(at(computed, 6) == "is further off before its write than most words");
  CHECK(at(computed, 5).empty());
  computed.divergence = Divergence{.token = 9, .cause_token = 8};
  CHECK(at(computed, 8) == "makes the memory run away");
  CHECK(at(computed, 9) == "has run away");
  auto wrong = std::make_shared<FormResult>();
  wrong->first_bad_token = 9;
  computed.forms[2] = wrong;
  CHECK(at(computed, 9) == "has run away, is the first at which a form is wrong");
  computed.tokens[20].written = 1.5;
  CHECK(at(computed, 20) == "erases and writes strongly, overshoots its value");
}

TEST_CASE("a rule without a memory to ask, and no tokens at all", "[marks]") {
  Computation computed;
  for (auto& form : computed.forms) form = std::make_shared<FormResult>();
  CHECK(!next_mark(computed, 0, 1));
  computed.tokens.resize(5);
  CHECK(!next_mark(computed, 4, -1));
}
