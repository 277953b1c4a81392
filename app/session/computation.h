#pragma once

#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/session/inputs.h"
#include "core/insight/divergence.h"
#include "core/insight/recall.h"
#include "core/proof/reference_run.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// Everything that decides what is computed; nothing about where one looks.
struct Choice {
  std::string variant = "gated_deltanet";
  Form form = Form::recurrent;
  Precision precision = Precision::f64;
  Index chunk_size = 8;
  Index head = 0;  // over batches and heads: batch * heads + head
  Settings settings;
  Adjustments adjustments;
};

/// One form of the present sequence.
struct FormResult {
  std::string missing;  // why it does not exist; empty if it does
  Output output;
  std::shared_ptr<const Trace> trace;  // its steps; records of them are answers (app/session/sight.h)
  Judgement judgement;                 // against the reference, as verify() judges it
  std::string amplified;               // why the judgement allows more than the tolerance; mostly empty
  std::vector<double> token_residual;  // the error of each token's output
  Index first_bad_token = -1;          // the first beyond what is allowed; -1: none

  /// max |o - o_ref| / max |o_ref|, final states included.
  double residual() const { return judgement.disagreement.error; }
};

/// What the timeline shows of a token.
struct TokenFacts {
  std::optional<double> alpha;  // how much is kept, mean over the channels
  std::optional<double> beta;   // how much is written
  std::optional<Recall> recall;
};

/// One of those counted by live_computations().
struct LiveComputation {
  LiveComputation();
  ~LiveComputation();
  LiveComputation(const LiveComputation&) = delete;
  LiveComputation& operator=(const LiveComputation&) = delete;
};

/// How many computations there are in this process. A session needs one, and another while it changes.
int live_computations();

/// All that was computed for one choice. Built away from the window's thread, never changed afterwards, but
/// for what traces remember and for a parallel form that comes late.
struct Computation {
  std::shared_ptr<const DataSet> data;
  const Variant* variant = nullptr;
  Choice choice;
  Inputs inputs;
  Sequence sequence;                        // as the chosen precision holds it
  std::unique_ptr<ReferenceRun> reference;  // what the f64 recurrence makes of it
  std::array<FormResult, std::size(all_forms)> forms;
  std::vector<TokenFacts> tokens;
  std::optional<Divergence> divergence;  // where the memory runs away
  Form worst_form = Form::recurrent;  // the furthest beyond what it is allowed, or if none is, the furthest
                                      // off of those that can be judged
  double worst = 0;                   // its residual, and
  double tolerance = 0;               // what that must stay below
  bool agree = true;                  // all forms stay within what they are allowed
  std::optional<double>
      capture_error;  // this head's distance to the output in the file, if the inputs are the file's own
  std::uint64_t version = 0;
  LiveComputation live{};

  FormResult& form(Form form) { return forms[static_cast<std::size_t>(form)]; }
  const FormResult& form(Form form) const { return forms[static_cast<std::size_t>(form)]; }
};

/// The most tokens whose n x n matrices are made: the parallel form of longer sequences is missing.
inline constexpr Index most_tokens_at_once = 4096;

/// The most tokens for which a form beyond its tolerance is asked whether its numbers amplify rounding: that
/// takes more than a dozen recurrences.
inline constexpr Index most_tokens_measured = 4096;

/// The largest chunk that can be chosen for this many tokens.
Index largest_chunk(Index tokens);

/// Computes everything for one head, with the records around `token` at hand; but for the parallel form of
/// long sequences. Throws InputError, Unsupported or Cancelled.
std::shared_ptr<Computation> compute(std::shared_ptr<const DataSet> data, const Choice& choice,
                                     Index token = 0, std::stop_token stop = {});

/// Whether the parallel form of `computation` takes so long that compute() leaves it for later.
bool has_late_form(const Computation& computation);

/// The parallel form that compute() has left for later. Throws Cancelled; any other failure is said in
/// `missing`.
FormResult compute_late_form(const Computation& computation, std::stop_token stop = {});

/// Puts it in its place.
void add_late_form(Computation& computation, FormResult form);

}  // namespace palimpsest
