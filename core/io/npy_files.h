#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "core/io/npz.h"

namespace palimpsest {

/// The .npy files of a folder, each an array called as its file: q.npy, k.npy, v.npy, … `path` is the folder
/// or any of them. Throws InputError where there are none, and where `path` is an .npy that is not `wanted`.
Npz read_npy_files(const std::filesystem::path& path, const NpzLimits& limits = {},
                   const std::function<bool(std::string_view name)>& wanted = {});

}  // namespace palimpsest
