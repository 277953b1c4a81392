#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/base/matrix.h"
#include "core/contract/variant.h"

namespace palimpsest {

/// What a run's distance from the reference (core/proof/reference_run.h) must stay below, as
/// Disagreement::error measures it.
struct Tolerance {
  double error = 0;
  std::string reason = {};  // why it is not the usual one, with the factor measured; mostly empty

  bool operator==(const Tolerance&) const = default;
};

/// A variant, options, form and precision that need more room than usual.
struct ToleranceException {
  std::string variant;
  std::map<std::string, std::string, std::less<>> options = {};  // all of these; none: any
  std::optional<Form> form = {};                                 // none: any
  Precision precision = Precision::f32;
  Tolerance tolerance;
};

/// What ordinary numbers need: docs/accuracy.md says what others do.
std::span<const ToleranceException> usual_exceptions();

/// The tolerance of `variant` with resolved `settings` in this form and precision: 1e-10 in f64, 2e-5 in f32,
/// 5e-3 in tf32, 2e-2 in bf16, or that of the last exception that applies. The only place that says it.
Tolerance tolerance(const Variant& variant, const Settings& settings, Form form, Precision precision,
                    std::span<const ToleranceException> exceptions = usual_exceptions());

/// How far two runs of the same equations may be apart at any step, as a fraction of a tensor's largest
/// element: rounding in f64, amplified at most 485 times by Newton and Schulz.
inline constexpr double step_tolerance = 1e-8;

}  // namespace palimpsest
