#pragma once

#include <iterator>

#include "core/cases/random_case.h"
#include "core/proof/faults.h"
#include "core/rules/backend.h"
#include "core/variants/variants.h"

namespace palimpsest {

struct OptionChoice {
  const Variant* variant = nullptr;
  Settings given = {};
};

/// Whether `variant` takes decays, as alpha or as their logarithm g.
bool has_gates(const Variant& variant);

/// Every choice of options that `variant` takes. An option that follows another one does so, or is set on its
/// own, where the rule takes the two together.
std::vector<Settings> option_choices(const Variant& variant);

/// "causal=false": all options of resolved settings; empty where there are none.
std::string describe_options(const Settings& settings);

/// One case that verify() runs in every form, device and precision.
struct VerifyCase {
  const Variant* variant = nullptr;
  Settings given = {};  // resolved
  RandomCase random = {};
  std::vector<Index> chunk_sizes = {64};                       // of the chunkwise form
  std::string data = {};                                       // the name of other data; empty: `random`
  std::function<std::shared_ptr<const Arrays>()> arrays = {};  // theirs, made when they are needed
};

/// The name of a case's numbers, as --case takes it.
std::string data_of(const VerifyCase& verified);

/// Case `index` of the random cases that `seed` stands for, the same on every machine: one of `choices`, T up
/// to 300 (mostly lengths beside a multiple of a chunk) and now and then up to 4096, K and V up to 24, the
/// chunk size, with or without states, alpha or g, parameters within their ranges.
VerifyCase random_verify_case(const std::vector<OptionChoice>& choices, std::uint64_t seed, Index index);

/// The inputs of one case in one precision, and the result of the f64 recurrence on them. Throws what the
/// case throws before any form runs.
ReferenceRun reference_run(const VerifyCase& verified, Precision precision, std::stop_token stop = {});

/// The command line that makes one comparison again: "palimpsest verify --variant gla --case random:T=17,...
/// --form chunkwise ...".
std::string reproduction(const VerifyCase& verified, const std::string& device, Form form,
                         Precision precision, Index chunk_size);

/// Which cases are run, and how: every combination of lengths, sizes and chunks; or `random_cases` random
/// cases instead; or only `cases`. With the first of the sizes also texts without decay, and long ones;
/// beyond longest_with_all tokens every choice of options once, with its largest inner batch. On a device
/// other than the processor also the longest combined texts with more channels than one tile of a kernel.
struct VerifyPlan {
  struct Size {
    Index dk;
    Index dv;
  };
  static constexpr Index whole_sequence = 0;       // as a chunk size: T
  static constexpr Index longest_combined = 300;   // tokens; above, a length is a long one
  static constexpr Index longest_with_all = 4096;  // tokens

  std::vector<std::string> variants = {};  // ids; none: the whole table
  std::vector<const Backend*> backends = {&cpu_backend()};
  std::vector<Form> forms = {std::begin(all_forms), std::end(all_forms)};
  std::vector<Precision> precisions = {};  // none: all that the device has
  std::vector<Index> lengths = {0, 1, 2, 15, 16, 17, 63, 64, 65, 257};
  std::vector<Index> chunk_sizes = {1, 7, 16, 64, whole_sequence};
  std::vector<Size> sizes = {{12, 7}, {5, 20}};
  std::vector<Size> wide_sizes = {{70, 100}, {20, 130}};  // of a device that is not the processor
  std::vector<bool> initial_states = {false, true};
  std::vector<bool> log_gates = {false, true};  // decays as alpha, and as g
  bool keeps = true;                            // texts without decay too
  std::vector<Index> long_lengths = {};         // in chunks of 64
  std::vector<Index> batch_sizes = {1, 6, 16};  // of the rules that have inner batches; none: drawn
  std::uint64_t seed = 1;
  int draws = 1;                       // random instances of every case
  Index random_cases = 0;              // this many instead of every combination
  std::vector<VerifyCase> more = {};   // these, besides every combination
  std::vector<VerifyCase> cases = {};  // these alone
  unsigned jobs = 1;                   // threads; changes no result
};

/// What `palimpsest verify` runs: every combination, and texts of 1000 and 4096 tokens.
VerifyPlan thorough_plan();

/// What `palimpsest verify --tokens` runs: every combination with these lengths, the long ones in chunks of
/// 64. No other length is run.
VerifyPlan plan_of_lengths(const std::vector<Index>& lengths);

/// The cases of a plan, made when they are asked for.
struct PlannedCases {
  std::vector<OptionChoice> choices;  // that cases can have: those of the given cases, or all
  std::vector<VerifyCase> cases;      // none where they are random
  std::uint64_t seed;
  bool are_random;  // lengths and sizes are drawn at random
  Index size;

  /// Throws InputError for an unknown variant.
  PlannedCases(const VerifyPlan& plan, std::span<const Variant> table);
  /// Case `index`, the same every time.
  VerifyCase at(Index index) const;
};

/// The runs whose inputs amplify rounding, so that more than the tolerance is allowed.
struct AmplifiedRuns {
  Index runs = 0;
  double error = 0;               // the largest
  double factor = 1;              // what its tolerance was multiplied by
  std::string why = {};           // ReferenceRun::why_amplified()
  Index say_nothing = 0;          // of the runs: those with an allowed error of 1 or more
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
  Index overflown = 0;       // not among them: a text leaves the precision's range
  Disagreement worst = {};   // furthest beyond, or closest to, what is allowed
  double tolerance = 0;      // what worst.error must stay below, unless the case amplifies rounding
  double amplification = 1;  // of the worst case, if it needed it: what its tolerance is multiplied by
  AmplifiedRuns amplified = {};
  std::string exception = {};     // why the tolerance is not the usual one; mostly empty
  std::string reproduction = {};  // the command line that runs the worst case
  std::shared_ptr<const VerifyCase> worst_case = nullptr;  // the worst case
  Index worst_chunk = 1;                                   // its chunk size
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
  std::string date = {};              // when it was made; empty: that is not said

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
/// to stop, it reports what is finished. Where a rule's text overflows there is nothing to compare: such
/// runs are counted apart. Throws InputError for an unknown variant, and what a given case that
/// is impossible throws.
VerifyReport verify(const VerifyPlan& plan, std::span<const Variant> table = variants(),
                    const std::function<void(const VerifyProgress&)>& progress = {},
                    std::stop_token stop = {});

/// The report as a table for a terminal.
std::string to_table(const VerifyReport& report);

/// The report as JSON: {"passed": ..., "complete": ..., "cases": ..., "results": [...],
/// "missing": [...], "lengths": [...]}.
std::string to_json(const VerifyReport& report);

/// Cases in which as many faults as possible show: an initial state, a scale other than 1, several chunks and
/// a short one, as many key as value channels. In f64 on the processor.
VerifyPlan revealing_plan();

/// Which faults are injected into which forms. Every form is evaluated by its own equations with the fault.
struct FaultPlan {
  std::vector<std::string> faults = {};  // ids (core/proof/faults.h); none: all
  VerifyPlan cases = revealing_plan();
};

/// One form with one fault, in the first case in which verification fails; if it fails in none, in the one
/// with the largest error.
struct FaultyResult {
  std::string fault;
  std::string variant;
  std::string options = {};  // "causal=false"; empty: the variant has none
  Form form = Form::recurrent;
  std::string data = {};  // the random case, as --input takes it
  Index chunk_size = 1;
  Judgement judgement = {};                 // of the outputs and states, as verify() judges them
  std::optional<Departure> departure = {};  // the first step that is off
  std::string message = {};                 // why an equation could not even be carried out; mostly empty
  std::string reproduction = {};            // the command line that makes the case again

  /// Whether verification fails, as it should.
  bool noticed() const;
};

/// A form that cannot have the fault, or does not exist.
struct FaultlessForm {
  std::string fault;
  std::string variant;
  std::string options;
  Form form = Form::recurrent;
  std::string reason;
};

struct FaultReport {
  std::vector<FaultyResult> results;
  std::vector<FaultlessForm> without;
  Index cases = 0;    // finished
  Index planned = 0;  // more than finished if it was asked to stop

  bool complete() const { return cases == planned; }
  /// How many of the faulty forms fail verification.
  Index noticed() const;
};

/// Where verify_faults() is: `done` of `total` cases are finished.
struct FaultProgress {
  std::string variant = {};  // of the case that was finished last
  Index done = 0;
  Index total = 0;
  Index noticed = 0;  // faulty forms so far
};

/// Injects every fault that applies into every form, in the cases of the plan until one detects it, in f64 on
/// the processor: a plan with anything else throws Unsupported. The report does not depend on
/// VerifyPlan::jobs. `progress` may be empty and is never called twice at once. Asked to stop, it reports
/// what is finished. Throws InputError for an unknown fault or variant.
FaultReport verify_faults(const FaultPlan& plan,
                          const std::function<void(const FaultProgress&)>& progress = {},
                          std::stop_token stop = {});

/// The report as a table for a terminal: every faulty form with the first step that is off, and why others
/// have no such fault.
std::string to_table(const FaultReport& report);

/// The same as JSON: {"complete": ..., "cases": ..., "noticed": ..., "faulty": [...], "without": [...]}.
std::string to_json(const FaultReport& report);

}  // namespace palimpsest
