#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/session/fields.h"
#include "core/base/refuse.h"
#include "core/base/table.h"
#include "core/base/text.h"

namespace palimpsest {

using Json = nlohmann::ordered_json;  // as it is written

/// The JSON in `text`. Throws InputError.
nlohmann::json parse_json(const std::string& text);

/// JSON as text, indented or (-1) in one line. Invalid UTF-8, as in paths, is replaced.
std::string dumped(const Json& written, int indent);

/// A guess at what JSON is that is no session: "the settings of Palimpsest", "a Jupyter notebook", "an object
/// with the fields a, b and 3 more", "a list of 4 entries".
std::string seems_to_be(const nlohmann::json& read);

/// What a field of an enumeration may be: the table of its values.
constexpr const auto& all_values(std::type_identity<Form>) { return all_forms; }
constexpr const auto& all_values(std::type_identity<Precision>) { return all_precisions; }
template <NamedInOrder Enum>
constexpr const auto& all_values(std::type_identity<Enum>) {
  return all_of<Enum>;
}

template <class Value>
concept Enumeration = std::is_enum_v<Value>;

/// The fields of an object by name. An absent one leaves the value unchanged; one of another type, or out of
/// range, is an InputError.
class Fields {
 public:
  using json = nlohmann::json;

  explicit Fields(const json& object, std::string name = "the session");

  /// Refuses unknown fields.
  void require_known(const std::vector<std::string_view>& known) const;

  void read(const char* key, std::string& value) const;
  void read(const char* key, bool& value) const;
  void read(const char* key, std::vector<std::string>& values) const;
  /// Whole numbers from 0, each larger than the one before.
  void read(const char* key, std::vector<Index>& values) const;
  /// A number, or a whole one, from traits.least to traits.most.
  void read(const char* key, double& value, const FieldTraits& traits = any_number) const;
  void read(const char* key, Index& value, const FieldTraits& traits = {}) const;

  template <std::integral Value>
  void read(const char* key, Value& value, const FieldTraits& traits) const {
    auto number = static_cast<Index>(value);
    read(key, number, traits);
    value = static_cast<Value>(number);
  }
  template <Enumeration Enum>
  void read(const char* key, Enum& value) const {
    std::string wanted = palimpsest::name(value);
    read(key, wanted);
    value = named<Enum>(wanted, fmt::format("\"{}\" is \"{}\"; expected one of", key, shown(wanted)));
  }
  template <Enumeration Enum>
  void read(const char* key, std::vector<Enum>& values) const {
    if (!has(key)) return;
    std::vector<std::string> names;
    read(key, names);
    values.clear();
    for (const std::string& wanted : names)
      values.push_back(
          named<Enum>(wanted, fmt::format("\"{}\" holds \"{}\"; expected of", key, shown(wanted))));
  }
  template <class Value>
  void read(const char* key, std::map<std::string, Value, std::less<>>& values) const {
    const std::optional<Fields> entries = at(key);
    if (!entries) return;
    for (const auto& entry : entries->object_.items())
      entries->read(entry.key().c_str(), values[entry.key()]);
  }

  /// Reads each entry of a list with `read_one(Fields)`; they are called by their numbers from 1.
  template <class Read>
  void read_each(const char* key, const char* entry, Read read_one) const {
    const json* field = find(key, &json::is_array, "a list");
    for (std::size_t i = 0; field && i < field->size(); ++i)
      read_one(Fields((*field)[i], fmt::format("{} {}", entry, i + 1)));
  }

  /// The object under `key`, if there is one.
  std::optional<Fields> at(const char* key) const;

  bool has(const char* key) const { return object_.contains(key); }

  /// Throws InputError if the field is missing.
  void require(const char* key) const {
    if (!has(key)) refuse("\"{}\" is missing", key);
  }

  /// Runs `read(Fields)`; what it throws names the object.
  template <class Read>
  void named(Read read) const {
    naming_input(name_, [&] { read(*this); });
  }

  const std::string& name() const { return name_; }

 private:
  template <Enumeration Enum>
  static Enum named(const std::string& wanted, const std::string& problem) {
    const auto called = [](Enum one) { return palimpsest::name(one); };
    return find_row(all_values(std::type_identity<Enum>{}), wanted, called, problem);
  }

  const json* find(const char* key, bool (json::*fits)() const noexcept, const char* expected) const;

  const json& object_;
  std::string name_;
};

// An enumeration as JSON is its name, a struct with fields an object that has them in their order.
template <Enumeration Enum>
void to_json(Json& json, const Enum& value) {
  json = name(value);
}
template <HasFields Struct>
void to_json(Json& object, const Struct& from) {
  visit_fields<Struct>([&](const auto& field) {
    const auto& value = from.*field.member;
    if constexpr (HasFields<std::remove_cvref_t<decltype(value)>>)
      to_json(*field.name == '\0' ? object : object[field.name], value);
    else
      object[field.name] = Json(value);
  });
}

/// The names of a struct's fields, as its JSON has them.
template <class Struct>
std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  visit_fields<Struct>([&]<class Value>(const Field<Struct, Value>& field) {
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

/// How an absent field is handled: its value stays, or it is an error. In the latter case problems name the
/// struct.
enum class Absent { stays, refused };

/// Reads a struct, field by field in their order. `check` refuses what no range says: it is called with each
/// struct that is read. Where it has `check.read(fields, key, value)` for a type, that reads such a field.
template <Absent absent = Absent::stays, class Struct, class Check>
void read_fields(const Fields& from, Struct& into, const Check& check) {
  visit_fields<Struct>([&]<class Value>(const Field<Struct, Value>& field) {
    Value& value = into.*field.member;
    if (absent == Absent::refused && *field.name != '\0') from.require(field.name);
    if constexpr (requires { check.read(from, field.name, value); }) {
      check.read(from, field.name, value);
    } else if constexpr (std::is_arithmetic_v<Value> && !std::same_as<Value, bool>) {
      from.read(field.name, value, field.traits);
    } else if constexpr (!HasFields<Value>) {
      from.read(field.name, value);
    } else if (*field.name == '\0') {
      read_fields<absent>(from, value, check);
    } else if (const auto inner = from.at(field.name)) {
      if constexpr (absent == Absent::refused)
        return inner->named([&](const Fields& whole) { read_fields<absent>(whole, value, check); });
      inner->require_known(field_names<Value>());
      read_fields(*inner, value, check);
    }
  });
  check(into);
}

}  // namespace palimpsest
