#pragma once

#include <atomic>

#include "app/session/devices.h"
#include "app/session/inputs.h"
#include "app/session/state.h"
#include "core/insight/answers.h"
#include "core/insight/learning.h"
#include "core/insight/recall.h"

namespace palimpsest {

/// The magnitudes that nearly all numbers of a kind stay below, over the whole sequence.
struct KindScales {
  double key = 1;
  double query = 1;
  double value = 1;
  double output = 0;  // 0: not known yet
};

/// What the part `share` of the finite `numbers` do not exceed; 0 if there are none.
double quantile(std::vector<double> numbers, double share);

/// The magnitudes of all numbers, and of `more` after them.
std::vector<double> sizes_of(const Matrix<double>& numbers, const Matrix<double>& more = {});

inline constexpr double nearly_all = 0.995;  // of the numbers have colours of their own

/// The f64 recurrence of one head: run by the first caller, in its thread, so that only those who need it
/// wait. Many threads may call at once.
class SharedReference {
 public:
  SharedReference(const Variant& variant, HeldInputs inputs, Precision precision)
      : variant_(&variant), inputs_(std::move(inputs)), precision_(precision) {}

  /// Calls `use(ReferenceRun&)` exclusively, as the run caches how numbers amplify rounding.
  template <class Use>
  auto alone(const std::stop_token& stop, Use use) const {
    const std::scoped_lock lock(mutex_);
    if (!run_) run_.emplace(*variant_, inputs_, precision_, stop);
    is_known_ = true;
    return use(*run_);
  }

  /// Its output. Throws what the recurrence throws.
  const Output& expected(const std::stop_token& stop = {}) const {
    if (is_known_) return run_->expected();
    return *alone(stop, [](ReferenceRun& run) { return &run.expected(); });
  }

  /// The same; null until it was computed.
  const Output* known() const { return is_known_ ? &run_->expected() : nullptr; }

 private:
  const Variant* variant_;
  HeldInputs inputs_;
  Precision precision_;
  mutable std::mutex mutex_;  // of run_; its output never changes
  mutable std::optional<ReferenceRun> run_;
  mutable std::atomic<bool> is_known_ = false;
};

/// One form of the current sequence. Its steps are known at once; its output is computed and compared later.
struct FormResult {
  std::string missing;           // why it does not exist, or not on the device; empty if it does
  const Trace* trace = nullptr;  // its steps, owned by the foundation
  bool is_compared = false;      // whether the fields below are of this choice; else empty or of the last one
  std::shared_ptr<const Output> computed =
      nullptr;                 // may be shared with later results; null: not computed yet
  Judgement judgement;         // against the reference, as verify() judges it
  std::string amplified;       // why the judgement allows more than the tolerance; usually empty
  Index first_bad_token = -1;  // the first token that exceeds the tolerance; -1: none

  /// The form's output; without rows until it is computed.
  const Output& output() const;

  /// max |o - o_ref| / max |o_ref|, final states included.
  double residual() const { return judgement.disagreement.error; }
};

/// What the timeline shows of a token.
struct TokenFacts {
  std::optional<double> kept;     // by the decay, mean over the channels
  std::optional<double> beta;     // write strength
  std::optional<double> written;  // WriteStrengths, for a rule with a memory to query
};

/// The recall of every token.
struct TokenRecalls {
  std::vector<Recall> tokens = {};  // empty for a rule without a memory to query
  double strong_state = 0;          // bound of all but a few entries of all memories
};

/// Held by every computation, so that live_computations() knows.
inline const auto held_by_computations = std::make_shared<const int>();

/// How many computations there are in this process. A session needs one, and another while it changes.
int live_computations();

/// What every token writes: computed by the first caller of strengths_in().
struct SharedStrengths {
  std::mutex asking;
  std::optional<WordStrengths> known;
};

struct Computation;
class EditedTrace;

/// The basis of all answers about one choice. Never changed, and read by many threads at once.
struct Foundation {
  std::shared_ptr<const DataSet> data;
  const Variant* variant = nullptr;
  const Backend* device = nullptr;  // of the choice: computes the traces and outputs
  Choice choice;
  Inputs inputs;
  Sequence sequence;                                                      // rounded to the chosen precision
  std::shared_ptr<const SharedReference> reference;                       // its f64 recurrence
  std::array<std::shared_ptr<const Trace>, std::size(all_forms)> traces;  // of the forms that exist
  std::shared_ptr<const Trace> recurrence;  // the recurrent form on the CPU, whose memories are queried; may
                                            // be null
  std::shared_ptr<SharedStrengths> strengths = std::make_shared<SharedStrengths>();
  std::shared_ptr<Computation> right = nullptr;         // the same without the choice's fault; null: no fault
  std::shared_ptr<const EditedTrace> edited = nullptr;  // the trace with the fault; null: none
  std::string no_fault = {};  // why the choice's fault changes nothing here; empty if it does, or without one
  std::shared_ptr<const int> live = held_by_computations;

  const std::shared_ptr<const Trace>& trace(Form form) const { return entry(traces, form); }
};

/// What is computed about a choice.
struct Findings {
  std::array<std::shared_ptr<const FormResult>, std::size(all_forms)> forms;
  std::vector<TokenFacts> tokens;
  std::string written_by;                // what TokenFacts::written is: WriteStrengths::rate
  std::string written_symbol;            // and its LaTeX
  std::string kept_symbol;               // LaTeX of the decay: Keeping::symbol
  KindScales scales;                     // magnitudes of its numbers
  std::optional<double> capture_error;   // this head's difference from the output in the file, if the inputs
                                         // are unchanged
  std::optional<Divergence> divergence;  // where the memory diverges
  std::shared_ptr<const TokenRecalls> recalls = std::make_shared<const TokenRecalls>();
  bool knows_reference = false;       // whether the facts from the reference,
  bool knows_recall = false;          // the recall of tokens and
  bool knows_divergence = false;      // the divergence are of this choice
  Form worst_form = Form::recurrent;  // the one that exceeds its tolerance most; if none does, the one
                                      // with the largest difference
  double worst = 0;                   // its difference
  double tolerance = 0;               // its tolerance
  bool agree = true;                  // all compared forms are within their tolerances
  std::uint64_t version = 0;          // changes with anything above
};

/// All that is known of one choice. Built in another thread; the window's thread then adds the answers.
struct Computation : Foundation, Findings {
  const FormResult& form(Form form) const { return *entry(forms, form); }

  /// The recall of a token; null if it is not known (yet).
  const Recall* recall(Index token) const {
    const auto t = static_cast<std::size_t>(token);
    return t < recalls->tokens.size() ? &recalls->tokens[t] : nullptr;
  }

  /// Whether all answers are known.
  bool is_complete() const;
};

/// Whether two choices have the same numbers.
bool same_numbers(const Choice& x, const Choice& y);

/// What was computed for another choice; it is reused if only the fault differs.
struct Earlier {
  std::shared_ptr<Computation> right = nullptr;  // without a fault; null: there is none
  Findings found = {};                           // about it
};

/// `computation` in the form that the next one may reuse.
Earlier as_earlier(const std::shared_ptr<Computation>& computation);

/// Why the CPU, maybe in another precision, computes a form in place of the device; empty if it does not.
std::string left_to_cpu(const Computation& computation, Form form);

/// Why `device` cannot be chosen for a form of what is computed; empty if it can.
std::string why_not_on(const Backend& device, const Foundation& foundation, Form form);

/// Why a form of `tokens` tokens is not evaluated by its equations; empty if it is.
std::string too_long_to_edit(Form form, Index tokens);

/// The most tokens for which it is measured whether a form that exceeds its tolerance amplifies rounding:
/// this takes more than a dozen recurrences.
inline constexpr Index most_tokens_measured = 4096;

/// The largest chunk that can be chosen for this many tokens.
Index largest_chunk(Index tokens);

/// The begin of a computation: one head's inputs and the steps of every form on the choice's device, one of
/// `devices`; also those with a fault, which the CPU evaluates. Throws InputError, Unsupported or Cancelled.
std::shared_ptr<Computation> begin(std::shared_ptr<const DataSet> data, const Choice& choice,
                                   std::stop_token stop = {}, const Earlier& earlier = {},
                                   Devices devices = backends());

/// `computation` without its fault; itself if it has none.
std::shared_ptr<const Foundation> without_fault(const std::shared_ptr<const Computation>& computation);

/// The subject of questions about a computation: until an answer is there, one on the same data is shown.
std::string subject_of(const Foundation& foundation);

/// The same for questions whose answers depend on the rule and its settings.
std::string subject_of_rule(const Foundation& foundation);

/// Judges a form's output against the reference of a foundation, as verify() does.
Judgement judged(const Foundation& foundation, Form form, const Output& output, const Tolerance& allowed,
                 const std::stop_token& stop);

/// A note that a run of this form uses a fused kernel on the choice's device, while the steps shown are those
/// of a plain one (core/rules/backend.h); empty if there is only one kernel.
std::string fused_words(const Computation& computed, Form form);

/// The output of a form that has steps, compared with the reference: a question. Failures are in `missing`.
struct ComparedForm {
  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  auto operator<=>(const ComparedForm&) const = default;
  std::string subject(const Foundation& about) const { return name(form) + (" " + subject_of(about)); }
  Found<FormResult> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Computes ahead the states that the steps of a form keep, so that any step is there at once: a question,
/// answered with the number of its blocks.
struct KeptStates {
  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  auto operator<=>(const KeptStates&) const = default;
  Found<Index> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The recall of every token: a question.
struct RecallOfTokens {
  Weak<Foundation> of = {};
  auto operator<=>(const RecallOfTokens&) const = default;
  Found<TokenRecalls> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Where the memory diverges; nothing for a rule without one: a question.
struct RunawayMemory {
  Weak<Foundation> of = {};
  auto operator<=>(const RunawayMemory&) const = default;
  Found<std::optional<Divergence>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Requests what a computation still lacks, and adds what is there: comparisons of forms, the recall of
/// tokens, divergence. Until then it has the values of the last choice on the same data. Returns whether
/// something was added; `problem` says what could not be computed.
bool complete(const std::shared_ptr<Computation>& computation, Questions& questions, std::string& problem);

}  // namespace palimpsest
