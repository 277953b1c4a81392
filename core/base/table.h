#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace palimpsest {

/// The row of a table whose name is `wanted`. Throws InputError with `problem` and all names.
template <class Table, class Name>
const auto& find_row(const Table& table, std::string_view wanted, Name name, std::string_view problem) {
  std::string known;
  for (const auto& row : table) {
    const std::string called(std::invoke(name, row));
    if (called == wanted) return row;
    known.append(known.empty() ? "" : ", ").append(called);
  }
  throw InputError(std::string(problem) + ": " + known);
}

/// The row of a table for which `name` (a member or a function) gives `wanted`; null if there is none.
template <class Table, class Name>
auto* row_called(const Table& table, const auto& wanted, Name name) {
  const auto is_wanted = [&](const auto& row) { return std::invoke(name, row) == wanted; };
  const auto found = std::ranges::find_if(table, is_wanted);
  return found == std::ranges::end(table) ? nullptr : &*found;
}

/// Whether a list holds an element whose projection is `value`.
template <class Value, class List, class Projection = std::identity>
constexpr bool is_among(const Value& value, const List& list, Projection projection = {}) {
  return std::ranges::find(list, value, projection) != std::ranges::end(list);
}
template <class Value, class Item>
constexpr bool is_among(const Value& value, std::initializer_list<Item> list) {
  return std::ranges::find(list, value) != list.end();
}

/// What `make`, a member or a function, gives for each of a list.
template <class List, class Make>
auto made_of(const List& list, Make make) {
  std::vector<std::remove_cvref_t<decltype(std::invoke(make, *std::begin(list)))>> all;
  for (const auto& each : list) all.push_back(std::invoke(make, each));
  return all;
}

/// What a list of pairs in the order in which they came holds under a key; a new value where it holds none.
template <class Key, class Value>
Value& value_of(std::vector<std::pair<Key, Value>>& list, const std::type_identity_t<Key>& key) {
  for (auto& [known, value] : list) {
    if (known == key) return value;
  }
  return list.emplace_back(key, Value()).second;
}

/// What a map holds under a key; null where it holds nothing.
template <class Map>
auto* value_at(Map& map, const auto& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace palimpsest
