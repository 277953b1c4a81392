#include "app/session/data_case.h"

#include "app/session/computation.h"
#include "app/session/presets.h"
#include "core/proof/verify.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

std::vector<VerifyCase> presets_for(const std::string& id) {
  return preset_cases(std::span(&find_variant(id), 1));
}

}  // namespace

TEST_CASE("every preset is a case that forms agree on, as far as what they lose on the way lets them") {
  for (const char* id : {"titans", "gated_deltanet2", "rwkv7"}) {
    std::vector<VerifyCase> cases = presets_for(id);
    std::erase_if(cases,
                  [](const VerifyCase& each) { return each.data.find("T=4096") != std::string::npos; });
    REQUIRE(cases.size() == 2 * presets().size());
    const VerifyReport report = verify({.cases = cases});
    INFO(to_table(report));
    CHECK(report.passed());
    for (const VerifyResult& result : report.results) {
      if (result.precision != Precision::f64) continue;
      INFO(id << " " << name(result.form));
      // These rules write zeros where presets only ask: that empties the memory, and all at once it cannot be
      // done without loss.
      CHECK((result.amplified.runs > 0) == (result.form == Form::parallel));
      if (result.form == Form::parallel)
        CHECK(result.amplified.reproduction.find("--case 'preset:") != std::string::npos);
    }
  }
}

TEST_CASE("the window says why a form that loses its state may") {
  Choice choice;
  choice.variant = "titans";
  choice.chunk_size = 16;
  const auto data = std::make_shared<const DataSet>(make_preset("preset:random?T=1100&K=16&V=16&seed=1"));
  const auto computed = compute(data, choice);
  const FormResult& parallel = computed->form(Form::parallel);
  CHECK(computed->agree);
  CHECK(computed->worst_form == Form::parallel);
  CHECK_FALSE(parallel.judgement.says_nothing());
  CHECK(parallel.residual() > 1e-10);
  CHECK(parallel.judgement.disagreement.array == "final_S");
  CHECK_THAT(parallel.amplified,
             palimpsest::testing::says("The solve over 1100 tokens multiplies rounding in the final S by"));
  CHECK_THAT(parallel.amplified,
             palimpsest::testing::says("beyond the tolerance. The solve over 16 tokens multiplies it by"));
  CHECK(parallel.judgement.amplified_from > 550);  // where the asking begins
  for (const Form form : {Form::recurrent, Form::chunkwise, Form::two_pass})
    CHECK(computed->form(form).amplified.empty());
}
