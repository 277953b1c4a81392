#pragma once

#include "app/session/memory_questions.h"
#include "core/proof/precision_lens.h"

// The questions of Verify, always about the foundation without a fault (without_fault), so that answers about
// other faults do not depend on the injected one.

namespace palimpsest {

/// The difference of a form from the f64 recurrence at every token: in f64 as the device computes it, else in
/// a simulated arithmetic (core/proof/precision_lens.h). Seen::message says why there is none.
struct ProofLine {
  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  Arithmetic arithmetic = Arithmetic::f64;
  std::string subject(const Foundation& about) const {
    return fmt::format("{} {} {}", name(form), palimpsest::name(arithmetic), subject_of(about));
  }
  auto operator<=>(const ProofLine&) const = default;
  Found<Seen> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The effect of a fault on a form here: its run, without the output.
struct FaultFigures : FaultRun {
  std::string without = {};         // why the form cannot have it, or that it changes no number; mostly empty
  std::vector<double> errors = {};  // [T] of the outputs
  Index first_wrong = -1;           // the first token whose output exceeds the tolerance; -1: none
};

struct FaultHere {
  Weak<Foundation> of = {};
  Form form = Form::chunkwise;
  std::string fault = {};
  std::string subject(const Foundation& about) const { return fault + subject_of(about); }
  auto operator<=>(const FaultHere&) const = default;
  Found<FaultFigures> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The first tensor that a fault makes wrong, with the symbols of its formula.
struct WrongPlace {
  WrongTensor tensor;
  Symbols symbols;
  Matrix<double> apart = {};  // is - should be; empty where they cannot be compared
  Index first_row = 0;        // of the part that its pictures show: a large tensor is cut around the
  Index first_column = 0;     // first wrong row
  double range = 1;           // of its colours: nearly all numbers of both lie within,
  double beyond = 0;          // this part of the difference does not
  double should_range = 1;    // of what should be: its own where it would be blank on the common one
  std::uint64_t version = 0;  // of its pictures
};

/// Nothing where no step is off.
struct WrongHere {
  Weak<Foundation> of = {};
  Form form = Form::chunkwise;
  std::string fault = {};             // empty: where the device parts from the CPU
  double tolerance = step_tolerance;  // of that
  auto operator<=>(const WrongHere&) const = default;
  Found<std::optional<WrongPlace>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// A fragile form on the open text, with arrays on which it breaks, or on which it need not.
struct FragileFigures {
  const Variant* variant = nullptr;  // the rule that it is shown in: the present one where that has its like
  Form form = Form::chunkwise;
  Index chunk_size = 1;
  std::string data_words = {};  // what was done to the arrays
  std::optional<FragileRun> run = {};
  std::string reason = {};  // why there is none

  /// Whether it gives what it should here: no more than rounding is lost.
  bool holds() const { return run && run->worst.error <= 1e-10; }
};

struct FragileHere {
  Weak<Foundation> of = {};
  std::string fragile = {};
  bool breaks = true;
  std::string subject(const Foundation& about) const { return fragile + subject_of(about); }
  auto operator<=>(const FragileHere&) const = default;
  Found<FragileFigures> compute(const Foundation& foundation, const Effort& effort) const;
};

/// How many digits every form loses in sums.
struct DigitsHere {
  Weak<Foundation> of = {};
  auto operator<=>(const DigitsHere&) const = default;
  Found<std::vector<DigitsLost>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// All that verify() checks of one variant, on every device that can be used here.
struct VerifiedVariant {
  std::string variant = {};
  bool with_long_texts = false;  // 1000 and 4096 tokens too
  Index random_cases = 0;        // these instead
  auto operator<=>(const VerifiedVariant&) const = default;
  Found<VerifyReport> compute(const Effort& effort) const;
};

/// The forms of the present rule that exist.
std::vector<Form> forms_of(const Foundation& foundation);

/// "o", in one line: "off by 0.32", or why not, as the list of faults says it.
std::string size_words(const FaultFigures& figures);

class Session;

/// What a cell of the grid of all checks stands for, beside a rule.
struct GridColumn {
  const Backend* backend;
  Precision precision;
  Form form;
};

/// Those of all devices.
const std::vector<GridColumn>& grid_columns();

/// Whether no choice of options gives the variants of the table these forms: a row for every variant.
const std::vector<std::vector<bool>>& missing_forms();

/// What was found with one length of texts.
struct GridReports {
  struct Row {
    std::shared_ptr<const VerifyReport> report;
    std::vector<const VerifyResult*> cells;  // of every column the worst; null: nothing was run
  };
  std::map<std::string, Row> reports;           // by variant
  std::map<std::string, std::string> problems;  // why there is none

  std::size_t done() const { return reports.size() + problems.size(); }
  bool complete() const { return done() == variants().size(); }

  /// All of it as `verify` reports it.
  VerifyReport joined() const;
};

/// What a report that `palimpsest verify --json` wrote says of every form: how many runs there were, how many
/// failed, the largest difference and what is allowed. Throws InputError.
VerifyReport read_verify_report(const std::filesystem::path& file);

/// The last full check of the CPU, which ships with the program; without a date where there is none.
struct ShippedCheck {
  std::string date = {};
  Index runs = 0;
  Index failed = 0;
  GridReports found = {};
};
const ShippedCheck& shipped_check();

/// Everything that can be checked, rule by rule, in the background.
class CheckedGrid {
 public:
  /// Goes on with what was started: once in every frame.
  void keep_checking(Session& session);

  /// Starts it, anew where all is known.
  void start(Session& session);
  void stop() { runs_ = false; }
  bool runs() const { return runs_; }

  /// Whether texts of 1000 and 4096 tokens are checked, too; what was found without them stays.
  bool with_long_texts = false;

  const GridReports& found() const { return with_long_texts ? of_long_texts_ : of_short_texts_; }

  /// What part of all rules is known.
  double progress() const;

 private:
  GridReports& reports() { return with_long_texts ? of_long_texts_ : of_short_texts_; }

  bool runs_ = false;
  GridReports of_short_texts_;
  GridReports of_long_texts_;
  double under_way_ = 0;  // of the variant that is being verified
};

}  // namespace palimpsest
