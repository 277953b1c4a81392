#include "core/proof/tolerance.h"

#include <algorithm>
#include <vector>

namespace palimpsest {

namespace {

constexpr double usual_in_f64 = 1e-10;
constexpr double usual_in_f32 = 2e-5;
constexpr double usual_in_tf32 = 5e-3;  // ten roundings of a factor, each half a unit in 11 bits: 2^-11
constexpr double usual_in_bf16 = 2e-2;  // five roundings, each half a unit in 8 bits: 2^-8

double usual_in(Precision precision) {
  switch (precision) {
    case Precision::f64:
      return usual_in_f64;
    case Precision::f32:
      return usual_in_f32;
    case Precision::tf32:
      return usual_in_tf32;
    case Precision::bf16:
      return usual_in_bf16;
  }
  return 0;
}

bool applies(const ToleranceException& exception, const Variant& variant, const Settings& settings, Form form,
             Precision precision) {
  const auto is_chosen = [&](const auto& option) {
    const auto chosen = settings.options.find(option.first);
    return chosen != settings.options.end() && chosen->second == option.second;
  };
  return exception.variant == variant.id && exception.precision == precision &&
         (!exception.form || *exception.form == form) && std::ranges::all_of(exception.options, is_chosen);
}

}  // namespace

std::span<const ToleranceException> usual_exceptions() {
  // Five steps of Newton and Schulz multiply what is weak, rounding included, by up to 3.4445^5 = 485.
  static const std::vector<ToleranceException> exceptions = {
      {.variant = "lact",
       .options = {{"optimizer", "muon"}},
       .tolerance = {1e-3, "Muon multiplies rounding by up to 485; the worst of 25 draws was 3.8e-4"}},
      {.variant = "lact",
       .options = {{"optimizer", "muon"}, {"loss", "l2"}, {"newton_schulz", "muon"}},
       .tolerance = {1e-2,
                     "Muon takes a full step however little is left to learn, which in f32 may be rounding "
                     "alone; the worst seen was 5.1e-3"}}};
  return exceptions;
}

Tolerance tolerance(const Variant& variant, const Settings& settings, Form form, Precision precision,
                    std::span<const ToleranceException> exceptions) {
  Tolerance allowed{usual_in(precision)};
  for (const ToleranceException& exception : exceptions) {
    if (applies(exception, variant, settings, form, precision)) allowed = exception.tolerance;
  }
  return allowed;
}

}  // namespace palimpsest
