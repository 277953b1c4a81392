#pragma once

#include "app/session/memory_questions.h"

// The sides of Compare: which there are and how that changes, as functions of the state alone; each as a
// computation of its own; and its memory at a token.

namespace palimpsest {

/// The sides of the state; if there is only one, also the rule that it is usually compared with.
std::vector<Side> compared_sides(const SessionState& state);

/// The side that differences refer to, and the side that the rail's handle moves.
std::size_t reference_side(const SessionState& state);
std::size_t handle_side(const SessionState& state);

/// What is computed for a side: its rule on the data with their edits, with sliders of its own.
Choice choice_of(const SessionState& state, const Side& side);

/// Whether a side's rule has no write strength but can use that of the first side: then Side::with_beta says
/// whether it does.
bool can_take_beta(const SessionState& state, const Side& side);

/// The default order of the sides: along the rail, then those that are not on it.
std::vector<std::size_t> side_order(const std::vector<Side>& sides);

/// The sides from left to right. Each keeps its column, wherever it is moved on the rail.
std::vector<std::size_t> column_order(const SessionState& state);

/// Whether two sides have the same rule with the same settings, so that all their numbers are the same.
bool is_same_as(const Side& side, const Side& other);

/// The column, from 0, of a side further left that is the same as the one in `column`; nothing if there is
/// none.
std::optional<std::size_t> same_further_left(const SessionState& state, std::size_t column);

/// The state with another side, which takes the handle; at most most_sides.
SessionState with_side(SessionState state, Side side);

/// Why a side cannot be removed; empty if it can.
std::string why_it_stays(const SessionState& state, std::size_t index);

/// The state without a side; unchanged if that stays.
SessionState without_side(SessionState state, std::size_t index);

SessionState with_reference(SessionState state, std::size_t index);

SessionState with_side_as(SessionState state, std::size_t index, Side side);

/// `side` with the rule at `place` of the rail (core/variants/variants.h). It keeps the settings that this
/// rule has, too.
Side moved_on_rail(Side side, double place);

std::optional<double> place_on_rail(const Side& side);

/// `side` a tenth of the way to the next stop further on the rail (direction 1) or back (-1), or where the
/// rule changes next; itself at the rail's ends and beside it.
Side further_on_rail(const Side& side, int direction);

/// The side that "add" adds: the free stop of the rail nearest to the handle; if all are taken, the handle's
/// side in another precision.
Side next_side(const SessionState& state);

/// How a side differs from `than` apart from its rule: "chunkwise, chunks of 8", "f32", "layer_norm=true";
/// empty if it does not.
std::string otherwise(const Side& side, const Side& than);

/// The computation of a choice other than the one that is stepped through: a question. Until it is there, the
/// last side in the same slot is shown.
struct ComputedSide {
  static constexpr std::size_t most_kept = has_little_memory ? 2 : 8;  // of their traces
  Weak<DataSet> of = {};
  std::shared_ptr<const Choice> choice = {};
  std::size_t slot = 0;
  Devices devices = backends();

  std::string subject(const DataSet& data) const { return fmt::format("{} {}", slot, text_of(data)); }
  /// By data and choice.
  bool operator<(const ComputedSide& other) const;
  Found<Computation> compute(const Effort& effort) const;
};

/// The question for a choice of these data. What its device cannot compute is left to the CPU.
ComputedSide computed_side(const std::shared_ptr<const DataSet>& data, Choice choice, std::size_t slot,
                           Devices devices = backends());

/// The memory of a side before and after a token, in its own form and precision, beside the reference's.
struct SideMoment {
  /// One of the two states: before or after the token.
  struct Memory {
    Matrix<double> S = {};
    Matrix<double> apart = {};             // S minus the reference's; empty if `no_difference` says why
    std::vector<double> sizes = {};        // magnitudes of S, ascending, without those that are not finite
    std::vector<double> apart_sizes = {};  // the same of the difference
    double length = 0;                     // |S|_F
    double apart_length = 0;
    double range = 0;           // bounds 95 % of the entries
    double apart_range = 0;     // the same for the difference
    std::uint64_t version = 0;  // unique, as is
    std::uint64_t apart_version = 0;
  };

  std::string state = {};  // its name: "S"
  Memory before = {};
  Memory after = {};
  double range = 0;                // the larger of the two
  std::string no_memory = {};      // why there is no memory; empty if there is
  std::string no_difference = {};  // why there is no difference from the reference's
  AnswerTable table = {};
  std::string sentence = {};  // from the largest changes of the table
  std::string others = {};    // how much of their own values the other keys return
  std::string no_table = {};  // why there is no table
};

/// That moment: a question.
struct SideAtWord {
  Weak<Foundation> of = {};
  Weak<Foundation> reference = {};
  Weak<Foundation> asking = {};  // determines the tokens that all sides are queried for
  Index token = 0;
  WordChoice words = {};
  std::size_t slot = 0;
  std::string subject(const Foundation& about) const { return fmt::format("{} {}", slot, subject_of(about)); }
  auto operator<=>(const SideAtWord&) const = default;
  Found<SideMoment> compute(const Foundation& foundation, const Effort& effort) const;
};

/// A sentence on a side: its place on the rail or its rule, and the inputs of the rule that these data lack.
std::string side_sentence(const Foundation& foundation);

}  // namespace palimpsest
