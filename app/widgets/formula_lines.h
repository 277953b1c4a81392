#pragma once

#include <string>
#include <vector>

namespace palimpsest {

/// A formula cut before its signs of relation, plus and minus into lines that are no wider than `width` with
/// letters of `size_px` screen pixels, all but the first of them `indent` less: as few as it takes. What no
/// sign parts stays whole, however wide.
std::vector<std::string> formula_lines(const std::string& latex, float size_px, float width,
                                       float indent = 0);

}  // namespace palimpsest
