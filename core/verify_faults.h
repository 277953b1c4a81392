#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/departure.h"
#include "core/reference_run.h"
#include "core/variant.h"

namespace palimpsest {

/// Which forms are made faulty, and how. Every form is carried out by its own equations with the fault in
/// them, on cases that show what can be shown: an initial state, a scale other than 1, several chunks and a
/// short one, more tokens than one.
struct FaultPlan {
  std::vector<std::string> faults = {};    // ids (core/faults.h); none: all
  std::vector<std::string> variants = {};  // ids; none: the whole table
  std::uint64_t seed = 1;
};

/// One form with one fault in it.
struct FaultyResult {
  std::string fault;
  std::string variant;
  std::string options = {};  // "causal=false"; empty: the variant has none
  Form form = Form::recurrent;
  std::string data = {};                    // the random case that shows the fault, as --input takes it
  Judgement judgement = {};                 // of the outputs and states, as verify() judges them
  std::optional<Departure> departure = {};  // the first step that is off
  std::string message = {};                 // why an equation could not even be carried out; mostly empty

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
  bool complete = true;  // false if it was asked to stop

  /// How many of the faulty forms fail verification.
  Index noticed() const;
};

/// Makes every form of every variant of `table` faulty in every way that applies, in f64. `progress` is told
/// what comes next; it may be empty. Asked to stop, it reports what is done. Throws InputError for an unknown
/// fault or variant.
FaultReport verify_faults(const FaultPlan& plan, std::span<const Variant> table = variants(),
                          const std::function<void(const std::string& doing)>& progress = {},
                          std::stop_token stop = {});

/// The report as a table for a terminal: every faulty form with the first token and the first step that is
/// off, and why the others have no such fault.
std::string to_table(const FaultReport& report);

/// The same as JSON: {"complete": ..., "noticed": ..., "faulty": [...], "without": [...]}.
std::string to_json(const FaultReport& report);

}  // namespace palimpsest
