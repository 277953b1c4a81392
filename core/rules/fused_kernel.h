#pragma once

#include <string>

#include "core/rules/backend.h"

namespace palimpsest {

/// A sentence where a run of this sequence on `device` goes through a fused kernel, which never makes the
/// tensors of a step: those of a trace then come from plain kernels. Empty where both are made alike, or the
/// form does not run there.
std::string fused_kernel(const Backend& device, const Variant& variant, const Sequence& sequence, Form form,
                         Precision precision);

}  // namespace palimpsest
