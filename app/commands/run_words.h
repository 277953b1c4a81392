#pragma once

#include <string>

#include "core/base/array.h"
#include "core/contract/sequence.h"

namespace palimpsest {

/// "4 heads of 1024 tokens, K 32, V 48, scale 1": what a run took the arrays for.
std::string describe_batch(const SequenceBatch& batch);

/// "3 of 4 heads of 1024 tokens done on cpu": where a run of the batch is; without the heads that are done,
/// of which a device may tell nothing, "4 heads of 1024 tokens on cuda".
std::string describe_progress(const SequenceBatch& batch, const std::string& device, Index done);

/// "; no run can go on from its states: ..." where they lie within an inner batch; else nothing.
std::string describe_states(const SequenceBatch& batch);

/// How far the output `o` of a run is from the one in its input, `given`, which whoever made the file has
/// computed; and whether a single factor would make them equal, as a forgotten scale does.
std::string compare_with_given(const Array& o, const Array& given);

}  // namespace palimpsest
