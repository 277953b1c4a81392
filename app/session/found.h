#pragma once

#include <Eigen/Core>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/session/questions.h"

// How much memory a value takes, for those who find one.

namespace palimpsest {

/// The bytes that a value holds outside of itself. A struct that holds some says in what, beside its
/// declaration: `auto parts() const { return std::tie(weights, shares); }`; another's is named by
/// `auto parts_of(const Struct&)` in its namespace.
template <class Value>
std::size_t held_by(const Value& value);

/// All that a value takes.
template <class Value>
std::size_t memory_of(const Value& value) {
  return sizeof(Value) + held_by(value);
}

template <class Value>
std::size_t held_by(const Value& value) {
  const auto of_all = [](const auto&... parts) { return (std::size_t{0} + ... + held_by(parts)); };
  if constexpr (requires { value.parts(); }) {
    return std::apply(of_all, value.parts());
  } else if constexpr (requires { parts_of(value); }) {
    return std::apply(of_all, parts_of(value));
  } else if constexpr (std::is_base_of_v<Eigen::EigenBase<Value>, Value>) {
    return static_cast<std::size_t>(value.size()) * sizeof(typename Value::Scalar);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return value.capacity() > sizeof(std::string) ? value.capacity() : 0;
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return value ? held_by(*value) : 0;
  } else if constexpr (requires {
                         value.first;
                         value.second;
                       }) {
    return held_by(value.first) + held_by(value.second);
  } else if constexpr (requires {
                         typename Value::element_type;
                         value.get();
                       }) {
    return value ? memory_of(*value) : 0;
  } else if constexpr (requires {
                         value.begin();
                         value.end();
                         value.size();
                       }) {
    std::size_t bytes = value.size() * sizeof(*value.begin());
    if constexpr (!std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*value.begin())>>) {
      for (const auto& entry : value) bytes += held_by(entry);
    }
    return bytes;
  } else {
    return 0;
  }
}

template <class Value>
template <class Given>
requires std::convertible_to<Given, Value> Found<Value>::Found(Given&& given)
    : value(std::make_shared<const Value>(std::forward<Given>(given))), bytes(memory_of(*value)) {}

template <class Value>
Found<Value>::Found(std::shared_ptr<const Value> shared)
    : value(std::move(shared)), bytes(value ? memory_of(*value) : 0) {}

}  // namespace palimpsest
