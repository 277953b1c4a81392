#include "app/views/learn.h"
#include "app/views/answers.h"
#include "app/views/floor.h"
#include "app/words/step.h"
#include "tests/offscreen/drawn.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The capture that greets a newcomer, at "drum", which overwrites "key".
struct AtOverwrite : ShownProgram {
  explicit AtOverwrite(const char* variant, const Size& size = usual_sizes[0])
      : ShownProgram("learn", {}, size) {
    choose(variant);
    session.go_to_token(42);
  }
};

/// Shows one of the questions of Learn.
void ask(ShownProgram& shown, LearnPage page) {
  shown.session.change([page](SessionState& state) { state.learn.page = page; });
}

/// The first piece of a kind; null: there is none.
const FloorPiece* piece_of(const FloorMark& mark, FloorPiece::Kind kind) {
  const auto found = std::ranges::find(mark, kind, &FloorPiece::kind);
  return found == mark.end() ? nullptr : found;
}

/// The link of the floor whose words begin so.
Rectangle link_to(std::string_view words) {
  for (const Part* link : parts().below("learn/floor/edges")) {
    if (link->words.starts_with(words)) return link->where;
  }
  FAIL("no such link: " << words);
  return {};
}

}  // namespace

TEST_CASE("a loss that the step changes by rounding only is drawn as a flat line", "[learn]") {
  // The loss of token 1 is -1e10 * 5e-6; its step takes 2.5e-11 away, three of the last digits.
  const Array ones({2, 1}, std::vector<double>{1, 1});
  ShownProgram shown("learn");
  REQUIRE(shown.session.open(
      data_of({{"q", ones}, {"k", ones}, {"v", Array({2, 1}, std::vector<double>{1e10, 5e-6})}})));
  shown.session.wait();
  shown.choose("linear");
  shown.draw_at(1);
  const Rectangle loss = place_of("learn/loss/area");
  const ImVec2 dot = place_of("learn/loss/mark/dot").middle();
  CHECK(dot.y > loss.minimum.y);  // in the chart, not cut off at its side
  CHECK(dot.y < loss.maximum.y);
}

TEST_CASE("Learn follows the words that Step asks", "[learn]") {
  ShownProgram shown;
  for (const char* variant : {"gated_deltanet", "titans", "ttt_linear", "lact"}) {
    for (const Index token : {42, 51, 52}) {
      CAPTURE(variant, token);
      shown.choose(variant);
      shown.session.go_to_token(token);
      shown.draw_in("step");
      const auto answers = ask_answers(shown.application).value;
      REQUIRE(answers);
      std::vector<Index> asked;
      for (const AskedWord& word : answers->table.words) asked.push_back(word.token);
      shown.draw_in("learn");
      std::vector<Index> lanes;
      for (const Part* part : parts().below("learn/floor/lane")) {
        if (std::ranges::count(part->path, '/') == 3) lanes.push_back(std::stol(part->path.substr(17)));
      }
      CHECK(lanes == asked);
      CHECK(underlined_words(shown.session) == asked);
    }
  }
}

TEST_CASE("a step that is too long is beyond the edge, and says which token runs away", "[learn]") {
  ShownProgram shown("learn", "preset:overwrite?T=24&K=6&V=5");
  shown.choose([&](Choice& choice) {
    choice.variant = "deltanet";
    paint(choice.edits, "beta", 0, 23, 6);
  });
  shown.session.go_to_token(20);
  shown.draw(usual_sizes[1]);
  CHECK(words_beyond("learn") == "");
  CHECK(shown.session.computed()->divergence.has_value());
  const Rectangle loss = place_of("learn/loss/area");
  const float dot = place_of("learn/loss/mark/dot").middle().x;
  CHECK(dot > loss.minimum.x + 0.8F * (loss.maximum.x - loss.minimum.x));
}

TEST_CASE("Learn is drawn at every size, however small", "[learn]") {
  ShownProgram shown("learn", "preset:overwrite?T=24&K=6&V=5");
  for (const Size& size : std::vector<Size>{{16, 16}, {320, 200}, {640, 300}, {300, 1000}, {1900, 320}}) {
    CAPTURE(size.width, size.height);
    shown.resize(size);
    for (const LearnPage page : {LearnPage::step, LearnPage::keys, LearnPage::capacity}) {
      ask(shown, page);
      shown.draw();
    }
  }
}

TEST_CASE("an answer that overshoots is not green", "[learn]") {
  const Offscreen offscreen(1280, 800);  // whose colours marks have
  using Kind = FloorPiece::Kind;
  for (const double share : {1.0, 1.4, 1.75, -0.25, 2.6}) {
    CAPTURE(share);
    const FloorMark mark = lane_mark({.before = share, .now = share});
    const auto right = static_cast<float>(std::clamp(1 - std::abs(1 - share), 0.0, 1.0));
    REQUIRE(piece_of(mark, Kind::edge));
    CHECK(piece_of(mark, Kind::edge)->to == Approx(right));
    const FloorPiece* excess = piece_of(mark, Kind::hatch);
    const double beyond = share > 1 ? share - 1 : std::max(-share, 0.0);
    REQUIRE((excess != nullptr) == (beyond > 0));
    if (!excess) continue;
    CHECK(excess->from == Approx(right));
    CHECK(excess->to == Approx(std::min(static_cast<double>(right) + beyond, 1.0)));
  }
  // What the present word damages and repairs; one that it leaves as it is; one that is not there yet.
  CHECK(piece_of(lane_mark({.before = 0.9, .now = 0.4}), Kind::inset)->colour == style::colours().alarm);
  CHECK(piece_of(lane_mark({.before = 0.4, .now = 0.9}), Kind::inset)->colour == style::colours().gate);
  CHECK_FALSE(piece_of(lane_mark({.before = 0.9, .now = 0.9}), Kind::inset));
  CHECK(piece_of(lane_mark({.now = 1, .is_own = true}), Kind::side));
  CHECK_FALSE(piece_of(lane_mark({.is_there = false}), Kind::edge));

  AtOverwrite shown("gated_deltanet");
  shown.choose([&](Choice& choice) { paint(choice.edits, "beta", 42, 42, 2.26); });
  const Computation& computed = *shown.session.computed();
  const std::vector<Index> tokens = {6, 42};
  const std::vector<Index> moments = {0, 20, 42, 43};
  const Remembered remembered = palimpsest::remembered(*computed.variant, computed.sequence, tokens, moments);
  const LaneState drum = lane_state(remembered, 1, 42, 43, 1);
  CHECK(drum.is_own);
  CHECK(drum.now > 1.5);
  CHECK(drum.now == remembered.shares(1, 3));
  CHECK(drum.before == remembered.shares(1, 2));
  CHECK_FALSE(lane_state(remembered, 1, 20, 21, 1).is_there);
  CHECK(lane_state(remembered, 0, 20, 21, 1).is_there);
}

TEST_CASE("a lane says in words what it measures", "[learn]") {
  RecalledAt at{.word = "“drum”", .present = "“the”", .state = {.before = 1, .now = 1.83}};
  CHECK(recalled_words(at) ==
        "“drum” after “the”.\nIts key retrieves 1.83 of its value, 0.83 too much.\n“the” damages it: 1.00 "
        "before, 1.83 now.");
  at.state.now = 1;
  CHECK(recalled_words(at).ends_with("Its key retrieves 1.00 of its value.\n“the” does not change it."));
  at.beside = 5;
  CHECK(
      recalled_words(at).ends_with("Its key retrieves 1.00 of its value.\nFitted jointly with the other 5 "
                                   "shown here.\n“the” does not change it."));
  at.beside = 0;
  at.is_alignment = true;
  CHECK(recalled_words(at).find("The cosine of the returned value and its own is 1.00.") !=
        std::string::npos);
  at.state.is_there = false;
  CHECK(recalled_words(at) == "“drum” is not in the memory yet.");
  CHECK(recalled_legend(false).title != recalled_legend(true).title);
  CHECK(recalled_legend(false).measure != recalled_legend(true).measure);
}

TEST_CASE("the first words beyond the edges are named, and a click goes there", "[learn]") {
  AtOverwrite shown("gated_deltanet");
  shown.choose([&](Choice& choice) {
    paint(choice.edits, "beta", 0, shown.session.computed()->sequence.tokens - 1, 0.5);
    paint(choice.edits, "beta", 12, 12, 1.5);
    paint(choice.edits, "beta", 42, 42, 2.26);
  });
  shown.session.go_to_token(20);
  for (const Size& size : usual_sizes) {
    shown.draw(size);
    CHECK(words_beyond("learn") == "");
    shown.click(link_to("β‖k‖² > 2 first at token 43 “drum”"));
    CHECK(shown.session.token() == 42);
    shown.click(link_to("β‖k‖² > 1 first at token 13 "));
    CHECK(shown.session.token() == 12);
  }
  shown.draw_as([&](Choice& choice) { choice.edits.clear(); });
  CHECK(parts().below("learn/floor/edges").empty());
}

TEST_CASE("from inside a batch a click goes to the word after which it is written", "[learn]") {
  AtOverwrite shown("lact");
  const Index size = inner_batch(shown.session.computed()->sequence.settings);
  const Index last = 42 / size * size + size - 1;
  REQUIRE(last != 42);
  shown.draw();
  shown.click(place_of("learn/made after"));
  CHECK(shown.session.token() == last);
  shown.draw();
  CHECK_FALSE(parts().find("learn/made after"));
}

TEST_CASE("words beside points of the loss keep apart", "[learn]") {
  AtOverwrite shown("gated_deltanet");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    for (const char* variant : {"gated_deltanet", "deltanet", "titans", "linear", "longhorn", "kda"}) {
      for (const double beta : {0.02, 0.3, 0.95, 1.9, 2.26}) {
        CAPTURE(size.width, variant, beta);
        shown.choose([&](Choice& choice) {
          choice.variant = variant;
          choice.edits.clear();
          if (std::string_view(variant) == "gated_deltanet") paint(choice.edits, "beta", 42, 42, beta);
        });
        shown.draw();
        const std::vector<Rectangle> tags = places_below("learn/loss/label");
        CHECK(tags.size() >= 2);
        check_apart(tags, 0);
        if (std::string_view(variant) != "gated_deltanet") break;
      }
    }
  }
}

TEST_CASE("where directions are compared a lane says what is asked of this memory", "[learn]") {
  const auto said = [](const char* id) { return recalled_measure(true, find_variant(id)); };
  CHECK(said("kernel").find("divides its output") != std::string::npos);
  CHECK(said("mesanet").find("solved for") != std::string::npos);
  CHECK(said("ttt_mlp").find("inner model") != std::string::npos);
  CHECK(said("ttt_linear").find("inner model") != std::string::npos);
  CHECK(said("lact").find("The key itself queries the memory") != std::string::npos);
  for (const char* id : {"lact", "ttt_linear", "ttt_mlp", "mamba", "mesanet"}) {
    CAPTURE(id);
    CHECK(said(id).find("divides") == std::string::npos);
  }
  CHECK(recalled_measure(false, find_variant("deltanet")) == recalled_legend(false).measure);
}

TEST_CASE("the sliders of Learn stand still whatever the sentence above them says", "[learn]") {
  AtOverwrite shown("deltanet");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    std::vector<float> tops;
    for (const double beta : {0.02, 0.5, 1.0, 1.75, 2.26, 30.0}) {
      shown.choose([&](Choice& choice) {
        choice.edits.clear();
        paint(choice.edits, "beta", 42, 42, beta);
      });
      shown.draw();
      tops.push_back(parts().find("learn/side/numbers")->where.minimum.y);
    }
    CAPTURE(size.width, tops);
    CHECK(tops.front() > 100);
    CHECK(std::ranges::count(tops, tops.front()) == std::ssize(tops));
  }
}

TEST_CASE("the bars of Learn's floor tell their word and their number", "[learn]") {
  AtOverwrite shown("gated_deltanet", usual_sizes[1]);
  shown.draw();
  const Computation& computed = *shown.session.computed();
  const auto told_at = [&](const char* row) {
    const Part* cursor = parts().find("learn/floor/cursor");
    REQUIRE(cursor);
    REQUIRE(parts().find(row));
    shown.point({cursor->where.minimum.x + 4, place_of(row).middle().y}, 40);
    return words_at("learn/floor/tip");
  };
  const double beta = *computed.tokens[42].beta;
  const double alpha = *computed.tokens[42].kept;
  CHECK_THAT(told_at("learn/floor/lane/42"), says("“drum” (token 43) after “drum” (token 43).\n"));
  CHECK_THAT(told_at("learn/floor/strength"), says("“drum” (token 43)\nβ‖k‖² = ") &&
                                                  says("effective step size") &&
                                                  says(fmt::format("\nβ = {:.3g}", beta)));
  CHECK_THAT(told_at("learn/floor/gate"),
             says(fmt::format("“drum” (token 43)\nα = {:.4g}: half-life ", alpha)));
  const Recall* recall = computed.recall(42);
  REQUIRE(recall);
  CHECK_THAT(told_at("learn/floor/error"),
             says(fmt::format("“drum” (token 43)\n‖e‖ before the write {:.3g}, after {:.3g}",
                              std::sqrt(2 * recall->before), std::sqrt(2 * recall->after))));
  Keeping keeping{.array = "forget", .symbol = "f", .forgets = true, .channels = 4};
  keeping.mean = Vector<double>::Constant(60, 0.98);
  keeping.least = Vector<double>::Constant(60, 0.9);
  keeping.most = Vector<double>::Constant(60, 1);
  CHECK(half_life_row(computed, keeping, -1).tip(42) ==
        "“drum” (token 43)\nf = 0.02: keeps 0.98 of the memory on average, 0.9 to 1 in its 4 channels: " +
            half_life_words(0.98));
  CHECK_THAT(half_life_row(computed, keeping, 2).tip(42), says(" in row 3: half-life 34 "));
  const FloorColumns columns = {.position = {0, 0}, .size = {60, 100}, .tokens = 60, .column = 1};
  CHECK_THAT(growth_row(computed, columns).tip(42),
             says("“drum” (token 43)\nroot mean square of the entries of S after the write: "));
}

TEST_CASE("the name of every rule has room in the top bar", "[learn]") {
  for (const Size& size : usual_sizes) {
    ShownProgram shown("learn", "preset:one_fact", size);
    shown.pass();
    for (const Variant& variant : variants()) {
      shown.choose(variant.id);
      shown.pass();
      CHECK_THAT(words_at("variant"), says(variant.label));
    }
  }
}

TEST_CASE("Learn shows every rule at every size, or says why not, and cuts no sentence", "[learn]") {
  ShownProgram shown("learn");
  const std::set<std::string_view> on_all_pages = {"deltanet", "softmax", "ttt_mlp"};
  const std::set<std::string_view> has_spectrum = {"gated_deltanet", "kda", "linear"};  // beside the sliders
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    for (const LearnPage page : all_of<LearnPage>) {
      for (const Variant& variant : variants()) {
        if (page != LearnPage::step && !on_all_pages.contains(variant.id)) continue;
        CAPTURE(variant.id, size.width, name(page));
        shown.choose(variant.id);
        shown.session.go_to_token(42);
        ask(shown, page);
        shown.draw();
        CHECK(words_beyond("learn") == "");
        const Part* const spectrum = parts().find("learn/side/spectrum");
        if (size.width == 1920 && page == LearnPage::step && has_spectrum.contains(variant.id)) {
          REQUIRE(spectrum);
          CHECK(spectrum->is_whole());
        }
        if (page == LearnPage::step)
          CHECK((parts().find("learn/reason") == nullptr) == (variant.loss.problems != nullptr));
        for (const CutPiece& piece : drawn_cut_words()) {
          // Names of data, rules and sliders are no sentences.
          const bool is_name = std::ranges::count(piece.whole, ' ') < 4;
          if (!is_name && piece.window.find("Top bar") == std::string::npos)
            FAIL_CHECK(piece.window << ": " << piece.whole);
        }
      }
    }
  }
}
