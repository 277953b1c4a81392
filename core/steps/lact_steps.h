#pragma once

#include "core/steps/phase.h"

namespace palimpsest {

/// What the steps of LaCT depend on.
struct LactShown {
  Form form = Form::recurrent;
  bool muon = false;
  bool tuned = false;  // every step of Newton and Schulz has its own coefficients
  bool l2 = false;
  bool update_first = false;
  bool weight_norm = false;
  bool momentum = false;
  bool tall = false;     // more rows than columns: the steps of Newton and Schulz work on M^T
  bool scaled = false;   // the query is multiplied by a scale other than 1
  bool divided = false;  // the pieces are shorter than the inner batches
};

/// The phases of LaCT, spec 3.11: gathering, the update, and with update_first reading; or the scan over all
/// batches (parallel).
Steps lact_steps(const LactShown& shown);

}  // namespace palimpsest
