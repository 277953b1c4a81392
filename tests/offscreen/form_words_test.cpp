#include "app/views/form_words.h"

#include "app/session/learn_questions.h"
#include "core/cases/random_case.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/computed.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::shared_ptr<Computation> computed_for(const char* variant, Precision precision = Precision::f64) {
  Choice choice;
  choice.variant = variant;
  choice.precision = precision;
  return compute(std::make_shared<const DataSet>(make_preset("preset:random?T=20&K=6&V=6")), choice);
}

}  // namespace

TEST_CASE("words about a form follow what its steps are for, not what they are called") {
  for (const Variant& variant : variants()) {
    const auto computed = computed_for(variant.id.c_str());
    for (const Form form : all_forms) {
      const FormResult& result = computed->form(form);
      if (!result.missing.empty()) continue;
      INFO(variant.id << " " << name(form));
      const std::string words = form_work(result, *computed, 11);
      const bool erases = erases_by_beta(*result.trace);
      const std::shared_ptr<Trace> trace = variant.rule->trace(computed->sequence, form, Precision::f64, 8);
      for (Phase& phase : trace->phases) {
        for (std::size_t i = 0; i < phase.operations.size(); ++i) phase.operations[i].id = std::to_string(i);
      }
      FormResult renamed = result;
      renamed.trace = trace.get();
      CHECK(form_work(renamed, *computed, 11) == words);
      CHECK(erases_by_beta(*trace) == erases);
    }
  }
  const auto gated = computed_for("gated_deltanet");
  CHECK(form_work(gated->form(Form::chunkwise), *gated, 11) == "chunk 1 of 0–2: solve 8 × 8, one state");
  CHECK(erases_by_beta(*gated->form(Form::recurrent).trace));
  CHECK(erases_by_beta(*gated->form(Form::parallel).trace));
  const auto mlp = computed_for("ttt_mlp");
  CHECK_THAT(form_work(mlp->form(Form::chunkwise), *mlp, 11), says("scores "));
  CHECK_FALSE(erases_by_beta(*computed_for("linear")->form(Form::recurrent).trace));
}

TEST_CASE("it is said what a form is measured against, and why it may be further off than usual") {
  CHECK(reference_words(Precision::f64) == "the f64 recurrence");
  CHECK(reference_words(Precision::f32) == "the f64 recurrence on f32 inputs");
  FormResult result;
  result.judgement.tolerance = {2e-5};
  CHECK(allowance_words(result) == "2.0e-05 is allowed");
  result.judgement.tolerance = {1e-3, "it drifts"};
  result.judgement.amplification = 12;
  result.amplified = "The solve over 9 tokens multiplies rounding in the outputs by 12.";
  CHECK(allowance_words(result) ==
        "1.2e-02 is allowed (it drifts). The solve over 9 tokens multiplies rounding in the outputs by 12.");
}
