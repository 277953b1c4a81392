#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/session/state.h"

// What Compare shows side by side, and how that changes: functions of the state alone.

namespace palimpsest {

/// The sides: those of the state; while it has one only, beside it what is usually compared with it.
std::vector<Side> compared_sides(const SessionState& state);

/// Which of them differences are taken to, and which the rail's handle moves.
std::size_t reference_side(const SessionState& state);
std::size_t handle_side(const SessionState& state);

/// What is computed for a side: its rule on the data with their edits, with sliders of its own.
Choice choice_of(const SessionState& state, const Side& side);

/// The order in which they stand beside each other until one changes them: along the rail, then those that
/// are not on it.
std::vector<std::size_t> side_order(const std::vector<Side>& sides);

/// The sides from left to right. Each keeps its column, wherever it is moved on the rail.
std::vector<std::size_t> column_order(const SessionState& state);

/// Whether two sides have the same rule with the same settings, so that all their numbers are the same.
bool is_same_as(const Side& side, const Side& other);

/// The column, from 0, of a side further left that is the same as the one in `column`; nothing where it
/// stands alone.
std::optional<std::size_t> same_further_left(const SessionState& state, std::size_t column);

/// The state with another side, which takes the handle; at most most_sides.
SessionState with_side(SessionState state, Side side);

/// Why a side cannot be taken out; empty if it can.
std::string why_it_stays(const SessionState& state, std::size_t index);

/// The state without a side; unchanged if that stays.
SessionState without_side(SessionState state, std::size_t index);

/// The state with another reference.
SessionState with_reference(SessionState state, std::size_t index);

/// The state with another rule, form, precision or setting in the place of a side.
SessionState with_side_as(SessionState state, std::size_t index, Side side);

/// `side` with the rule at `place` of the rail (core/variants/rail.h). Of its settings those stay that the
/// rule has too.
Side moved_on_rail(Side side, double place);

/// Where a side stands on the rail; nothing where it does not.
std::optional<double> place_on_rail(const Side& side);

/// `side` a tenth of the way to the next stop further on the rail (direction 1) or back (-1), or where the
/// rule changes next; itself at the rail's ends and beside it.
Side further_on_rail(const Side& side, int direction);

/// The side that "add" adds: the stop of the rail nearest to the handle at which none stands yet; where all
/// are taken, the handle's own in another precision.
Side next_side(const SessionState& state);

/// What makes a side another one than `than`, beside its rule: "chunkwise, chunks of 8", "f32",
/// "layer_norm=true". Empty: nothing.
std::string otherwise(const Side& side, const Side& than);

}  // namespace palimpsest
