#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/npz.h"

namespace palimpsest {

/// How the files end that read_array_file() reads.
inline constexpr std::array<std::string_view, 4> array_file_endings = {".npz", ".npy", ".safetensors",
                                                                       ".csv"};

/// The arrays of an .npz, a .safetensors or a .csv, or of the .npy files of one folder, named by the folder
/// or by any of them. All give what an .npz of the same arrays would. The ending says which it is, or else
/// how the file begins. With `wanted`, other arrays are only named. Throws InputError naming the file.
Npz read_array_file(const std::filesystem::path& path, const NpzLimits& limits = {},
                    const std::function<bool(std::string_view name)>& wanted = {});

/// What a file is called by: its name without the ending, or the name of a folder of .npy files.
std::string array_file_title(const std::filesystem::path& path);

/// Where such a file should have had the array `name`: "; expected the columns q0, q1, …". Empty for an
/// .npz and a .safetensors, which name their arrays themselves.
std::string where_expected(const std::filesystem::path& path, std::string_view name);

/// Throws InputError where the array `name` of a file is missing, naming those that it has: `arrays` and
/// `unread`.
void require_array(const std::filesystem::path& path, std::string_view name, const Arrays& arrays,
                   const std::vector<std::string>& unread);

/// The .npy files of a folder, each an array called as its file: q.npy, k.npy, v.npy, … `path` is the folder
/// or any of them. Throws InputError where there are none, and where `path` is an .npy that is not `wanted`.
Npz read_npy_files(const std::filesystem::path& path, const NpzLimits& limits = {},
                   const std::function<bool(std::string_view name)>& wanted = {});

}  // namespace palimpsest
