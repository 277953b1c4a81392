#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/contract/variant.h"
#include "core/proof/departure.h"
#include "core/proof/reference_run.h"
#include "core/proof/verify_plan.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Cases that show what can be shown: an initial state, a scale other than 1, several chunks and a short one,
/// keys as wide as values. In f64 on the processor.
VerifyPlan revealing_plan();

/// Which forms are made faulty, and how. Every form is carried out by its own equations with the fault in
/// them.
struct FaultPlan {
  std::vector<std::string> faults = {};  // ids (core/proof/faults.h); none: all
  VerifyPlan cases = revealing_plan();
};

/// One form with one fault in it, in the first case in which verification fails; where it fails in none, in
/// the one where the form is furthest off.
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

/// Makes every form faulty in every way that applies, in the cases of the plan until one shows it, in f64 on
/// the processor: a plan that asks for anything else throws Unsupported. The report does not depend on
/// VerifyPlan::jobs. `progress` may be empty and is never called twice at once. Asked to stop, it reports
/// what is finished. Throws InputError for an unknown fault or variant.
FaultReport verify_faults(const FaultPlan& plan, std::span<const Variant> table = variants(),
                          const std::function<void(const FaultProgress&)>& progress = {},
                          std::stop_token stop = {});

/// The report as a table for a terminal: every faulty form with the first step that is off, and why others
/// have no such fault.
std::string to_table(const FaultReport& report);

/// The same as JSON: {"complete": ..., "cases": ..., "noticed": ..., "faulty": [...], "without": [...]}.
std::string to_json(const FaultReport& report);

}  // namespace palimpsest
