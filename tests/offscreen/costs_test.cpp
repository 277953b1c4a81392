// What is said of the forms, and what each of them costs.

#include "app/session/memory_questions.h"
#include "app/words/forms.h"
#include "tests/computed.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest::testing;
using namespace palimpsest;

namespace {

const char* const cost_path = "step/forms/costs";

/// Where all parts below `path` lie that are called `piece`.
std::vector<Rectangle> places(std::string_view piece, std::string_view path = cost_path) {
  std::vector<Rectangle> found;
  for (const Part* part : parts().below(path)) {
    if (part->path.ends_with(piece)) found.push_back(part->where);
  }
  return found;
}

std::shared_ptr<Computation> computed_for(const std::string& variant) {
  return compute("preset:random?T=20&K=6&V=6", variant);
}

}  // namespace

TEST_CASE(
    "every form's cost stands beside the others', whichever is shown, and the knob's numbers off its bars",
    "[costs]") {
  ShownProgram shown;
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    for (const Form form : all_forms) {
      CAPTURE(size.width, name(form));
      shown.draw_as(form);
      if (has_chunks(form)) {
        CHECK(places("bar", "step/knob").size() >= 3 * 8);
        check_numbers_and_bars_apart(places("number", "step/knob"), places("bar", "step/knob"));
      }
      if (size.width == 1280) continue;
      const std::vector<std::string> steps = {"94", "12", "13", "1"};
      for (const Form each : all_forms) {
        const std::string row = fmt::format("{}/{} cost/steps", cost_path, form_label(each));
        CHECK(said_by(row, "number") == std::vector{steps[static_cast<std::size_t>(each)]});
      }
      check_numbers_and_bars_apart(places("number"), places("bar"));
    }
  }
}

TEST_CASE("what costs mean is said as far as it is so", "[costs]") {
  const auto row = [](double flops, Index steps) { return CostRow{.flops = flops, .steps = steps}; };
  CHECK_THAT(what_costs_mean({row(100, 94), row(200, 12)}),
             says("Forms with more FLOPs need fewer sequential steps"));
  CHECK_THAT(what_costs_mean({row(100, 94), row(100, 12)}), says("sequential steps without more FLOPs"));
  CHECK_THAT(what_costs_mean({row(100, 6), row(100, 6)}), says("the same here"));
  CHECK(what_costs_mean({row(100, 6), row(200, 6)}) == "Per token.");
  // A form that there is not buys nothing.
  CHECK(what_costs_mean({row(100, 6), {.missing = "no such form"}}).find("fewer") == std::string::npos);
}

TEST_CASE("costs can be asked for in little room, before they are counted", "[costs]") {
  ShownProgram shown;
  shown.draw();
  const auto name = [] { return parts().find("step/forms/costs shown"); };
  const auto are_apart = [&] {
    return name()->where.maximum.x + 4 < parts().find("step/forms/precisions")->where.minimum.x;
  };
  REQUIRE(name());
  CHECK(name()->words == "Costs");
  CHECK(are_apart());
  shown.draw_clicked("step/forms/costs shown");
  CHECK(places("number").size() == 4 * 3);
  CHECK(are_apart());
  // A number of the next column begins where one can tell it from this one.
  std::vector<Rectangle> wider = places("number");
  for (Rectangle& number : wider) number.maximum.x += 4;
  check_numbers_and_bars_apart(wider, places("bar"));
}

TEST_CASE("no cost is wider than its column", "[costs]") {
  CHECK(in_thousands(999.6) == "1k");
  CHECK(in_thousands(999'800) == "1M");
  CHECK(in_thousands(28'816) == "28.8k");
  CHECK(in_thousands(4e9) == "4G");
  CHECK(in_bytes(1020 * 1024) == "1020 KiB");
  CHECK(in_bytes(1023.7 * 1024) == "1 MiB");
  CHECK(in_bytes(5212) == "5.09 KiB");
  for (double value = 1; value < 9e11; value *= 1.01) {
    CAPTURE(value);
    CHECK(in_thousands(value).size() <= 5);
    CHECK(in_bytes(value).size() <= 8);
  }
}

TEST_CASE("a chunk of one word says why it counts what the recurrent form does not", "[costs]") {
  CHECK(one_word_words(29300, 28700, true) ==
        "C = 1 costs 29.3k FLOPs, the recurrent form 28.7k: a chunk of one token still computes its 1 × 1 "
        "scores.");
  CHECK_THAT(one_word_words(29300, 28700, false), says("a chunk of one token is still computed as a chunk."));
  CHECK_THAT(one_word_words(28700, 28700, true), says("costs the same as the recurrent form"));
  ShownProgram shown;
  for (const Index size : {1, 8}) {
    shown.choose([&](Choice& choice) {
      choice.form = Form::chunkwise;
      choice.chunk_size = size;
    });
    shown.draw();
    const Part* said = parts().find("step/knob/one token");
    REQUIRE((said != nullptr) == (size == 1));
    if (said)
      CHECK_THAT(said->words,
                 says("C = 1 costs 29.3k FLOPs, the recurrent form 28.7k: ") && says("1 × 1 scores"));
  }
}

TEST_CASE("whether a form erases follows what its steps are for, not what they are called") {
  for (const Variant& variant : variants()) {
    const auto computed = computed_for(variant.id);
    for (const Form form : all_forms) {
      const FormResult& result = computed->form(form);
      if (!result.missing.empty()) continue;
      INFO(variant.id << " " << name(form));
      const bool erases = erases_by_strength(*result.trace);
      const std::shared_ptr<Trace> trace = variant.rule->trace(computed->sequence, form, Precision::f64, 8);
      for (Phase& phase : trace->phases) {
        for (std::size_t i = 0; i < phase.operations.size(); ++i) phase.operations[i].id = std::to_string(i);
      }
      CHECK(erases_by_strength(*trace) == erases);
    }
  }
  const auto gated = computed_for("gated_deltanet");
  CHECK(erases_by_strength(*gated->form(Form::recurrent).trace));
  CHECK(erases_by_strength(*gated->form(Form::parallel).trace));
  CHECK_FALSE(erases_by_strength(*computed_for("linear")->form(Form::recurrent).trace));
}

TEST_CASE("it is said what a form is measured against, and why it may be further off than usual") {
  CHECK(reference_words(Precision::f64) == "the f64 recurrence");
  CHECK(reference_words(Precision::f32) == "the f64 recurrence on f32 inputs");
  FormResult result;
  result.judgement.tolerance = {2e-5};
  CHECK(allowance_words(result) == "tolerance 2\u00A0×\u00A010⁻⁵");
  result.judgement.tolerance = {1e-3, "it drifts"};
  result.judgement.amplification = 12;
  result.amplified = "The solve over 9 tokens multiplies rounding in the outputs by 12.";
  CHECK(allowance_words(result) ==
        "tolerance 0.012 (it drifts). The solve over 9 tokens multiplies rounding in the outputs by 12.");
}
