#pragma once

#include "core/variant.h"

namespace palimpsest {

// One function per file of core/variants; each row of the table in variants.cpp calls one.
Variant softmax();
Variant linear();
Variant kernel();
Variant retnet();
Variant scalar_decay();
Variant gla();
Variant deltanet();
Variant gated_deltanet();
Variant kda();

}  // namespace palimpsest
