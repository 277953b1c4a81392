#pragma once

#include "app/session/questions.h"
#include "app/session/state.h"
#include "core/written/written_rule.h"

// The text of the workspace Write: a rule of the user's own.

namespace palimpsest {

/// The text that is being written; before anything is, that of the rule that is computed, or else one to
/// begin with.
std::string own_rule(const SessionState& state);

/// Writes the text. If nothing is wrong with it, its rule is computed; otherwise the last one stays.
void write_rule(SessionState& state, std::string text);

/// What is wrong with a text; nothing if it is a rule.
std::optional<RuleTextError> flaw_of(std::string_view text);

/// The ids of the written rules in a state: the one that is being written and those of the sides.
std::vector<std::string> own_rules(const SessionState& state);

/// A part of what a rule does: "decay", "α, a number for each token"; the role gives its colour.
struct RuleFact {
  std::string name;
  std::string words;
  Role role = Role::plain;
  auto parts() const { return std::tie(name, words); }
  bool operator==(const RuleFact&) const = default;
};

/// Of a row program: decay, erase and write of each of a token's steps, and what is read; of another rule,
/// why it is none.
std::vector<RuleFact> rule_facts(const WrittenRule& rule);

/// The rule of the table that computes the same, or else the nearest one.
struct NearestRule {
  const Variant* variant = nullptr;
  bool is_same = false;
  std::vector<RuleFact> differs = {};  // what it does in another way
  auto parts() const { return std::tie(differs); }
};

/// A question. Without an answer for a rule that is no row program.
struct NearestTo {
  std::string variant = {};
  auto operator<=>(const NearestTo&) const = default;
  Found<NearestRule> compute(const Effort& effort) const;
};

}  // namespace palimpsest
