#pragma once

#include "app/session/memory_questions.h"

// What Compare shows side by side: which sides there are and how that changes, functions of the state alone;
// each as a computation of its own; and what its memory holds at a word.

namespace palimpsest {

/// The sides: those of the state; while it has one only, beside it what is usually compared with it.
std::vector<Side> compared_sides(const SessionState& state);

/// Which of them differences are taken to, and which the rail's handle moves.
std::size_t reference_side(const SessionState& state);
std::size_t handle_side(const SessionState& state);

/// What is computed for a side: its rule on the data with their edits, with sliders of its own.
Choice choice_of(const SessionState& state, const Side& side);

/// Whether a side's rule lacks the strength that the first side's has, and can be given it: then
/// Side::with_beta says whether it is.
bool can_take_beta(const SessionState& state, const Side& side);

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

/// `side` with the rule at `place` of the rail (core/variants/variants.h). Of its settings those stay that
/// the rule has too.
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

/// A choice other than the one that is stepped through, computed. Sides in the same place stand for each
/// other until the new one is there.
struct ComputedSide {
  static constexpr std::size_t most_kept = 8;

  Weak<DataSet> of = {};
  std::shared_ptr<const Choice> choice = {};
  std::size_t slot = 0;
  Devices devices = backends();

  std::string subject() const;
  /// By data and choice.
  bool operator<(const ComputedSide& other) const;
  Found<Computation> compute(const Effort& effort) const;
};

/// The question for a choice of these data. What its device cannot compute is left to the CPU.
ComputedSide computed_side(const std::shared_ptr<const DataSet>& data, Choice choice, std::size_t slot,
                           Devices devices = backends());

/// The memory of a side around a word, as its own form and precision make it, beside the reference's.
struct SideMoment {
  /// One of its two states: before the word, or after it.
  struct Memory {
    Matrix<double> S = {};
    Matrix<double> apart = {};             // S less the reference's; empty where `no_difference` says why
    std::vector<double> sizes = {};        // magnitudes of S, ascending, without those that are no numbers,
    std::vector<double> apart_sizes = {};  // and of the difference
    double length = 0;                     // |S|_F
    double apart_length = 0;
    double range = 0;           // what 95 % of its numbers lie within
    double apart_range = 0;     // and of the difference
    std::uint64_t version = 0;  // no other has it, and
    std::uint64_t apart_version = 0;
  };

  std::string state = {};  // what it is called: "S"
  Memory before = {};
  Memory after = {};
  double range = 0;                // the larger of the two
  std::string no_memory = {};      // why there is none; empty: there is
  std::string no_difference = {};  // why it cannot be taken from the reference's
  AnswerTable table = {};
  std::string sentence = {};  // made from its largest changes
  std::string others = {};    // how much the other words still answer themselves
  std::string no_table = {};  // why nothing is answered
};

/// That moment: a question.
struct SideAtWord {
  Weak<Foundation> of = {};
  Weak<Foundation> reference = {};
  Weak<Foundation> asking = {};  // whose words all sides are asked with
  Index token = 0;
  WordChoice words = {};
  std::size_t slot = 0;

  std::string subject() const;
  auto operator<=>(const SideAtWord&) const = default;
  Found<SideMoment> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What a side does, in a sentence: its place on the rail or its rule's words, and what these data lack of
/// what it takes.
std::string side_sentence(const Foundation& foundation);

}  // namespace palimpsest
