#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/disagreement.h"
#include "core/random_case.h"
#include "core/variant.h"

namespace palimpsest {

/// A variant, options and precision that need more room than 1e-10 (f64) or 2e-5 (f32).
struct ToleranceException {
  std::string variant;
  std::string options = {};  // a part of VerifyResult::options; empty: any
  Precision precision = Precision::f32;
  double tolerance = 0;
  std::string reason = {};  // with the factor measured
};

/// What the cases of a plan need: docs/accuracy.md says which others do.
std::vector<ToleranceException> usual_exceptions();

/// Which cases verify() runs.
struct VerifyPlan {
  struct Size {
    Index dk;
    Index dv;
  };
  static constexpr Index whole_sequence = 0;  // as a chunk size: T

  std::vector<std::string> variants = {};  // ids; none: the whole table
  std::vector<const Backend*> backends = {&cpu_backend()};
  std::vector<Precision> precisions = {std::begin(all_precisions), std::end(all_precisions)};
  std::vector<Index> lengths = {0, 1, 2, 15, 16, 17, 63, 64, 65, 257};
  std::vector<Index> chunk_sizes = {1, 7, 16, 64, whole_sequence};
  std::vector<Size> sizes = {{12, 7}, {5, 20}};
  std::vector<Index> batch_sizes = {1, 6, 16};  // of the rules that have inner batches
  std::uint64_t seed = 1;
  int draws = 1;  // random instances of every case
  std::vector<ToleranceException> exceptions = usual_exceptions();
};

/// Every choice of options that `variant` takes. An option that follows another one does so, or is set on its
/// own.
std::vector<Settings> option_choices(const Variant& variant);

/// All cases of one variant, with one choice of options, in one form on one device and in one precision.
struct VerifyResult {
  std::string variant;
  std::string options;  // "causal=false"; empty: the variant has none
  std::string device;
  Form form = Form::recurrent;
  Precision precision = Precision::f64;
  Index runs = 0;
  Disagreement worst = {};
  double tolerance = 0;           // what worst.error must stay below
  std::string exception = {};     // why the tolerance is not the usual one; mostly empty
  std::string reproduction = {};  // the command line that runs the worst case
  std::string message = {};       // what was thrown instead of a result; mostly empty

  bool passed() const { return message.empty() && worst.error <= tolerance; }
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

  bool passed() const;
  Index runs() const;
};

/// Where verify() is: `done` of `total` choices of variant and options are finished.
struct VerifyProgress {
  std::string variant = {};
  std::string options = {};
  Index done = 0;
  Index total = 0;
};

/// Runs every variant of `table` in every choice of options, form, precision, length and chunk size, with and
/// without initial state, gates as alpha and as g, and compares with the f64 recurrence on the CPU (f32 runs
/// with the f64 recurrence on the inputs as f32 holds them). `progress` may be empty. Throws InputError for
/// an unknown variant, Cancelled when asked to stop.
VerifyReport verify(const VerifyPlan& plan, std::span<const Variant> table = variants(),
                    const std::function<void(const VerifyProgress&)>& progress = {},
                    std::stop_token stop = {});

/// The report as a table for a terminal.
std::string to_table(const VerifyReport& report);

/// The report as JSON: {"passed": ..., "results": [...], "missing": [...]}.
std::string to_json(const VerifyReport& report);

}  // namespace palimpsest
