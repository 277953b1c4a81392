#pragma once

#include "core/rules/row_rule.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The trace of a row program: blocks of one token, one chunk or everything; states kept every few blocks
/// within `budget` bytes, the rest recomputed from the nearest one by the same engine.
std::unique_ptr<Trace> make_row_trace(const RowRule& rule, const Sequence& sequence, Form form,
                                      Precision precision, Index chunk_size, std::size_t budget,
                                      const DeviceEngines& engines);

}  // namespace palimpsest
