#include "app/session/json_fields.h"

namespace palimpsest {

namespace {

constexpr std::size_t most_named = 4;

/// A kind of file by fields that all of its kind have.
struct KnownKind {
  std::vector<std::string_view> fields;
  const char* words;
};

std::string object_words(const nlohmann::json& read) {
  std::vector<std::string> named;
  for (const auto& field : read.items()) {
    if (named.size() == most_named) break;
    named.push_back(fmt::format("\"{}\"", shown(field.key())));
  }
  if (named.empty()) return "an object without fields";
  const std::size_t more = read.size() - named.size();
  return fmt::format("an object with the field{} {}{}", read.size() == 1 ? "" : "s", fmt::join(named, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

nlohmann::json parse_json(const std::string& text) try {
  return nlohmann::json::parse(text);
} catch (const nlohmann::json::parse_error& error) {
  refuse("it is not valid JSON (near byte {})", error.byte);
} catch (const nlohmann::json::exception&) {
  refuse("it is not valid JSON: a number in it is larger than any f64");
}

std::string dumped(const Json& written, int indent) {
  return written.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string seems_to_be(const nlohmann::json& read) {
  static const KnownKind kinds[] = {
      {{"palimpsest_places"}, "pinned places of Palimpsest"},
      {{"theme", "scale", "recent_files"}, "the settings of Palimpsest"},
      {{"cells", "nbformat"}, "a Jupyter notebook"},
      {{"architectures", "model_type"}, "the configuration of a model"},
      {{"context", "benchmarks"}, "a report of benchmarks"},
      {{"name", "version", "dependencies"}, "a description of a package"},
  };
  if (read.is_array()) return "a list of " + counted(std::ssize(read), "entry", "entries");
  if (!read.is_object()) return fmt::format("a {}", read.type_name());
  for (const KnownKind& kind : kinds) {
    if (std::ranges::all_of(kind.fields, [&](std::string_view field) { return read.contains(field); }))
      return kind.words;
  }
  return object_words(read);
}

Fields::Fields(const json& object, std::string name) : object_(object), name_(std::move(name)) {
  if (!object_.is_object()) refuse("{} is {}; expected an object", name_, object_.type_name());
}

void Fields::require_known(const std::vector<std::string_view>& known) const {
  for (const auto& field : object_.items()) {
    if (is_among(field.key(), known)) continue;
    refuse("\"{}\" is no field of {}; known: {}", shown(field.key()), name_, fmt::join(known, ", "));
  }
}

void Fields::read(const char* key, std::string& value) const {
  if (const json* field = find(key, &json::is_string, "a string")) value = field->get<std::string>();
}

void Fields::read(const char* key, bool& value) const {
  if (const json* field = find(key, &json::is_boolean, "true or false")) value = field->get<bool>();
}

void Fields::read(const char* key, std::vector<std::string>& values) const {
  const json* field = find(key, &json::is_array, "a list");
  if (!field) return;
  values.clear();
  for (const json& entry : *field) {
    if (!entry.is_string()) refuse("\"{}\" holds {}; expected strings", key, entry.type_name());
    values.push_back(entry.get<std::string>());
  }
}

void Fields::read(const char* key, std::vector<Index>& values) const {
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
      refuse("\"{}\" holds {}; expected whole numbers, ascending", key, shown(held));
    }
    values.push_back(entry.get<Index>());
  }
}

void Fields::read(const char* key, double& value, const FieldTraits& traits) const {
  if (const json* field = find(key, &json::is_number, "a number")) value = field->get<double>();
  const bool is_in_range = value >= traits.least && value <= traits.most;
  if (is_in_range || (traits.or_zero && value == 0)) return;
  refuse("\"{}\" is {}; expected {}a number from {} to {}", key, value, traits.or_zero ? "0 or " : "",
         traits.least, traits.most);
}

void Fields::read(const char* key, Index& value, const FieldTraits& traits) const {
  const json* field = find(key, &json::is_number_integer, "a whole number");
  if (!field) return;
  const auto number = field->get<double>();
  if (number < traits.least || number > traits.most) {
    const bool is_bounded = traits.most < static_cast<double>(largest_count);
    refuse("\"{}\" is {}; expected a whole number from {}{}", key, number, traits.least,
           is_bounded ? fmt::format(" to {}", traits.most) : "");
  }
  value = field->get<Index>();
}

std::optional<Fields> Fields::at(const char* key) const {
  const json* field = find(key, &json::is_object, "an object");
  if (!field) return std::nullopt;
  return Fields(*field, fmt::format("\"{}\"", key));
}

const nlohmann::json* Fields::find(const char* key, bool (json::*fits)() const noexcept,
                                   const char* expected) const {
  const auto field = object_.find(key);
  if (field == object_.end()) return nullptr;
  if (!((*field).*fits)()) refuse("\"{}\" is {}; expected {}", key, field->type_name(), expected);
  return &*field;
}

}  // namespace palimpsest
