#pragma once

#include "core/rules/row_rule.h"
#include "core/written/written_rule.h"

// What the files of a written rule share.

namespace palimpsest {

/// How the steps of the engines are named and what stands before them.
Notation notation_of(const WrittenRule& rule, const Settings& settings);

/// What data and settings give to `count` tokens, one row each: q with its scale, alpha itself whatever was
/// given.
Record given_to(const RuleText& rule, const Sequence& sequence, Index first, Index count);

/// All that the lines compute for a token, in f64, from the memories before it.
Record token_record(const RuleText& rule, const Sequence& sequence, Index token, const NamedStates& before);

/// The text's loss as the one that its rule learns by. Its problems refuse tokens whose update is no step
/// along its gradient.
InnerLoss text_loss(const WrittenRule& rule);

/// The columns of a memory for these data.
Index columns_of(const RuleMemory& memory, const Sequence& sequence);

/// The memory before the first token.
Matrix<double> initial_memory(const Variant& variant, const RuleMemory& memory, const Sequence& sequence);

}  // namespace palimpsest
