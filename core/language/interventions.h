#pragma once

#include "core/language/language_model.h"

namespace palimpsest {

/// A change of the inputs of heads, or of their rule: "only-add:2.1", "beta:2=0.5".
struct Intervention {
  std::string kind;                 // the id of one of intervention_kinds()
  std::optional<Index> layer = {};  // none: all
  std::optional<Index> head = {};   // of it; none: all
  std::string value = {};           // as the kind requires

  bool operator==(const Intervention&) const = default;
};

/// A head that is to be changed: the given value, and the head, from 0 on.
struct ChangedHead {
  std::string_view value;
  Index head = 0;
};

/// One way to intervene.
struct InterventionKind {
  const char* id;
  const char* words;       // what it does
  const char* done;        // the same of a head in a few words, before its value: "only adds"
  const char* value = "";  // what stands behind "=", "a number"; empty: nothing
  /// Changes what enters the rule. Throws InputError where the value or the rule do not allow it.
  void (*change)(HeadInputs& inputs, const ChangedHead& head) = nullptr;
};

std::span<const InterventionKind> intervention_kinds();
const InterventionKind& kind_of(const Intervention& intervention);

/// Whether a variant erases before it writes, so that "only-add" changes it.
bool erases(std::string_view rule);

/// "KIND", "KIND:LAYER", "KIND:LAYER.HEAD", each with "=VALUE" where the kind asks for one. Throws InputError
/// that says what is wrong, and which kinds there are.
Intervention parse_intervention(std::string_view text);

/// The variants that could replace a head's own: those that take its arrays and need no others.
std::vector<std::string> fitting_rules(const HeadInputs& inputs, Index head);

/// As parse_intervention() reads it.
std::string to_string(const Intervention& intervention);

/// Throws InputError unless the layer and the head exist; an intervention is named.
void require_place(const std::optional<Index>& layer, const std::optional<Index>& head, Index layers,
                   Index heads);
void require_place(const Intervention& intervention, Index layers, Index heads);

/// A run of heads with these changes, one after the other, before `run`.
RunHead with(std::vector<Intervention> interventions, RunHead run);

}  // namespace palimpsest
