#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace palimpsest {

/// What JSON that is no session seems to be: "the settings of Palimpsest", "a Jupyter notebook", "an object
/// with the fields a, b and 3 more", "a list of 4 entries".
std::string seems_to_be(const nlohmann::json& read);

}  // namespace palimpsest
