#include "app/views/verify.h"
#include "app/session/inputs.h"
#include "app/words/forms.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr std::string_view line_labels = "verify/floor/difference/label";
constexpr std::string_view lost_marks = "verify/floor/difference/mark/lost";

/// Nothing of what was drawn is cut or lies over another thing.
void check_places(const Size& size = usual_sizes[0]) {
  const auto width = static_cast<float>(size.width);
  const Part* words = parts().find("verify/floor/words");
  REQUIRE(words);
  const Rectangle chart = place_of("verify/floor/difference/area");
  for (const Part* label : parts().below(line_labels)) {
    INFO(label->words);
    CHECK(label->where.minimum.x >= chart.minimum.x);
    CHECK(label->where.maximum.x <= chart.maximum.x);
    CHECK(label->where.maximum.y <= words->where.minimum.y + 1);
  }
  check_apart(places_below(line_labels), 0);
  CHECK(words->where.maximum.y < static_cast<float>(size.height));
  const Rectangle heads = place_of("verify/grid/cells/heads");
  const std::vector<Rectangle> names = places_below("verify/grid/cells/heads");
  CHECK(names.size() > 1);
  for (const Rectangle& name : names) {
    CHECK(name.minimum.y >= heads.minimum.y);
    CHECK(name.maximum.x < width);
  }
  for (const Part* part : parts().below("verify/where/wrong")) {
    CHECK(part->where.minimum.x > 0);
    CHECK(part->where.maximum.x < width);
    CHECK(part->where.maximum.y < chart.minimum.y);
  }
}

}  // namespace

TEST_CASE("Verify shows every variant with and without a fault, at every size, in both themes", "[verify]") {
  ShownProgram shown("verify", "preset:overwrite?T=24&K=6&V=6");
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    for (const char* variant : {"softmax", "linear", "gated_deltanet", "kda", "mesanet", "ttt_mlp", "lact"}) {
      for (const Theme theme : all_of<Theme>) {
        if (theme == Theme::light && size.width == 1280 && std::string(variant) != "gated_deltanet") continue;
        CAPTURE(variant, size.width);
        shown.set_theme(theme);
        inject(shown.application, "");
        shown.draw_as(variant, Form::chunkwise);
        CHECK(flagged_token() == -1);
        CHECK(parts().below(line_labels).size() >= 2);
        CHECK_FALSE(said_by("verify", "said").empty());
        check_places(size);
        inject(shown.application, "strength-forgotten");
        shown.draw();
        check_places(size);
        const auto figures = ask_present_fault(shown.application);
        REQUIRE(figures.value);
        if (!figures.value->departure) continue;
        CHECK(flagged_token() == (figures.value->first_wrong >= 0 ? figures.value->first_wrong
                                                                  : figures.value->departure->token));
        CHECK(wrong_pictures(figures.value->departure->operation).size() == 3);
      }
    }
  }
}

TEST_CASE("labels of Verify's lines keep clear of the marks of lost numbers", "[verify]") {
  ShownProgram shown("verify");
  for (const auto& [width, height] : {std::pair(960, 600), std::pair(1920, 1080)}) {
    shown.resize({width, height});
    for (const Index token : {0, 10}) {
      CAPTURE(token, width);
      shown.draw_at(token);
      CHECK_FALSE(parts().below(lost_marks).empty());
      for (const Part* label : parts().below(line_labels)) {
        INFO(label->words);
        for (const Rectangle& mark : places_below(lost_marks)) CHECK_FALSE(overlap(label->where, mark));
      }
      if (width < 1920) continue;
      // With room beside the cells every rule has its whole name.
      for (const CutPiece& piece : drawn_cut_words()) {
        CHECK(
            std::ranges::none_of(variants(), [&](const Variant& each) { return each.label == piece.whole; }));
      }
    }
  }
}

TEST_CASE(
    "Verify calls tensors by words, cuts no fault's name, and flags the first wrong token from anywhere",
    "[verify]") {
  ShownProgram shown("verify");
  shown.draw_as("gated_deltanet", Form::chunkwise);
  for (const std::string& words : said_by("verify", "said")) CHECK_THAT(words, !says("_"));
  for (const CutPiece& cut : drawn_cut_words()) {
    INFO(cut.whole);
    CHECK(std::ranges::none_of(faults(), [&](const Fault& fault) { return fault.label == cut.whole; }));
  }
  CHECK(array_words("final_state") == "the memory");
  CHECK(array_words("final_Hkk") == "the memory's Hkk");

  inject(shown.application, "solve-sign");
  for (const Index token : {1, 90}) {
    shown.draw_at(token);
    CHECK(flagged_token() == 1);
    CHECK(words_at("verify/floor/difference/label/first wrong token") ==
          std::string(token == 90 ? "← " : "") + "first difference: token 2 “The”");
  }
}

TEST_CASE("what should be has its own scale where a fault is so large that it would be blank", "[verify]") {
  ShownProgram shown("verify", "preset:random?T=128&K=4&V=4&seed=1");
  for (const bool explodes : {true, false}) {
    const std::string fault = explodes ? "solve-sign" : "no-solve";
    shown.choose("deltanet", Form::chunkwise, 64);
    inject(shown.application, fault);
    const auto place = find_out(
        WrongHere{.of = without_fault(shown.session.computed()), .form = Form::chunkwise, .fault = fault});
    REQUIRE(*place);
    const double largest = (*place)->tensor.should_be.cwiseAbs().maxCoeff();
    INFO((*place)->range << " " << largest);
    CHECK(((*place)->should_range == largest) == explodes);
    CHECK(((*place)->should_range == (*place)->range) != explodes);
  }
}

TEST_CASE("Verify's axis reaches the largest error; what is beyond all axes says how far", "[verify]") {
  ShownProgram shown("verify");
  for (const int tokens : {40, 400}) {
    shown.open("preset:random?T=" + std::to_string(tokens) + "&K=4&V=4&seed=1");
    shown.choose("deltanet", Form::recurrent);
    inject(shown.application, "write-sign");
    shown.draw(usual_sizes[1]);
    const auto fault = ask_present_fault(shown.application).value;
    REQUIRE(fault);
    const double most = std::ranges::max(fault->errors);
    INFO(tokens << " tokens, " << most);
    const std::vector<std::string> labels = words_below(line_labels);
    const auto label = std::ranges::find_if(labels, [](const std::string& words) {
      return words.starts_with("recurrent, Wrong sign of the write");
    });
    REQUIRE(label != labels.end());
    const bool is_beyond = tokens == 400;
    REQUIRE(is_beyond == (most > 1e15));
    REQUIRE(most > 10);  // else the axis need not grow
    // The upper side of the chart is twice the last number beside it.
    const Rectangle chart = place_of("verify/floor/difference/area");
    for (const Rectangle& line : places_below("verify/floor/difference/series"))
      CHECK(line.minimum.y > chart.minimum.y + 1);
    CHECK((label->find("↑") != std::string::npos) == is_beyond);
  }
}

TEST_CASE("a vector that a fault makes wrong takes the room that a matrix would", "[verify]") {
  ShownProgram shown("verify");  // its scale is not 1
  shown.choose("gated_deltanet", Form::recurrent);
  shown.resize(usual_sizes[1]);
  float heights[2] = {};
  for (const bool is_vector : {false, true}) {
    inject(shown.application, is_vector ? "scale-twice" : "write-sign");
    shown.draw();
    const auto figures = ask_present_fault(shown.application);
    REQUIRE(figures.value);
    REQUIRE(figures.value->departure);
    const std::vector<Rectangle> pictures = wrong_pictures(figures.value->departure->operation);
    REQUIRE(pictures.size() == 3);
    heights[is_vector] = pictures[0].maximum.y - pictures[0].minimum.y;
  }
  CHECK(heights[1] > 0.5F * heights[0]);
}

TEST_CASE("every fault can be drawn in Verify and stepped through in Step, in every form", "[verify]") {
  ShownProgram shown("step", "preset:overwrite?T=11&K=4&V=4");
  int stepped = 0;
  for (const char* variant : {"gated_deltanet", "softmax", "titans", "ttt_linear"}) {
    for (const Form form : all_forms) {
      inject(shown.application, "");
      shown.choose(variant, form);
      if (!shown.session.computed()->form(form).missing.empty()) continue;
      for (const Fault& fault : faults()) {
        CAPTURE(variant, name(form), fault.id);
        shown.application.enter("verify");
        inject(shown.application, fault.id);
        shown.session.wait();
        if (!shown.session.computed()->no_fault.empty()) continue;
        shown.draw();
        shown.draw_in("step");
        const auto figures = ask_present_fault(shown.application);
        REQUIRE(figures.value);
        if (figures.value->noticed() && figures.value->first_wrong >= 0) {
          CHECK_FALSE(is_in_order(*shown.session.computed()));
          CHECK_THAT(agreement_words(*shown.session.computed()), says(name(form)));
        }
        ++stepped;
      }
    }
  }
  CHECK(stepped > 40);
}

TEST_CASE("Verify shows every fragile form on data that break it and data that do not", "[verify]") {
  ShownProgram shown("verify", "preset:random?T=70&K=16&V=5&seed=2");
  shown.choose("gated_deltanet", Form::chunkwise);
  for (const FragileForm& fragile : fragile_forms()) {
    for (const bool breaks : {true, false}) {
      CAPTURE(fragile.way.id, breaks);
      shown.session.change([&](SessionState& state) {
        state.verify.fragile = fragile.way.id;
        state.verify.breaks = breaks;
      });
      shown.draw();
      const std::size_t lines = parts().below("verify/floor/difference/series").size();
      REQUIRE((lines == 2 || (lines == 1 && !breaks)));  // lines that coincide are one
      CHECK((flagged_token() >= 0) == (breaks || fragile.always_wrong));
      check_places();
    }
  }
}

TEST_CASE("Verify with one token and with many, of which it says why no fault has a number yet", "[verify]") {
  for (const int tokens : {1, 40, 1025, 1500}) {
    ShownProgram shown("verify", tokens == 1 ? "preset:random?T=1&K=1&V=1&seed=1"
                                             : fmt::format("preset:random?T={}&K=4&V=3&seed=1", tokens));
    for (const char* fault : {"", "write-sign"}) {
      inject(shown.application, fault);
      shown.draw();
      check_places();
      if (*fault != '\0') continue;
      const std::string untried = words_at("verify/side/faults/untried");
      CHECK(untried.empty() == (tokens <= 1024));
      if (tokens > 1024) CHECK_THAT(untried, says(fmt::format("{} tokens", tokens)));
    }
  }
}

TEST_CASE("Verify marks the gates that underflow in a precision", "[verify]") {
  ShownProgram shown("verify", "preset:overwrite?T=24&K=6&V=6");
  shown.choose("gated_deltanet", Form::chunkwise);
  shown.draw(usual_sizes[1]);
  CHECK(parts().below(lost_marks).empty());
  CHECK(words_at("verify/headline/lost").empty());
  shown.session.choose([](Choice& choice) {
    choice.edits.push_back({.kind = "paint_gate", .array = "alpha", .numbers = {3, 7, 1e-9}});
  });
  shown.draw();
  REQUIRE(shown.session.message().empty());
  CHECK_FALSE(parts().below(lost_marks).empty());
  CHECK(words_at("verify/headline/lost") == "underflows to 0");
  const std::string row = words_at("verify/where/agreement/mark/row/chunkwise f16");
  CHECK_THAT(row, says("f16: the gate") && says("underflows to 0 at token 4"));
}

TEST_CASE("while other data come, Verify draws no line over words that it is not of", "[verify]") {
  ShownProgram shown("verify");
  shown.draw();
  const char* data[] = {"preset:random?T=300&K=4&V=4", "preset:copy?T=12&K=4&V=4",
                        "preset:recall?T=150&K=6&V=6"};
  for (int round = 0; round < 2; ++round) {
    for (const char* id : data) {
      CAPTURE(id);
      shown.session.open_named(id);
      shown.session.change(&SessionState::verify, {.fault = {.id = "write-sign", .form = Form::chunkwise}});
      for (int i = 0; i < 400 && (shown.session.data().id != id || i < 20); ++i) {
        shown.pass();
        REQUIRE(shown.application.undrawn() == "");
      }
      shown.session.wait();
      shown.session.change(&SessionState::verify, VerifyState{});
    }
  }
}

TEST_CASE("the red pill says what is wrong, where, and how it is taken out", "[verify]") {
  for (const Fault& fault : faults()) {
    const std::string words = fault_explained({fault.id, Form::chunkwise});
    CHECK_THAT(words, says(fault.label) && says(fault.sentence) && says("into the chunkwise form") &&
                          says("A click removes it"));
  }
}

TEST_CASE("the worst case of a rule with several steps per token opens in every workspace", "[verify]") {
  VerifyPlan plan;
  plan.variants = {"deltaproduct"};
  plan.lengths = {17};
  plan.sizes = {{5, 4}};
  const VerifyReport report = verify(plan);
  REQUIRE_FALSE(report.results.empty());
  ShownProgram shown;
  shown.session.open(data_of_case(*report.results.front().worst_case));
  shown.session.wait();
  REQUIRE(shown.session.message().empty());
  for (const Workspace& workspace : workspaces()) {
    CAPTURE(workspace.id);
    shown.draw_in(workspace.id);
    CHECK(shown.session.computed()->variant->id == "deltaproduct");
  }
}
