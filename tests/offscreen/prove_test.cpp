#include "app/views/prove.h"

#include <imgui.h>

#include "app/scene/parts.h"
#include "app/session/inputs.h"
#include "app/studio/application.h"
#include "app/views/form_words.h"
#include "app/widgets/text.h"
#include "app/window/offscreen.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/plots.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr std::string_view line_labels = "prove/floor/difference/label";
constexpr std::string_view lost_marks = "prove/floor/difference/mark/lost";

/// Why no fault has a number beside it.
std::string untried() {
  const Part* const found = parts().find("prove/side/faults/untried");
  return found ? found->words : std::string();
}

void choose(Application& application, const std::string& variant, Form form) {
  Choice choice = application.session.choice();
  choice.variant = variant;
  choice.form = form;
  application.session.choose(std::move(choice));
  application.session.wait();
}

/// Nothing of what was drawn is cut or lies over another thing.
void check_places(int width, int height) {
  const ProveMap& map = prove_map();
  const Part* words = parts().find("prove/floor/words");
  REQUIRE(words);
  const Rectangle chart = place_of("prove/floor/difference/area");
  const std::vector<const Part*> labels = parts().below(line_labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    INFO(labels[i]->words);
    CHECK(labels[i]->where.minimum.x >= chart.minimum.x);
    CHECK(labels[i]->where.maximum.x <= chart.maximum.x);
    CHECK(labels[i]->where.maximum.y <= words->where.minimum.y + 1);
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(labels[i]->where, labels[j]->where));
  }
  CHECK(words->where.maximum.y < static_cast<float>(height));
  CHECK_FALSE(map.form_names.empty());
  for (const Rectangle& name : map.form_names) {
    CHECK(name.minimum.y >= map.heads_top);  // f64 and f32 stand above it
    CHECK(name.maximum.x < static_cast<float>(width));
  }
  for (const Rectangle& tensor : map.tensors) {
    CHECK(tensor.minimum.x > 0);
    CHECK(tensor.maximum.x < static_cast<float>(width));
    CHECK(tensor.maximum.y < chart.minimum.y);
  }
}

}  // namespace

TEST_CASE("Prove shows every variant with and without a fault, at every size, in both themes", "[prove]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=6"));
  application.session.wait();
  application.enter("prove");
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const char* variant : {"softmax", "linear", "gated_deltanet", "kda", "mesanet", "ttt_mlp", "lact"}) {
      for (const Theme theme : all_themes) {
        if (theme == Theme::light && width == 1280 && std::string(variant) != "gated_deltanet") continue;
        CAPTURE(variant, width);
        application.change_view([&](ViewOptions& view) { view.theme = theme; });
        inject(application, "");
        choose(application, variant, Form::chunkwise);
        draw_fully(application, offscreen);
        CHECK(prove_map().flag == -1);
        CHECK(parts().below(line_labels).size() >= 2);
        CHECK_FALSE(parts().words("prove", "said").empty());
        check_places(width, height);
        inject(application, "strength-forgotten");
        draw_fully(application, offscreen);
        check_places(width, height);
        const auto figures = ask_present_fault(application);
        REQUIRE(figures.value);
        if (!figures.value->departure) continue;
        CHECK(prove_map().flag == figures.value->departure->token);
        CHECK(prove_map().operation == figures.value->departure->operation);
        CHECK(prove_map().tensors.size() == 3);
      }
    }
  }
}

TEST_CASE("labels of Prove's lines keep clear of the marks of lost numbers", "[prove]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.enter("prove");
  for (const auto& [width, height] : {std::pair(700, 600), std::pair(1920, 1080)}) {
    Offscreen offscreen(width, height);
    for (const Index token : {0, 10}) {
      CAPTURE(token, width);
      application.session.go_to_token(token);
      draw_fully(application, offscreen);
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

TEST_CASE("the flag of Prove tells the first wrong word from wherever one looks", "[prove]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.enter("prove");
  choose(application, "gated_deltanet", Form::chunkwise);
  inject(application, "solve-sign");
  Offscreen offscreen(1280, 800);
  for (const Index token : {1, 90}) {
    application.session.go_to_token(token);
    draw_fully(application, offscreen);
    CHECK(prove_map().flag == 1);
    REQUIRE(parts().find("prove/floor/difference/label/first wrong word"));
    CHECK(parts().find("prove/floor/difference/label/first wrong word")->words ==
          std::string(token == 90 ? "← " : "") + "first wrong word: “The”, token 1");
  }
}

TEST_CASE("Prove calls tensors and arrays by words, and cuts no fault's name", "[prove]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.enter("prove");
  choose(application, "gated_deltanet", Form::chunkwise);
  Offscreen offscreen(1280, 800);
  draw_fully(application, offscreen);
  for (const std::string& words : parts().words("prove", "said")) CHECK_THAT(words, !says("_"));
  for (const CutPiece& cut : drawn_cut_words()) {
    INFO(cut.whole);
    CHECK(std::ranges::none_of(faults(), [&](const Fault& fault) { return fault.label == cut.whole; }));
  }
  CHECK(array_words("final_state") == "the memory");
  CHECK(array_words("final_Hkk") == "the memory's Hkk");
}

TEST_CASE("what should be has its own scale where a fault is so large that it would be blank", "[prove]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=128&K=4&V=4&seed=1"));
  application.session.wait();
  application.enter("prove");
  for (const bool explodes : {true, false}) {
    Choice choice = application.session.choice();
    choice.variant = "deltanet";
    choice.form = Form::chunkwise;
    choice.chunk_size = 64;
    application.session.choose(std::move(choice));
    application.session.wait();
    inject(application, explodes ? "solve-sign" : "no-solve");
    auto key = about_proof<WrongHere>(application);
    key.form = Form::chunkwise;
    key.fault = explodes ? "solve-sign" : "no-solve";
    application.session.questions().ask(key);
    application.session.questions().wait();
    const auto place = application.session.questions().ask(key).value;
    REQUIRE(place);
    REQUIRE(*place);
    const double largest = (*place)->tensor.should_be.cwiseAbs().maxCoeff();
    INFO((*place)->range << " " << largest);
    CHECK(((*place)->should_range == largest) == explodes);
    CHECK(((*place)->should_range == (*place)->range) != explodes);
  }
}

TEST_CASE("Prove's axis reaches the largest error; what is beyond all axes says how far", "[prove]") {
  Application application;
  application.enter("prove");
  for (const int tokens : {40, 400}) {
    REQUIRE(application.session.open_named("preset:random?T=" + std::to_string(tokens) + "&K=4&V=4&seed=1"));
    application.session.wait();
    choose(application, "deltanet", Form::recurrent);
    inject(application, "write-sign");
    Offscreen offscreen(1920, 1080);
    draw_fully(application, offscreen);
    const auto fault = ask_present_fault(application).value;
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
    const Rectangle chart = place_of("prove/floor/difference/area");
    for (const Rectangle& line : places_below("prove/floor/difference/series"))
      CHECK(line.minimum.y > chart.minimum.y + 1);
    CHECK((label->find("↑") != std::string::npos) == is_beyond);
  }
}

TEST_CASE("a vector that a fault makes wrong takes the room that a matrix would", "[prove]") {
  Application application;
  application.open_first_capture();  // its scale is not 1
  application.session.wait();
  application.enter("prove");
  choose(application, "gated_deltanet", Form::recurrent);
  Offscreen offscreen(1920, 1080);
  float heights[2] = {};
  for (const bool is_vector : {false, true}) {
    inject(application, is_vector ? "scale-twice" : "write-sign");
    draw_fully(application, offscreen);
    REQUIRE(prove_map().tensors.size() == 3);
    heights[is_vector] = prove_map().tensors[0].maximum.y - prove_map().tensors[0].minimum.y;
  }
  CHECK(heights[1] > 0.5F * heights[0]);
}

TEST_CASE("Prove says why no fault of a long text has a number yet", "[prove]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=1025&K=2&V=2&seed=1"));
  application.session.wait();
  application.enter("prove");
  Offscreen offscreen(1280, 800);
  draw_fully(application, offscreen);
  CHECK_THAT(untried(), says("1025 words"));
  REQUIRE(application.session.open_named("preset:random?T=40&K=2&V=2&seed=1"));
  application.session.wait();
  draw_fully(application, offscreen);
  CHECK(untried().empty());
}

TEST_CASE("every fault can be drawn in Prove and stepped through in Step, in every form", "[prove]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=11&K=4&V=4"));
  application.session.wait();
  Offscreen offscreen(1280, 800);
  int stepped = 0;
  for (const char* variant : {"gated_deltanet", "softmax", "titans", "ttt_linear"}) {
    for (const Form form : all_forms) {
      inject(application, "");
      choose(application, variant, form);
      if (!application.session.computed()->form(form).missing.empty()) continue;
      for (const Fault& fault : faults()) {
        CAPTURE(variant, name(form), fault.id);
        application.enter("prove");
        inject(application, fault.id);
        application.session.wait();
        if (!application.session.computed()->no_fault.empty()) continue;
        draw_fully(application, offscreen);
        application.enter("step");
        draw_fully(application, offscreen);
        const auto figures = ask_present_fault(application);
        REQUIRE(figures.value);
        if (figures.value->noticed() && figures.value->first_wrong >= 0) {
          CHECK_FALSE(is_in_order(*application.session.computed()));
          CHECK_THAT(agreement_words(*application.session.computed()), says(name(form)));
        }
        ++stepped;
      }
    }
  }
  CHECK(stepped > 40);
}

TEST_CASE("Prove shows every fragile form on data that break it and data that do not", "[prove]") {
  Application application;
  REQUIRE(application.session.open_named("preset:random?T=70&K=16&V=5&seed=2"));
  application.session.wait();
  application.enter("prove");
  choose(application, "gated_deltanet", Form::chunkwise);
  Offscreen offscreen(1280, 800);
  for (const FragileForm& fragile : fragile_forms()) {
    for (const bool breaks : {true, false}) {
      CAPTURE(fragile.way.id, breaks);
      ProveState prove = application.session.state().prove;
      prove.fragile = fragile.way.id;
      prove.breaks = breaks;
      application.session.change_prove(prove);
      draw_fully(application, offscreen);
      REQUIRE(parts().below("prove/floor/difference/series").size() == 2);
      CHECK((prove_map().flag >= 0) == (breaks || fragile.always_wrong));
      check_places(1280, 800);
    }
  }
}

TEST_CASE("Prove with nothing open, with one token and with many", "[prove]") {
  Application application;
  application.enter("prove");
  Offscreen offscreen(1280, 800);
  offscreen.pass([&] { application.draw(1); });
  CHECK(application.undrawn() == "");
  for (const char* data : {"preset:random?T=1&K=1&V=1&seed=1", "preset:random?T=1500&K=4&V=3&seed=1"}) {
    REQUIRE(application.session.open_named(data));
    application.session.wait();
    draw_fully(application, offscreen);
    check_places(1280, 800);
    inject(application, "write-sign");
    draw_fully(application, offscreen);
    check_places(1280, 800);
  }
}

TEST_CASE("Prove marks the gates that underflow in a precision", "[prove]") {
  Application application;
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=6"));
  application.session.wait();
  application.enter("prove");
  choose(application, "gated_deltanet", Form::chunkwise);
  Offscreen offscreen(1920, 1080);
  draw_fully(application, offscreen);
  CHECK(parts().below(lost_marks).empty());
  CHECK(prove_map().marks_legend.empty());
  Choice choice = application.session.choice();
  choice.edits.push_back({.kind = "paint_gate", .array = "alpha", .numbers = {3, 7, 1e-9}});
  application.session.choose(std::move(choice));
  draw_fully(application, offscreen);
  REQUIRE(application.session.message().empty());
  CHECK_FALSE(parts().below(lost_marks).empty());
  CHECK(prove_map().marks_legend == "underflows to 0");
  CHECK(std::ranges::any_of(parts().words("prove", "said"), [](const std::string& words) {
    return words.starts_with("f16: the gate") &&
           words.find("underflows to 0 at token 3") != std::string::npos;
  }));
}

TEST_CASE("while other data come, Prove draws no line over words that it is not of", "[prove]") {
  Application application;
  Offscreen offscreen(1280, 800);
  application.open_first_capture();
  application.session.wait();
  application.enter("prove");
  draw_fully(application, offscreen);
  const char* data[] = {"preset:random?T=300&K=4&V=4", "preset:copy?T=12&K=4&V=4",
                        "preset:recall?T=150&K=6&V=6"};
  for (int round = 0; round < 2; ++round) {
    for (const char* id : data) {
      CAPTURE(id);
      application.session.open_named(id);
      application.session.change_prove({.fault = {.id = "write-sign", .form = Form::chunkwise}});
      for (int i = 0; i < 400 && (application.session.data().id != id || i < 20); ++i) {
        offscreen.pass([&] { application.draw(1); });
        REQUIRE(application.undrawn() == "");
      }
      application.session.wait();
      application.session.change_prove({});
    }
  }
}

TEST_CASE("the red pill says what is wrong, where, and how it is taken out", "[prove]") {
  for (const Fault& fault : faults()) {
    const std::string words = fault_explained({fault.id, Form::chunkwise});
    CHECK_THAT(words, says(fault.label) && says(fault.sentence) && says("in the chunkwise form") &&
                          says("A click takes it out"));
  }
}

TEST_CASE("the worst case of a rule with several steps per token opens in every workspace", "[prove]") {
  VerifyPlan plan;
  plan.variants = {"deltaproduct"};
  plan.lengths = {17};
  plan.sizes = {{5, 4}};
  const VerifyReport report = verify(plan);
  REQUIRE_FALSE(report.results.empty());
  Application application;
  application.session.open(data_of_case(*report.results.front().worst_case));
  application.session.wait();
  REQUIRE(application.session.message().empty());
  Offscreen offscreen(1280, 800);
  for (const char* workspace : {"step", "learn", "attend", "compare", "prove"}) {
    CAPTURE(workspace);
    application.enter(workspace);
    draw_fully(application, offscreen);
    CHECK(application.undrawn().empty());
    CHECK(application.session.computed()->variant->id == "deltaproduct");
  }
}
