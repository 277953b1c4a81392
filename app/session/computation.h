#pragma once

#include <atomic>

#include "app/session/devices.h"
#include "app/session/inputs.h"
#include "app/session/scales.h"
#include "app/session/state.h"
#include "core/insight/answers.h"
#include "core/insight/learning.h"
#include "core/insight/recall.h"

namespace palimpsest {

/// What the f64 recurrence makes of one head: run by the first who asks, in its thread, so that nothing waits
/// for it that does not need it. Many threads may ask at once.
class SharedReference {
 public:
  SharedReference(const Variant& variant, HeldInputs inputs, Precision precision)
      : variant_(&variant), inputs_(std::move(inputs)), precision_(precision) {}

  /// Calls `use(ReferenceRun&)` while nobody else does: it remembers how numbers amplify.
  template <class Use>
  auto alone(const std::stop_token& stop, Use use) const {
    const std::scoped_lock lock(mutex_);
    if (!run_) run_.emplace(*variant_, inputs_, precision_, stop);
    is_known_ = true;
    return use(*run_);
  }

  /// What it makes. Throws what the recurrence throws.
  const Output& expected(const std::stop_token& stop = {}) const {
    if (is_known_) return run_->expected();
    return *alone(stop, [](ReferenceRun& run) { return &run.expected(); });
  }

  /// The same; null until somebody has asked.
  const Output* known() const { return is_known_ ? &run_->expected() : nullptr; }

 private:
  const Variant* variant_;
  HeldInputs inputs_;
  Precision precision_;
  mutable std::mutex mutex_;  // of run_; what it expects never changes
  mutable std::optional<ReferenceRun> run_;
  mutable std::atomic<bool> is_known_ = false;
};

/// One form of the present sequence. Its steps are known at once; what comes of them is computed and compared
/// later.
struct FormResult {
  std::string missing;           // why it does not exist, or not on the device; empty if it does
  const Trace* trace = nullptr;  // its steps, which the foundation holds
  bool is_compared = false;      // whether what follows is this form's; else it is empty, or an old one's
  std::shared_ptr<const Output> computed =
      nullptr;                 // shared with what stands for it later; null: nothing yet
  Judgement judgement;         // against the reference, as verify() judges it
  std::string amplified;       // why the judgement allows more than the tolerance; mostly empty
  Index first_bad_token = -1;  // the first beyond what is allowed; -1: none

  /// What the form gives; without rows until it is computed.
  const Output& output() const;

  /// max |o - o_ref| / max |o_ref|, final states included.
  double residual() const { return judgement.disagreement.error; }
};

/// What the timeline shows of a token.
struct TokenFacts {
  std::optional<double> alpha;    // how much is kept, mean over the channels
  std::optional<double> beta;     // how much is written
  std::optional<double> written;  // how strongly: WriteStrengths, of a rule with a memory to ask
};

/// How well the memory knows every token.
struct TokenRecalls {
  std::vector<Recall> tokens = {};  // none of a rule without a memory to ask
  double strong_state = 0;          // what all but a few numbers of all memories stay below
};

/// One of those counted by live_computations().
struct LiveComputation {
  LiveComputation();
  ~LiveComputation();
  LiveComputation(const LiveComputation&) : LiveComputation() {}
  LiveComputation& operator=(const LiveComputation&) = default;
};

/// How many computations there are in this process. A session needs one, and another while it changes.
int live_computations();

/// What every token writes: found by the first who asks (strengths_in).
struct SharedStrengths {
  std::mutex asking;
  std::optional<WordStrengths> known;
};

struct Computation;
class EditedTrace;

/// What all answers about one choice are computed from. Never changed, and read by many threads at once.
struct Foundation {
  std::shared_ptr<const DataSet> data;
  const Variant* variant = nullptr;
  const Backend* device = nullptr;  // the choice's: computes the traces and what the forms give
  Choice choice;
  Inputs inputs;
  Sequence sequence;                                 // as the chosen precision holds it
  std::shared_ptr<const SharedReference> reference;  // what the f64 recurrence makes of it
  std::array<std::shared_ptr<const Trace>, std::size(all_forms)> traces;  // of the forms that exist
  std::shared_ptr<const Trace> recurrence;  // the recurrent form on the CPU, whose memories are asked; null:
                                            // there is none
  std::shared_ptr<SharedStrengths> strengths = std::make_shared<SharedStrengths>();
  std::shared_ptr<Computation> right = nullptr;  // the same without the fault of the choice; null: none is in
  std::shared_ptr<const EditedTrace> edited = nullptr;  // of the traces the one with the fault in; null: none
  std::string no_fault = {};  // why the fault of the choice changes nothing here; empty: it does, or is none
  LiveComputation live{};

  const std::shared_ptr<const Trace>& trace(Form form) const { return entry(traces, form); }
};

/// What is found out about a choice.
struct Findings {
  std::array<std::shared_ptr<const FormResult>, std::size(all_forms)> forms;
  std::vector<TokenFacts> tokens;
  std::string written_by;                // what TokenFacts::written is: WriteStrengths::rate
  std::string written_symbol;            // and its LaTeX
  KindScales scales;                     // how large its numbers are
  std::optional<double> capture_error;   // this head's distance to the output in the file, if the inputs
                                         // are the file's own
  std::optional<Divergence> divergence;  // where the memory runs away
  std::shared_ptr<const TokenRecalls> recalls = std::make_shared<const TokenRecalls>();
  bool knows_reference = false;       // whether what the reference says,
  bool knows_recall = false;          // the tokens' recall and
  bool knows_divergence = false;      // the divergence are of this choice
  Form worst_form = Form::recurrent;  // the furthest beyond what it is allowed, or if none is, the furthest
                                      // off of those that can be judged
  double worst = 0;                   // its residual, and
  double tolerance = 0;               // what that must stay below
  bool agree = true;                  // all forms that are compared stay within what they are allowed
  std::uint64_t version = 0;          // changes with all of this
};

/// All that is known of one choice. Built away from the window's thread, which then adds what is answered.
struct Computation : Foundation, Findings {
  const FormResult& form(Form form) const { return *entry(forms, form); }

  /// How well the memory knows a token; null where that is not known (yet).
  const Recall* recall(Index token) const {
    const auto t = static_cast<std::size_t>(token);
    return t < recalls->tokens.size() ? &recalls->tokens[t] : nullptr;
  }

  /// Whether nothing is left to be answered.
  bool is_complete() const;
};

/// Whether two choices give the same numbers.
bool same_numbers(const Choice& x, const Choice& y);

/// What was computed for another choice, as far as it is known: it serves again where only the fault differs.
struct Earlier {
  std::shared_ptr<Computation> right = nullptr;  // without a fault; null: there is none
  Findings found = {};                           // about it
};

/// `computation` as what the next one may take over.
Earlier as_earlier(const std::shared_ptr<Computation>& computation);

/// The most tokens whose n x n matrices are made: the parallel form of longer sequences is missing.
inline constexpr Index most_tokens_at_once = 4096;

/// The most tokens whose n x n matrices are made once more for every equation: those of a parallel form that
/// is carried out with other equations or numbers.
inline constexpr Index most_tokens_edited_at_once = 1024;

/// Why the device does not compute a form that the CPU does, if in another precision; empty if it computes it
/// or there is none.
std::string left_to_cpu(const Computation& computation, Form form);

/// Why `device` cannot be chosen for a form of what is computed; empty if it can.
std::string why_not_on(const Backend& device, const Foundation& foundation, Form form);

/// Why a form of so many tokens is not carried out by its equations; empty if it is.
std::string too_long_to_edit(Form form, Index tokens);

/// The most tokens for which a form beyond its tolerance is asked whether its numbers amplify rounding: that
/// takes more than a dozen recurrences.
inline constexpr Index most_tokens_measured = 4096;

/// The largest chunk that can be chosen for this many tokens.
Index largest_chunk(Index tokens);

/// Begins with one head: its inputs and the steps of every form on the device of the choice,
/// one of `devices`; those with a fault in them too, which the CPU carries out. Throws InputError,
/// Unsupported or Cancelled.
std::shared_ptr<Computation> begin(std::shared_ptr<const DataSet> data, const Choice& choice,
                                   std::stop_token stop = {}, const Earlier& earlier = {},
                                   Devices devices = backends());

/// `computation` without its fault; itself where it has none.
std::shared_ptr<const Foundation> without_fault(const std::shared_ptr<const Computation>& computation);

/// What questions about a computation are about: those on the same data stand for each other.
std::string subject_of(const Foundation& foundation);
std::string subject_of_data(const std::weak_ptr<const Foundation>& of);

/// Of those that other settings of another rule do not stand for.
std::string subject_of_rule(const std::weak_ptr<const Foundation>& of);

/// Judges what a form gave against the reference of a foundation, as verify() does.
Judgement judged(const Foundation& foundation, Form form, const Output& output, const Tolerance& allowed,
                 const std::stop_token& stop);

/// That a run of this form takes a fused kernel on the device of the choice, and the steps shown are those of
/// a plain one (core/rules/backend.h); empty where they are not two.
std::string fused_words(const Computation& computed, Form form);

/// What comes of a form that has steps, compared with the reference. Any failure is said in `missing`.
struct ComparedForm {
  Weak<Foundation> of = {};
  Form form = Form::recurrent;

  auto operator<=>(const ComparedForm&) const = default;
  std::string subject() const { return name(form) + (" " + subject_of_data(of)); }
  Found<FormResult> compute(const Foundation& foundation, const Effort& effort) const;
};

/// How well every token is remembered.
struct RecallOfTokens {
  Weak<Foundation> of = {};
  auto operator<=>(const RecallOfTokens&) const = default;
  Found<TokenRecalls> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Where the memory runs away; nothing for a rule without one.
struct RunawayMemory {
  Weak<Foundation> of = {};

  auto operator<=>(const RunawayMemory&) const = default;
  Found<std::optional<Divergence>> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Asks for what a computation still lacks, and adds what is there: every form compared, the recall of the
/// tokens, where the memory runs away. Until then what the last choice for the same data had stands. Returns
/// whether something was added; `problem` says what could not be computed.
bool complete(const std::shared_ptr<Computation>& computation, Questions& questions, std::string& problem);

}  // namespace palimpsest
