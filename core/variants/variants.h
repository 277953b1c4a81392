#pragma once

#include "core/contract/variant.h"

namespace palimpsest {

struct RowDeclaration;

/// Every variant, in a good order for learning them. A row program whose memory can be read at any time
/// has the option `order`, unless it has one of its own.
std::span<const Variant> variants();

/// The variant with this id among `table`, or the rule of a text (core/written/written_rule.h). Throws
/// InputError listing the known ids, or saying what is wrong with the text.
const Variant& find_variant(std::string_view id, std::span<const Variant> table = variants());

/// What a line of a report calls a variant: its id, or the label of a rule whose id is a whole text.
std::string name_in_reports(std::string_view id);

/// The option that says whether a token reads the memory after its own update, o_t = S_t^T q_t, or before it,
/// o_t = S_{t-1}^T q_t, as papers differ. LaCT has it for whole batches.
inline constexpr const char* read_order_option = "order";
inline constexpr const char* reads_after = "update_first";
inline constexpr const char* reads_before = "apply_first";

/// The rule with reads before its rows if the settings say so and tokens read during the sequence.
RowDeclaration in_either_order(RowDeclaration rule);

/// Why tokens of `variant` read at one time only, with these settings; empty where the option has an effect.
std::string no_read_order(const Variant& variant, const Settings& settings);

/// A rule on the rail, along which symbols are added to linear attention one by one.
struct RailStop {
  const char* variant;
  const char* name;
  const char* words;  // what it does, in about four words
};

/// The stops, the plainest rule first.
std::span<const RailStop> rail();

/// The parameter of a rule between two stops: 0 at the lower one, 1 at the upper one. At its ends it runs
/// their program, so that all numbers equal theirs, bit for bit.
inline constexpr const char* rail_parameter = "position";

/// Where on the rail a rule stands: a whole number at a stop, else between two; nothing for other rules.
std::optional<double> rail_place(const std::string& variant, const Settings& settings);

/// The rule at `place`, from 0 to the last stop: that of a stop, or one between two with its position. Where
/// no rule joins two stops, the nearer stop. Throws InputError outside.
struct RailRule {
  std::string variant;
  std::optional<double> position = {};
};
RailRule rule_at(double place);

/// Which symbol changes at `place` and how far, or why the rail jumps there, in a sentence; at a stop what
/// the rule does. Throws InputError outside.
std::string rail_sentence(double place);

/// The rules between two stops: find_variant() finds them like the others, but no list shows them.
std::span<const Variant> joints();

// Rules that add up unscaled writes, with an added strength β so that they can be compared with rules that
// have one: o = Σ β v (k · q).

/// What the id of such a rule ends with.
inline constexpr std::string_view strength_suffix = "_with_beta";

/// `variant` with a strength; null where it has one, or is no such sum. find_variant() finds them, but no
/// list shows them.
const Variant* with_strength(std::string_view variant);

/// The id of the rule that was given the strength.
std::string without_strength(std::string variant);

/// The rules between two stops of the rail that have no strength or add it, with the full strength at every
/// position.
std::span<const Variant> strengthened_joints();

}  // namespace palimpsest
