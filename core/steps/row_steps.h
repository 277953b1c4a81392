#pragma once

#include <vector>

#include "core/operator/program.h"
#include "core/steps/row_notation.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The steps of a row program in one form, from its structure alone: which operations there are, in which
/// order, with which formulas and words. `scaled`: the query is multiplied by a scale other than 1.
std::vector<Phase> row_phases(const Structure& structure, const Notation& notation, Form form, bool scaled);

/// How the tensors of these steps are written and called.
Symbols row_symbols(const Structure& structure, const Notation& notation, Form form);

}  // namespace palimpsest
