#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/fields.h"
#include "core/base/error.h"
#include "core/base/matrix.h"
#include "core/base/text.h"

namespace palimpsest {

/// The JSON in `text`. Throws InputError.
nlohmann::json parse_json(const std::string& text);

/// JSON as text, indented or (-1) in one line. What is no UTF-8, as a path may be, is replaced.
std::string dumped(const nlohmann::ordered_json& written, int indent);

/// What JSON that is no session seems to be: "the settings of Palimpsest", "a Jupyter notebook", "an object
/// with the fields a, b and 3 more", "a list of 4 entries".
std::string seems_to_be(const nlohmann::json& read);

/// The fields of an object by name. One that is absent leaves what was there; one of another type is an
/// InputError.
class Fields {
 public:
  using json = nlohmann::json;

  explicit Fields(const json& object, std::string name = "the session")
      : object_(object), name_(std::move(name)) {
    if (!object_.is_object())
      throw InputError(fmt::format("{} is {}; expected an object", name_, object_.type_name()));
  }

  /// Refuses fields that nobody reads.
  void require_known(const std::vector<std::string_view>& known) const {
    for (const auto& field : object_.items()) {
      if (std::ranges::find(known, field.key()) != known.end()) continue;
      throw InputError(fmt::format("\"{}\" is no field of {}; known: {}", shown(field.key()), name_,
                                   fmt::join(known, ", ")));
    }
  }

  void read(const char* key, std::string& value) const {
    if (const json* field = find(key, &json::is_string, "a string")) value = field->get<std::string>();
  }
  void read(const char* key, bool& value) const {
    if (const json* field = find(key, &json::is_boolean, "true or false")) value = field->get<bool>();
  }
  void read(const char* key, double& value) const {
    if (const json* field = find(key, &json::is_number, "a number")) value = field->get<double>();
  }
  /// A whole number from `least` to `most`.
  void read(const char* key, Index& value, Index least = 0, Index most = largest_count) const {
    const json* field = find(key, &json::is_number_integer, "a whole number");
    if (!field) return;
    const auto number = field->get<double>();
    if (number < static_cast<double>(least) || number > static_cast<double>(most)) {
      throw InputError(fmt::format("\"{}\" is {}; expected a whole number from {}{}", key, number, least,
                                   most < largest_count ? fmt::format(" to {}", most) : ""));
    }
    value = field->get<Index>();
  }
  /// Whole numbers from 0, each larger than the one before.
  void read(const char* key, std::vector<Index>& values) const {
    const json* field = find(key, &json::is_array, "a list");
    if (!field) return;
    values.clear();
    for (const json& entry : *field) {
      const bool fits = entry.is_number_integer() && entry.get<double>() >= 0 &&
                        entry.get<double>() <= static_cast<double>(largest_count) &&
                        (values.empty() || entry.get<Index>() > values.back());
      if (!fits) {
        // Writing an entry out calls itself for every bracket: a deep one would overrun the stack.
        const std::string held = entry.is_structured()
                                     ? entry.type_name()
                                     : entry.dump(-1, ' ', false, json::error_handler_t::replace);
        throw InputError(fmt::format("\"{}\" holds {}; expected whole numbers, ascending", key, shown(held)));
      }
      values.push_back(entry.get<Index>());
    }
  }
  void read(const char* key, std::vector<std::string>& values) const {
    const json* field = find(key, &json::is_array, "a list");
    if (!field) return;
    values.clear();
    for (const json& entry : *field) {
      if (!entry.is_string())
        throw InputError(fmt::format("\"{}\" holds {}; expected strings", key, entry.type_name()));
      values.push_back(entry.get<std::string>());
    }
  }
  template <class Value>
  void read(const char* key, std::map<std::string, Value, std::less<>>& values) const {
    const json* field = find(key, &json::is_object, "an object");
    if (!field) return;
    const Fields entries(*field, key);
    for (const auto& entry : field->items()) entries.read(entry.key().c_str(), values[entry.key()]);
  }
  /// Values of an enumeration by their names.
  template <class Enum, std::size_t size>
  void read_names(const char* key, const Enum (&all)[size], std::vector<Enum>& values) const {
    if (!has(key)) return;
    std::vector<std::string> names;
    read(key, names);
    values.clear();
    for (const std::string& wanted : names) {
      const auto found =
          std::ranges::find(all, wanted, [](Enum one) { return std::string(palimpsest::name(one)); });
      if (found == std::end(all)) {
        std::vector<std::string_view> known;
        for (const Enum one : all) known.emplace_back(palimpsest::name(one));
        throw InputError(
            fmt::format("\"{}\" holds \"{}\"; expected of: {}", key, shown(wanted), fmt::join(known, ", ")));
      }
      values.push_back(*found);
    }
  }
  /// Reads each entry of a list with `read_one(Fields, number from 1)`.
  template <class Read>
  void read_each(const char* key, const char* entry, Read read_one) const {
    const json* field = find(key, &json::is_array, "a list");
    if (!field) return;
    for (std::size_t i = 0; i < field->size(); ++i)
      read_one(Fields((*field)[i], fmt::format("{} {}", entry, i + 1)));
  }

  /// The object under `key`, if there is one.
  std::optional<Fields> at(const char* key) const {
    const json* field = find(key, &json::is_object, "an object");
    if (!field) return std::nullopt;
    return Fields(*field, fmt::format("\"{}\"", key));
  }

  bool has(const char* key) const { return object_.contains(key); }
  const std::string& name() const { return name_; }

  template <class Enum, std::size_t size>
  void read(const char* key, const Enum (&all)[size], Enum& value) const {
    std::string wanted = palimpsest::name(value);
    read(key, wanted);
    std::string known;
    for (const Enum one : all) {
      if (wanted == palimpsest::name(one)) {
        value = one;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(palimpsest::name(one));
    }
    throw InputError(fmt::format("\"{}\" is \"{}\"; expected one of: {}", key, shown(wanted), known));
  }

 private:
  const json* find(const char* key, bool (json::*fits)() const noexcept, const char* expected) const {
    const auto field = object_.find(key);
    if (field == object_.end()) return nullptr;
    if (!((*field).*fits)()) {
      throw InputError(fmt::format("\"{}\" is {}; expected {}", key, field->type_name(), expected));
    }
    return &*field;
  }

  const json& object_;
  std::string name_;
};

/// What a field of an enumeration may be: the table of its values.
constexpr const auto& all_values(std::type_identity<Form>) { return all_forms; }
constexpr const auto& all_values(std::type_identity<Precision>) { return all_precisions; }

/// A field as JSON.
template <class Value>
nlohmann::ordered_json json_of(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return name(value);
  } else if constexpr (requires { requires std::is_enum_v<typename Value::value_type>; }) {
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const auto each : value) names.push_back(name(each));
    return names;
  } else {
    return value;
  }
}

/// Writes the fields of a struct into an object, in their order; `leaf` makes JSON of those that have no
/// fields themselves.
template <class Struct, class Leaf>
void write_fields(nlohmann::ordered_json& object, const Struct& from, const Leaf& leaf) {
  visit_fields(std::type_identity<Struct>{}, [&](const Field& field, auto member) {
    const auto& value = from.*member;
    if constexpr (!HasFields<std::remove_cvref_t<decltype(value)>>)
      object[field.name] = leaf(value);
    else if (*field.name == '\0')
      write_fields(object, value, leaf);
    else
      write_fields(object[field.name], value, leaf);
  });
}

/// The names of a struct's fields, as its JSON has them.
template <class Struct>
std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  visit_fields(std::type_identity<Struct>{}, [&](const Field& field, auto member) {
    using Value = std::remove_cvref_t<decltype(std::declval<Struct>().*member)>;
    if constexpr (HasFields<Value>) {
      if (*field.name == '\0') {
        const auto inner = field_names<Value>();
        names.insert(names.end(), inner.begin(), inner.end());
        return;
      }
    }
    names.emplace_back(field.name);
  });
  return names;
}

/// Reads a field that has no fields itself, within its range.
template <class Value>
void read_leaf(const Fields& from, const Field& field, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    from.read(field.name, all_values(std::type_identity<Value>{}), value);
  } else if constexpr (requires { requires std::is_enum_v<typename Value::value_type>; }) {
    from.read_names(field.name, all_values(std::type_identity<typename Value::value_type>{}), value);
  } else if constexpr (std::same_as<Value, double>) {
    from.read(field.name, value);
    if (!(value >= field.traits.least && value <= field.traits.most))
      throw InputError(fmt::format("\"{}\" is {}; expected a number from {} to {}", field.name, value,
                                   field.traits.least, field.traits.most));
  } else if constexpr (std::integral<Value> && !std::same_as<Value, bool>) {
    auto number = static_cast<Index>(value);
    from.read(field.name, number, static_cast<Index>(field.traits.least),
              static_cast<Index>(field.traits.most));
    value = static_cast<Value>(number);
  } else {
    from.read(field.name, value);
  }
}

/// Reads a struct, field by field in their order; what is absent stays as it is. `check` refuses what no
/// range says: it is called with each struct that is read.
template <class Struct, class Check>
void read_fields(const Fields& from, Struct& into, const Check& check) {
  visit_fields(std::type_identity<Struct>{}, [&](const Field& field, auto member) {
    auto& value = into.*member;
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (!HasFields<Value>) {
      read_leaf(from, field, value);
    } else if (*field.name == '\0') {
      read_fields(from, value, check);
    } else if (const auto inner = from.at(field.name)) {
      inner->require_known(field_names<Value>());
      read_fields(*inner, value, check);
    }
  });
  check(into);
}

}  // namespace palimpsest
