#pragma once

#include <string_view>

#include "core/steps/trace.h"

namespace palimpsest {

/// The other way to write a memory: states that stand value x key. What holds of S then holds of its
/// transpose, and a product turns its factors round, (X Y)^T = Y^T X^T: S_t = S_{t-1} + k v^T becomes
/// S_t = S_{t-1} + v k^T, and o = S^T q becomes o = S q.

/// Whether `name` is a state that turns: a matrix of keys x values. A vector has nothing to turn.
bool turns(std::string_view name, const Symbols& symbols, const Record& record);

/// `record` with every state that turns transposed.
Record turned(const Record& record, const Symbols& symbols);

/// `equation` between the tensors of the turned record. `record` is the one that the engine recorded.
Equation turned(const Equation& equation, const Symbols& symbols, const Record& record);

/// A phase with the equations of all its operations and lines turned.
Phase turned(Phase phase, const Symbols& symbols, const Record& record);

}  // namespace palimpsest
