#pragma once

#include <limits>
#include <type_traits>
#include <utility>

#include "core/base/matrix.h"

// A field is declared once, beside the struct that has it; files, short strings, undo and merges go by that:
//
//   template <class Visit>
//   static void fields(Visit&& visit) {
//     visit(Field{"sharpness", {.most = most_sharpness}}, &AttentionView::sharpness);
//   }

namespace palimpsest {

inline constexpr Index largest_count = Index{1} << 53;  // integers up to here are exact in every JSON reader

/// What the history does with a field.
enum class Held {
  work,   // changing it is an entry that can be taken back
  looks,  // it is no entry, and going to one leaves it as it is
  place   // the same, but each entry knows its own
};

/// What is said of a field.
struct FieldTraits {
  Held held = Held::work;
  bool of_text = false;  // it speaks of the words of the data that are open, and means nothing for others
  double least = 0;      // of a number
  double most = static_cast<double>(largest_count);
  bool or_zero = false;  // beside its range
};

inline constexpr FieldTraits any_number = {.least = -std::numeric_limits<double>::infinity(),
                                           .most = std::numeric_limits<double>::infinity()};

struct Field {
  const char* name = "";  // in files; of a struct, empty: its fields stand among those beside it
  FieldTraits traits = {};
};

/// Visits the fields of a struct with each `Field` and the pointer to its member. Structs of other rooms have
/// an overload of their own.
template <class Struct, class Visit>
requires requires(void (*ignore)(Field, ...)) { Struct::fields(ignore); }
void visit_fields(std::type_identity<Struct>, Visit&& visit) { Struct::fields(std::forward<Visit>(visit)); }

template <class Struct>
concept HasFields = requires(void (*ignore)(Field, ...)) {
  visit_fields(std::type_identity<Struct>{}, ignore);
};

/// Calls `act(traits, x, y, ...)` with each field of some structs of one type that has no fields itself. What
/// holds of a struct holds of its fields.
template <class Act, class First, class... More>
void for_each_leaf(Act&& act, FieldTraits outer, First& first, More&... more) {
  visit_fields(std::type_identity<std::remove_const_t<First>>{}, [&](const Field& field, auto member) {
    FieldTraits traits = field.traits;
    if (outer.held != Held::work) traits.held = outer.held;
    traits.of_text = traits.of_text || outer.of_text;
    if constexpr (HasFields<std::remove_cvref_t<decltype(first.*member)>>)
      for_each_leaf(act, traits, first.*member, more.*member...);
    else
      act(traits, first.*member, more.*member...);
  });
}

}  // namespace palimpsest
