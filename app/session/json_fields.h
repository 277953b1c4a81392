#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/matrix.h"
#include "core/base/text.h"

namespace palimpsest {

inline constexpr Index largest_count = Index{1} << 53;  // integers up to here are exact in every JSON reader

/// The JSON in `text`. Throws InputError.
nlohmann::json parse_json(const std::string& text);

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

}  // namespace palimpsest
