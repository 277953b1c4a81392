#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/proof/departure.h"
#include "core/proof/faults.h"
#include "core/proof/reference_run.h"

namespace palimpsest {

/// What one form comes to with a fault in it.
struct FaultRun {
  Judgement judgement = {};                 // of the outputs and states, as verify() judges them
  std::optional<Departure> departure = {};  // the first step that is off
  Output output = {};                       // incomplete where an equation could not be carried out
  std::string message = {};                 // why it could not; mostly empty

  /// Whether verification fails, as it should.
  bool noticed() const { return !message.empty() || !judgement.passed(); }
};

/// Carries out the form of `trace` with `fault` in its equations; `judge` says how far its output is from the
/// f64 recurrence. Nothing where the form has nothing of the kind that goes wrong (Fault::needs). Throws
/// Cancelled when asked to stop.
std::optional<FaultRun> run_with(const Fault& fault, Trace& trace,
                                 const std::function<Judgement(const Output&)>& judge,
                                 std::stop_token stop = {});

}  // namespace palimpsest
