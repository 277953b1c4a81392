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
  throw InputError(fmt::format("it is not valid JSON (near byte {})", error.byte));
} catch (const nlohmann::json::exception&) {
  throw InputError("it is not valid JSON: a number in it is beyond any double");
}

std::string dumped(const nlohmann::ordered_json& written, int indent) {
  return written.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
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
  if (read.is_array())
    return fmt::format("a list of {} {}", read.size(), read.size() == 1 ? "entry" : "entries");
  if (!read.is_object()) return fmt::format("a {}", read.type_name());
  for (const KnownKind& kind : kinds) {
    if (std::ranges::all_of(kind.fields, [&](std::string_view field) { return read.contains(field); }))
      return kind.words;
  }
  return object_words(read);
}

}  // namespace palimpsest
