#pragma once

#include <cstddef>
#include <string>

namespace palimpsest {

/// Which of the sides Compare stands on, and how it shows them. A number beyond the last side is the last.
struct CompareView {
  std::size_t reference = 0;  // the side that differences are taken to
  std::size_t handle = 0;     // the side that the rail's handle moves
  bool before = false;        // the memory before the word is written
  // The sides from left to right, by number: "120" (compared_sides.h). Empty: in the order of the rail.
  std::string columns = {};

  bool operator==(const CompareView&) const = default;
};

}  // namespace palimpsest
