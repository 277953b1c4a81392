#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/disagreement.h"
#include "core/tolerance.h"
#include "core/variant.h"
#include "core/verify_case.h"

namespace palimpsest {

/// Which cases verify() runs, and how: every combination of lengths, sizes and chunks; or so many random
/// cases instead; or just these. With the first of the sizes, texts that forget nothing as well as others.
struct VerifyPlan {
  struct Size {
    Index dk;
    Index dv;
  };
  static constexpr Index whole_sequence = 0;  // as a chunk size: T

  std::vector<std::string> variants = {};  // ids; none: the whole table
  std::vector<const Backend*> backends = {&cpu_backend()};
  std::vector<Form> forms = {std::begin(all_forms), std::end(all_forms)};
  std::vector<Precision> precisions = {std::begin(all_precisions), std::end(all_precisions)};
  std::vector<Index> lengths = {0, 1, 2, 15, 16, 17, 63, 64, 65, 257};
  std::vector<Index> chunk_sizes = {1, 7, 16, 64, whole_sequence};
  std::vector<Size> sizes = {{12, 7}, {5, 20}};
  std::vector<Index> long_lengths = {1000, 4096};  // of one size, in chunks of 64
  std::vector<Index> batch_sizes = {1, 6, 16};     // of the rules that have inner batches
  std::uint64_t seed = 1;
  int draws = 1;  // random instances of every case
  std::vector<ToleranceException> exceptions = {usual_exceptions().begin(), usual_exceptions().end()};
  Index random_cases = 0;              // this many, in the place of every combination
  std::vector<VerifyCase> cases = {};  // these alone
  unsigned jobs = 1;                   // threads; changes no result
};

/// The runs whose numbers amplify rounding, so that they are allowed more than the tolerance.
struct AmplifiedRuns {
  Index runs = 0;
  double error = 0;               // the largest
  double factor = 1;              // what its tolerance was multiplied by
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
  std::string message = {};       // what was thrown instead of a result; mostly empty

  /// What the worst error must stay below.
  double allowed() const { return tolerance * amplification; }
  bool passed() const { return failed == 0; }
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
  Index cases = 0;    // finished
  Index planned = 0;  // more than finished if it was asked to stop

  bool complete() const { return cases == planned; }
  bool passed() const;  // there are runs, and none failed
  Index runs() const;
};

/// Where verify() is: `done` of `total` cases are finished.
struct VerifyProgress {
  std::string variant = {};  // of the case that was finished last
  Index done = 0;
  Index total = 0;
  double worst_f64 = 0;
  double worst_f32 = 0;
  Index failed = 0;  // runs
};

/// Runs the cases of `plan` for the variants of `table` in every form, device and precision that exists, and
/// compares with the f64 recurrence on the CPU (f32 runs with the f64 recurrence on the inputs as f32 holds
/// them). A run in f32 that goes over its tolerance is allowed as much more as rounding its inputs alone
/// moves the f64 recurrence (docs/accuracy.md), and is counted as amplified. The report does not depend on
/// plan.jobs. `progress` may be empty and is never called twice at once. Asked to stop, it reports the cases
/// that are finished. Throws InputError for an unknown variant.
VerifyReport verify(const VerifyPlan& plan, std::span<const Variant> table = variants(),
                    const std::function<void(const VerifyProgress&)>& progress = {},
                    std::stop_token stop = {});

/// The report as a table for a terminal.
std::string to_table(const VerifyReport& report);

/// The report as JSON: {"passed": ..., "complete": ..., "cases": ..., "results": [...], "missing": [...]}.
std::string to_json(const VerifyReport& report);

}  // namespace palimpsest
