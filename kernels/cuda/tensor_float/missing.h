#pragma once

#include <optional>
#include <string>

#include "core/contract/variant.h"

namespace palimpsest::cuda {

/// Why a form that exists is not computed in tf32, which its own kernels alone do; nothing where they do. How
/// many channels there are is known only when it runs.
std::optional<std::string> missing_in_tf32(const Variant& variant, const Settings& settings, Form form);

}  // namespace palimpsest::cuda
