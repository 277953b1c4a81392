#pragma once

#include "app/session/compared_sides.h"
#include "app/views/view.h"

// What the panels of Compare share.

namespace palimpsest {

/// Of the common scale: the colours of a memory that is smaller have an end of their own.
inline constexpr double least_part = 0.05;

/// A side as it is known by now.
struct ComparedSide {
  std::size_t index = 0;  // among the sides of the state
  Side side = {};
  std::optional<std::size_t> same_as = {};  // a column further left, from 0, with the same rule and settings
  bool is_reference = false;
  bool has_handle = false;
  bool can_take_beta = false;                        // of the first side
  std::shared_ptr<const Computation> computed = {};  // null: not there yet, or `reason` says why not
  std::shared_ptr<const SideMoment> moment = {};
  std::shared_ptr<const TokenRecalls> recall = {};
  std::string reason = {};
  bool is_old = false;  // something of it belongs to another place or choice
};

/// All sides in the order in which they stand, and the scale of their memories.
struct ComparedSides {
  std::vector<ComparedSide> sides;
  double range = 1;  // what 95 % of the numbers lie within, of the largest memory that is no multiple of the
                     // reference

  const ComparedSide& reference() const {
    return *std::ranges::find(sides, true, &ComparedSide::is_reference);
  }
};

/// Asks for them as they are wanted in this frame.
ComparedSides compared(Application& application);

/// The look of a side's line: the colour of its rule, and dashes where one further left has the same.
PlotLook side_look(const ComparedSides& all, const ComparedSide& side);

/// What a side is called: by its stop on the rail, else by its rule; with what is otherwise about it.
std::string side_name(const Side& side);

/// The rail.
Node rail_node(Application& application, const ComparedSides& all);

/// The sides beside each other.
Node side_columns(Application& application, const ComparedSides& all);

/// What one can do with a side: another rule, form, precision or option.
Node side_menu(Application& application, const ComparedSide& side);
inline constexpr float side_menu_width = 460;  // design pixels

}  // namespace palimpsest
