#pragma once

#include <string>

#include "app/session/computation.h"

namespace palimpsest {

/// That a run of this form takes a fused kernel on the device of the choice, and the steps shown are those of
/// a plain one (core/rules/fused_kernel.h); empty where they are not two.
std::string fused_words(const Computation& computed, Form form);

}  // namespace palimpsest
