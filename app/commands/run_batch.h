#pragma once

#include <stop_token>
#include <string>

#include "core/base/array.h"
#include "core/contract/sequence.h"
#include "core/rules/backend.h"

namespace palimpsest {

/// Runs every head of every batch: `o` and the final states under their contract names, with the axes of
/// heads and batches that q has, as double for f64 and as float for f32. The CPU takes a head per thread, as
/// far as memory goes; results do not depend on their number. Throws InputError if there is no head at all,
/// or if the results would fill the memory, Cancelled when asked to stop. `head_done` as in the backend's
/// own.
Arrays run_heads(const Backend& backend, const Variant& variant, const SequenceBatch& batch, Form form,
                 Precision precision, Index chunk_size, std::stop_token stop = {},
                 const HeadDone& head_done = {});

/// Throws InputError naming the array and the index, or the parameter, that f32 cannot hold: finite numbers
/// that become infinite, and parameters that become 0.
void require_fits_f32(const Variant& variant, const Arrays& arrays, const SequenceBatch& batch);

/// For every array of `results` that holds NaN or an infinity: a line that names it, the head and the first
/// token, and the reason where it can be told.
std::vector<std::string> not_finite(const Variant& variant, const SequenceBatch& batch, const Arrays& results,
                                    Precision precision);

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
