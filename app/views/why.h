#pragma once

#include <cstddef>
#include <string>

namespace palimpsest {

/// What "Why this number?" said in the last frame: what the tests look at.
struct WhyMap {
  std::string fate;       // what became of what one word wrote
  std::string origin;     // beside the title: which cell it is
  std::size_t parts = 0;  // that have a bar of their own
  float beyond = 0;       // how much of it lies below the panel's edge, in screen pixels
};

/// That of the current Dear ImGui context.
WhyMap& why_map();

}  // namespace palimpsest
