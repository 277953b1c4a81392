#pragma once

#include <stop_token>

#include "core/contract/sequence.h"
#include "core/contract/variant.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// `states` as arrays under the names of the initial states: matrices, or vectors where the variant takes
/// one.
Arrays initial_states(const Variant& variant, const Settings& settings, const Output& output);

/// The arrays of one head on which a run goes on where `finished` ended with `output`: the new tokens `more`
/// (what has an axis of tokens or of inner batches), the final states as initial ones, and what holds for all
/// tokens as `finished` had it. Bind them with the settings of `finished`. Throws InputError where the
/// sequence cannot go on: it ends within an inner batch, or its outputs look ahead.
Arrays continuation(const Variant& variant, const Sequence& finished, const Output& output, Arrays more);

/// What a run of `finished` and then of the tokens `more` gives, in one piece: the outputs of both and the
/// states after the last token. Only the new tokens are computed, in any form: a prefill may be chunkwise and
/// what follows recurrent. Throws what continuation(), bind() and the form throw.
Output extend(const Variant& variant, const Sequence& finished, const Output& output, Arrays more, Form form,
              Precision precision, Index chunk_size, std::stop_token stop = {});

/// What the tokens `more` get if they follow `finished` and only ask: their queries and gates count, nothing
/// is written (Rule::answers()), so that it does not matter whether `finished` looks ahead. [M, V]. Throws
/// InputError where `finished` ends within an inner batch, and what bind() and Rule::answers() throw.
Matrix<double> ask(const Variant& variant, const Sequence& finished, const Output& output, Arrays more,
                   Form form, Precision precision, Index chunk_size, std::stop_token stop = {});

}  // namespace palimpsest
