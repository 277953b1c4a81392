#pragma once

#include <span>
#include <string>

#include "core/contract/variant.h"

namespace palimpsest {

/// The id of softmax attention, beside which every other rule is raced.
inline constexpr const char* race_peer = "softmax";

/// The label of a variant; its id where the table does not have it, as in a report of another program.
std::string race_label(const std::string& id, std::span<const Variant> table);

/// "1,048,576": digits in groups of three.
std::string in_groups(std::string digits);

}  // namespace palimpsest
