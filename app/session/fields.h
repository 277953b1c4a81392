#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>

#include "core/base/matrix.h"

// A field is declared once, beside its struct; files, short strings, undo and merges use the declaration:
//
//   static constexpr std::tuple fields = {
//       Field{"mask", &AttentionView::mask},
//       Field{"sharpness", &AttentionView::sharpness, {.most = most_sharpness}}};

namespace palimpsest {

inline constexpr Index largest_count = Index{1} << 53;  // integers up to here are exact in every JSON reader

/// What the history does with a field.
enum class Held {
  work,   // a change is an entry that can be undone
  looks,  // a change is no entry, and going to one does not change it
  place   // the same, but each entry has its own
};

/// The properties of a field.
struct FieldTraits {
  Held held = Held::work;
  bool of_text = false;  // it refers to tokens of the open data, and is meaningless for others
  double least = 0;      // of a number
  double most = static_cast<double>(largest_count);
  bool or_zero = false;  // 0 is allowed, too
};

inline constexpr FieldTraits any_number = {.least = -std::numeric_limits<double>::infinity(),
                                           .most = std::numeric_limits<double>::infinity()};

template <class Struct, class Value>
struct Field {
  const char* name;  // in files; empty, of a struct: its fields are among those beside it
  Value Struct::*member;
  FieldTraits traits = {};
};
template <class Struct, class Value>
Field(const char*, Value Struct::*, FieldTraits = {}) -> Field<Struct, Value>;

/// The fields of a struct. Structs of other folders have their own overload.
template <class Struct>
requires requires { Struct::fields; }
constexpr const auto& fields_of(std::type_identity<Struct>) { return Struct::fields; }

template <class Struct>
concept HasFields = requires {
  fields_of(std::type_identity<Struct>{});
};

template <HasFields Struct, class Visit>
void visit_fields(const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, fields_of(std::type_identity<Struct>{}));
}

/// Calls `act(traits, x, y, ...)` with each field, of structs of one type, that has no fields itself. A
/// struct's traits apply to its fields.
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

constexpr const char* name(NamedInOrder auto value) { return entry(names_of(value), value); }

/// All values of such an enumeration.
template <NamedInOrder Enum>
inline constexpr auto all_of = [] {
  std::array<Enum, names_of(Enum{}).size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
  return all;
}();

}  // namespace palimpsest
