#pragma once

#include "app/session/compared_sides.h"
#include "app/views/view.h"

// What the panels of Compare share.

namespace palimpsest {

/// Of the common scale: a memory with smaller entries has a colour scale of its own.
inline constexpr double least_part = 0.05;

/// A side with what is computed of it so far.
struct ComparedSide {
  std::size_t index = 0;  // among the sides of the state
  Side side = {};
  std::optional<std::size_t> same_as = {};  // a column further left, from 0, with the same rule and settings
  bool is_reference = false;
  bool has_handle = false;
  bool can_take_beta = false;                        // of the first side
  std::shared_ptr<const Computation> computed = {};  // null: not computed yet, or `reason` says why not
  std::shared_ptr<const SideMoment> moment = {};
  std::shared_ptr<const TokenRecalls> recall = {};
  std::string reason = {};
  bool is_old = false;  // something of it belongs to another place or choice
};

/// All sides from left to right, and the scale of their memories.
struct ComparedSides {
  std::vector<ComparedSide> sides;
  double range = 1;  // bounds 95 % of the entries of the largest memory, without those that are several times
                     // larger than the reference's

  const ComparedSide& reference() const {
    return *std::ranges::find(sides, true, &ComparedSide::is_reference);
  }
};

/// Requests what this frame shows of them.
ComparedSides compared(Application& application);

/// The name of a side: that of its stop on the rail, else of its rule; then its other settings.
std::string side_name(const Side& side);

/// The sides beside each other.
Node side_columns(Application& application, const ComparedSides& all);

}  // namespace palimpsest
