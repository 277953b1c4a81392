#pragma once

#include <string>
#include <vector>

#include "core/steps/trace.h"

namespace palimpsest {

/// The line of a form in which the memory is written anew; null where it has none.
const Line* rewriting_line(const Trace& trace);

/// Which tensors of `line` the other line lacks, or has otherwise: another symbol, or as a factor of another
/// kind (alpha, Diag(alpha)). Each once, in order of appearance.
std::vector<std::string> lacking(const Line& line, const Symbols& symbols, const Line& other,
                                 const Symbols& other_symbols);

}  // namespace palimpsest
