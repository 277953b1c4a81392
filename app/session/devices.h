#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/rules/backend.h"

namespace palimpsest {

/// Every device that the program knows, the CPU first, whether it can be used here or not.
std::span<const Backend* const> backends();

/// The backend called `name`; throws InputError listing all.
const Backend& find_backend(std::string_view name);

/// Why nothing at all runs on this device here; empty if it can be used.
std::string unavailable(const Backend& backend);

/// The device in words: "2 threads", "NVIDIA H200, compute capability 9.0, 139 GiB".
std::string describe(const Backend& backend);

}  // namespace palimpsest
