#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "core/io/npz.h"

namespace palimpsest {

/// One head from a table: a line of names, then a line for each token, fields between commas, "…" around
/// those that hold one. The columns q0, q1, … (or q[0], q[1], …) are the array q [T, D] in any order; beta is
/// an array [T]; label (or token) is what the tokens are called; a column without a name is passed over.
/// Numbers are kept as double. What is no finite number is told in Npz::unreadable by line and column; lines
/// of another length, names that are there twice and quotes left open are an InputError.
Npz read_csv(const std::filesystem::path& path, const NpzLimits& limits = {},
             const std::function<bool(std::string_view name)>& wanted = {});

}  // namespace palimpsest
