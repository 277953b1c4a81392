#pragma once

#include <string>

#include "core/contract/sequence.h"

namespace palimpsest {

/// Throws InputError naming the array and the index, or the parameter, that f32 cannot hold: finite numbers
/// that become infinite, and parameters that become 0.
void require_fits_f32(const Variant& variant, const Arrays& arrays, const SequenceBatch& batch);

/// For every array of `results` that holds NaN or an infinity: a line that names it, the head and the first
/// token, and the reason where it can be told.
std::vector<std::string> not_finite(const Variant& variant, const SequenceBatch& batch, const Arrays& results,
                                    Precision precision);

}  // namespace palimpsest
