#pragma once

#include "core/contract/output.h"
#include "core/written/row_form.h"

namespace palimpsest {

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

/// The rule of a text, or of an id with its prefix. It is made once and stays. Throws RuleTextError.
const WrittenRule& written_rule(std::string_view text);

/// Outputs and final memories of one head, by carrying out the lines as they stand, in f64: what every form
/// of the rule is compared with.
Output carried_out(const WrittenRule& rule, const Sequence& sequence);

}  // namespace palimpsest
