#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/matrix.h"

namespace palimpsest {

/// Whether a tensor of this name holds decay factors: what is left, from 0 to 1.
bool holds_decays(const std::string& tensor, const Matrix<double>& values);

/// Whether fading_cells() colours it: it holds decay factors, and is not too large for that.
bool shows_fading(const std::string& tensor, const Matrix<double>& values);

/// What the cells of decay factors are coloured as on a scale from -1 to 1: one is paper, 0 the end of the
/// scale, and what a triangle leaves out is -inf, which is hatched. Null where `tensor` holds no such
/// factors: by its name, and only while all its numbers are from 0 to 1. Kept for `key` while `version`
/// stays.
const Matrix<double>* fading_cells(std::string_view key, const std::string& tensor,
                                   const Matrix<double>& values, std::uint64_t version);

}  // namespace palimpsest
