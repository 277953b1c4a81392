#pragma once

#include "core/contract/variant.h"

namespace palimpsest {

/// What is wrong with a rule's text, and where: lines and columns count from 1. The message names both.
class RuleTextError : public InputError {
 public:
  RuleTextError(Index line, Index column, const std::string& words);

  Index line;
  Index column;
};

/// An assignment of a rule's text: what one token computes. The expression reads inputs and settings by their
/// names, earlier results by theirs, and a memory M as the token found it by before(M).
struct RuleLine {
  Equation equation;
  Index line = 0;          // of the text, from 1
  Shape shape;             // of the result, in specimen sizes
  std::string title = {};  // of the step: the comment at the line's end, "# Title: sentence"
  std::string sentence = {};
};

/// A memory: [dk, dv], or [dk, 1] for what only adds up keys.
struct RuleMemory {
  std::string name;
  Shape shape;  // in specimen sizes
};

/// A rule as its text says it, one token at a time. `o` is assigned, and every memory.
struct RuleText {
  std::string title;
  std::string paper;
  std::string words;
  std::vector<Input> inputs;          // besides q, k and v
  std::vector<Parameter> parameters;  // the settings
  std::vector<RuleMemory> memories;   // S first
  std::vector<RuleLine> lines;        // in order; the last assignment of a memory M gives after(M)
  std::optional<RuleLine> loss;       // what an update should make smaller; S is the memory before the token
};

/// Sizes that stand for dk and dv while shapes are checked: no sum or product of a rule makes one into
/// another.
inline constexpr Index specimen_dk = 5;
inline constexpr Index specimen_dv = 7;

/// "[dk, 1]": a shape in specimen sizes.
std::string in_words(Shape specimen);

/// The tensors that a memory is before and after a token.
std::string before(std::string_view memory);
std::string after(std::string_view memory);

/// The line that gives `result`; null where none does.
const RuleLine* line_of(const RuleText& rule, std::string_view result);

/// Whether `result` is what a memory becomes.
bool is_memory_after(const RuleText& rule, std::string_view result);

/// Whether `x` reads settings alone, so that it is the same for all tokens.
bool is_fixed(const RuleText& rule, const Expression& x);

/// The identity matrices by which a text's I is known, [dk, dk] and [dv, dv].
inline constexpr const char* identity_of_keys = "I_k";
inline constexpr const char* identity_of_values = "I_v";

/// The names that lines may read, with zeros in specimen sizes: inputs, settings, memories, identities,
/// results.
Record specimen(const RuleText& rule);

/// Reads a rule's text:
///   title: Gated delta rule                (title, paper and words are optional)
///   inputs  alpha: gate per token;  beta: strength per token
///   setting gamma = 0.9 in [0, 1]: decay
///   memory  z: key                         (S: key x value is always there)
///   S' = alpha * S                         # Decay: the comment of a line names its step
///   S  = S' + beta * k (v - S'^T k)^T
///   o  = S^T q
///   loss = 1/2 |S'^T k - v|^2             (optional)
/// A name stands for what was assigned to it last; S on the left is the memory after the token. Throws
/// RuleTextError. At most `most_rule_bytes` are read, and no expression is nested deeper than 40.
RuleText parse_rule_text(std::string_view text);

inline constexpr std::size_t most_rule_bytes = 16384;

}  // namespace palimpsest
