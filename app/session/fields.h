#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>

#include "core/base/matrix.h"

// A field is declared once, beside the struct that has it; files, short strings, undo and merges go by that:
//
//   static constexpr std::tuple fields = {
//       Field{"mask", &AttentionView::mask},
//       Field{"sharpness", &AttentionView::sharpness, {.most = most_sharpness}}};

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

template <class Struct, class Value>
struct Field {
  const char* name;  // in files; of a struct, empty: its fields stand among those beside it
  Value Struct::*member;
  FieldTraits traits = {};
};
template <class Struct, class Value>
Field(const char*, Value Struct::*, FieldTraits = {}) -> Field<Struct, Value>;

/// The fields of a struct. Those of other rooms have an overload of their own.
template <class Struct>
requires requires { Struct::fields; }
constexpr const auto& fields_of(std::type_identity<Struct>) { return Struct::fields; }

template <class Struct>
concept HasFields = requires {
  fields_of(std::type_identity<Struct>{});
};

/// Calls `visit` with each field of a struct.
template <HasFields Struct, class Visit>
void visit_fields(const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, fields_of(std::type_identity<Struct>{}));
}

/// Calls `act(traits, x, y, ...)` with each field of some structs of one type that has no fields itself. What
/// holds of a struct holds of its fields.
template <class Act, class First, class... More>
void for_each_leaf(Act&& act, FieldTraits outer, First& first, More&... more) {
  visit_fields<std::remove_const_t<First>>([&](const auto& field) {
    const auto member = field.member;
    FieldTraits traits = field.traits;
    if (outer.held != Held::work) traits.held = outer.held;
    traits.of_text = traits.of_text || outer.of_text;
    if constexpr (HasFields<std::remove_cvref_t<decltype(first.*member)>>)
      for_each_leaf(act, traits, first.*member, more.*member...);
    else
      act(traits, first.*member, more.*member...);
  });
}

/// An enumeration whose values have names, which an overload of names_of() gives in their order.
template <class Enum>
concept NamedInOrder = requires(Enum value) {
  names_of(value);
};

/// The name of a value.
constexpr const char* name(NamedInOrder auto value) { return entry(names_of(value), value); }

/// Its values.
template <NamedInOrder Enum>
inline constexpr auto all_of = [] {
  std::array<Enum, names_of(Enum{}).size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
  return all;
}();

}  // namespace palimpsest
