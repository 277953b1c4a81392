#include "core/proof/tolerance.h"

#include "core/proof/verify_plan.h"
#include "core/variants/variants.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("the tolerance is the usual one, or that of the last exception that applies") {
  const Variant& gla = find_variant("gla");
  CHECK(tolerance(gla, resolve(gla, {}), Form::parallel, Precision::f64) == Tolerance{1e-10});
  CHECK(tolerance(gla, resolve(gla, {}), Form::parallel, Precision::f32) == Tolerance{2e-5});
  CHECK(tolerance(gla, resolve(gla, {}), Form::parallel, Precision::bf16) == Tolerance{2e-2});
  CHECK(tolerance(gla, resolve(gla, {}), Form::parallel, Precision::tf32) == Tolerance{5e-3});

  const std::vector<ToleranceException> exceptions = {
      {.variant = "gla", .tolerance = {1e-3, "all of it"}},
      {.variant = "gla", .form = Form::chunkwise, .tolerance = {1e-2, "in chunks"}}};
  const auto allowed = [&](const char* variant, Form form, Precision precision) {
    return tolerance(find_variant(variant), resolve(find_variant(variant), {}), form, precision, exceptions);
  };
  CHECK(allowed("gla", Form::recurrent, Precision::f32) == Tolerance{1e-3, "all of it"});
  CHECK(allowed("gla", Form::chunkwise, Precision::f32) == Tolerance{1e-2, "in chunks"});
  CHECK(allowed("gla", Form::chunkwise, Precision::f64) == Tolerance{1e-10});
  CHECK(allowed("kda", Form::chunkwise, Precision::f32) == Tolerance{2e-5});
}

TEST_CASE("Muon alone needs more, with the reason, and most where it takes full steps") {
  for (const Variant& variant : variants()) {
    for (const Settings& given : option_choices(variant)) {
      const Settings settings = resolve(variant, given);
      const auto is = [&](const char* option, const char* value) {
        const auto chosen = settings.options.find(option);
        return chosen != settings.options.end() && chosen->second == value;
      };
      const bool full_steps = is("optimizer", "muon") && is("loss", "l2") && is("newton_schulz", "muon");
      const double expected = full_steps ? 1e-2 : is("optimizer", "muon") ? 1e-3 : 2e-5;
      for (const Form form : all_forms) {
        INFO(variant.id << " " << describe_options(settings) << " " << name(form));
        const Tolerance f32 = tolerance(variant, settings, form, Precision::f32);
        CHECK(f32.error == expected);
        CHECK(f32.reason.empty() == (expected == 2e-5));
        CHECK(tolerance(variant, settings, form, Precision::f64) == Tolerance{1e-10});
      }
    }
  }
}
