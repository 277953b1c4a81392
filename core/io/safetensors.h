#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "core/io/npz.h"

namespace palimpsest {

/// The tensors of a .safetensors, as https://github.com/huggingface/safetensors lays it out: eight bytes with
/// the length of a JSON header, the header, the numbers. F16, BF16 and F32 are kept as float; F64, integers
/// and BOOL as double. U8 lists called `tokens` or `meta` are texts; __metadata__ is passed over. A tensor
/// that is broken or of another dtype is told in Npz::unreadable. Throws InputError naming the file.
Npz read_safetensors(const std::filesystem::path& path, const NpzLimits& limits = {},
                     const std::function<bool(std::string_view name)>& wanted = {});

}  // namespace palimpsest
