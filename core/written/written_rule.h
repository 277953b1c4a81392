#pragma once

#include "core/contract/output.h"
#include "core/steps/phase.h"
#include "core/written/row_form.h"

namespace palimpsest {

struct RowDeclaration;

/// What was made of a rule's text.
struct WrittenRule {
  RuleText text;
  std::variant<RowForm, NoRowForm>
      form;         // a row program, or why it is none: then it runs token by token alone
  Variant variant;  // its id is written_id() of the text
};

/// What the ids of written rules begin with; the text follows, escaped.
inline constexpr std::string_view written_prefix = "rule:";
std::string written_id(std::string_view text);

/// The text of a written rule, or that of a rule of the table (Variant::text).
std::string written_text(const Variant& variant);

/// The rule of a text, or of an id with its prefix. It is made once and stays. Throws RuleTextError.
const WrittenRule& written_rule(std::string_view text);

/// The rows of a rule whose form is a row program. It must outlive them.
RowDeclaration rows_of(const WrittenRule& rule);

/// A row rule that computes what the text of `variant` says. The text is read when the rule is first used; it
/// must be that of a row program. Without alpha, where that is optional, nothing decays.
std::shared_ptr<const Rule> rule_of_text(const Variant& variant);

/// A token's steps as the lines say them, and the symbols of their names.
Steps written_steps(const RuleText& rule);

/// Outputs and final memories of one head, by carrying out the lines as they stand, in f64: what every form
/// of the rule is compared with.
Output carried_out(const WrittenRule& rule, const Sequence& sequence);

}  // namespace palimpsest
