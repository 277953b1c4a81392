#pragma once

#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/contract/output.h"
#include "core/contract/variant.h"
#include "core/proof/verify_plan.h"
#include "core/rules/backend.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// The runs whose numbers amplify rounding, so that they are allowed more than the tolerance.
struct AmplifiedRuns {
  Index runs = 0;
  double error = 0;               // the largest
  double factor = 1;              // what its tolerance was multiplied by
  std::string why = {};           // ReferenceRun::why_amplified()
  Index say_nothing = 0;          // of the runs: those allowed more than the whole array
  std::string reproduction = {};  // the command line that runs it
};

/// All cases of one variant, with one choice of options, in one form on one device and in one precision.
struct VerifyResult {
  std::string variant;
  std::string options;  // "causal=false"; empty: the variant has none
  std::string device;
  Form form = Form::recurrent;
  Precision precision = Precision::f64;
  Index runs = 0;
  Index failed = 0;          // of them
  Disagreement worst = {};   // furthest beyond, or closest to, what is allowed
  double tolerance = 0;      // what worst.error must stay below, unless the case amplifies rounding
  double amplification = 1;  // of the worst case, if it needed it: what its tolerance is multiplied by
  AmplifiedRuns amplified = {};
  std::string exception = {};     // why the tolerance is not the usual one; mostly empty
  std::string reproduction = {};  // the command line that runs the worst case
  std::shared_ptr<const VerifyCase> worst_case = nullptr;  // itself,
  Index worst_chunk = 1;                                   // in chunks of so many tokens
  std::string message = {};  // what was thrown instead of a result; mostly empty

  /// What the worst error must stay below.
  double allowed() const { return tolerance * amplification; }
  bool passed() const { return failed == 0; }
};

/// All runs of texts of one length in one precision.
struct LengthResult {
  Index tokens = 0;
  Precision precision = Precision::f64;
  Index rows = 0;  // results with such runs
  Index runs = 0;
  Index failed = 0;  // of them
  double worst = 0;  // the largest error of those that failed or keep the usual tolerance
  Index more = 0;    // of the runs: those allowed more, by name or by measurement
};

/// A form that does not exist, or not on this device.
struct MissingForm {
  std::string variant;
  std::string options;
  std::string device;
  Form form = Form::recurrent;
  Precision precision = Precision::f64;
  std::string reason;
};

struct VerifyReport {
  std::vector<VerifyResult> results;
  std::vector<MissingForm> missing;
  std::vector<LengthResult> lengths;  // by tokens and precision; none of random cases
  Index cases = 0;                    // finished
  Index planned = 0;                  // more than finished if it was asked to stop

  bool complete() const { return cases == planned; }
  bool passed() const;  // there are runs, and none failed
  Index runs() const;
  /// The rows in one precision: the most that a length can have runs of.
  Index rows(Precision precision) const;
};

/// Where verify() is: `done` of `total` cases are finished.
struct VerifyProgress {
  std::string variant = {};  // of the case that was finished last
  Index done = 0;
  Index total = 0;
  std::array<double, std::size(all_precisions)> worst = {};  // by precision
  Index failed = 0;                                          // runs
};

/// Runs the cases of `plan` in every form, device and precision that exists, and compares with the f64
/// recurrence on the CPU, on the inputs as the precision holds them. A run that goes over its tolerance is
/// allowed as much more as ReferenceRun::amplification() says, and counted as amplified (docs/accuracy.md).
/// The report does not depend on plan.jobs. `progress` may be empty and is never called twice at once. Asked
/// to stop, it reports what is finished. Throws InputError for an unknown variant, and what a given case that
/// is impossible throws.
VerifyReport verify(const VerifyPlan& plan, std::span<const Variant> table = variants(),
                    const std::function<void(const VerifyProgress&)>& progress = {},
                    std::stop_token stop = {});

/// The report as a table for a terminal.
std::string to_table(const VerifyReport& report);

/// The report as JSON: {"passed": ..., "complete": ..., "cases": ..., "results": [...],
/// "missing": [...], "lengths": [...]}.
std::string to_json(const VerifyReport& report);

}  // namespace palimpsest
