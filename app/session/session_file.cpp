#include "app/session/session_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/utf8.h"

namespace palimpsest {

using nlohmann::json;

namespace {

constexpr double largest_count = 0x1p53;  // integers up to here are exact in every JSON reader

/// The fields of an object by name. One that is absent leaves what was there; one of another type is an
/// InputError.
class Fields {
 public:
  explicit Fields(const json& object, std::string name = "the session")
      : object_(object), name_(std::move(name)) {
    if (!object_.is_object())
      throw InputError(fmt::format("{} is {}; expected an object", name_, object_.type_name()));
  }

  /// Refuses fields that nobody reads.
  void require_known(std::initializer_list<std::string_view> known) const {
    for (const auto& field : object_.items()) {
      if (std::ranges::find(known, field.key()) != known.end()) continue;
      throw InputError(fmt::format("\"{}\" is no field of {}; known: {}", shown(field.key()), name_,
                                   fmt::join(known, ", ")));
    }
  }

  void read(const char* key, std::string& value) const {
    if (const json* field = find(key, &json::is_string, "a string")) value = field->get<std::string>();
  }
  void read(const char* key, double& value) const {
    if (const json* field = find(key, &json::is_number, "a number")) value = field->get<double>();
  }
  void read(const char* key, Index& value) const {
    const json* field = find(key, &json::is_number_integer, "a whole number");
    if (!field) return;
    const auto number = field->get<double>();
    if (number < 0 || number > largest_count) {
      throw InputError(fmt::format("\"{}\" is {}; expected a whole number from 0", key, number));
    }
    value = field->get<Index>();
  }
  template <class Value>
  void read(const char* key, std::map<std::string, Value, std::less<>>& values) const {
    const json* field = find(key, &json::is_object, "an object");
    if (!field) return;
    const Fields entries(*field, key);
    for (const auto& entry : field->items()) entries.read(entry.key().c_str(), values[entry.key()]);
  }
  template <class Enum, std::size_t size>
  void read(const char* key, const Enum (&all)[size], Enum& value) const {
    std::string wanted = name(value);
    read(key, wanted);
    std::string known;
    for (const Enum one : all) {
      if (wanted == name(one)) {
        value = one;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(name(one));
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

json parse(const std::string& text) try { return json::parse(text); } catch (const json::parse_error& error) {
  throw InputError(fmt::format("it is not valid JSON (near byte {})", error.byte));
} catch (const json::exception&) {
  throw InputError("it is not valid JSON: a number in it is beyond any double");
}

}  // namespace

std::string write_session(const SavedSession& session) {
  const Choice& choice = session.choice;
  const Adjustments& sliders = choice.adjustments;
  const nlohmann::ordered_json written = {
      {"data", session.data},
      {"variant", choice.variant},
      {"form", name(choice.form)},
      {"precision", name(choice.precision)},
      {"chunk_size", choice.chunk_size},
      {"head", choice.head},
      {"options", choice.settings.options},
      {"parameters", choice.settings.parameters},
      {"adjustments",
       {{"decay", sliders.decay},
        {"beta", sliders.beta},
        {"key_length", sliders.key_length},
        {"missing_alpha", sliders.missing_alpha},
        {"missing_beta", sliders.missing_beta}}},
      {"token", session.place.token},
      {"operation", session.place.operation},
      {"phase", session.place.phase},
      {"tile", session.place.tile},
  };
  // A path need not be valid UTF-8.
  return written.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

SavedSession parse_session(const std::string& text, const std::filesystem::path& folder) {
  const json parsed = parse(text);
  const Fields fields(parsed);
  fields.require_known({"data", "variant", "form", "precision", "chunk_size", "head", "options", "parameters",
                        "adjustments", "token", "operation", "phase", "tile"});
  SavedSession session;
  fields.read("data", session.data);
  if (session.data.empty()) throw InputError("it does not say which \"data\" it belongs to");
  if (session.data.find('\0') != std::string::npos)
    throw InputError(fmt::format("\"data\" is \"{}\"; no file can be called so", shown(session.data)));
  if (!session.data.starts_with("preset:") && !session.data.starts_with("capture:")) {
    session.data = (folder / session.data).string();  // an absolute path stays as it is
  }
  Choice& choice = session.choice;
  fields.read("variant", choice.variant);
  choice.variant = find_variant(choice.variant).id;
  fields.read("form", all_forms, choice.form);
  fields.read("precision", all_precisions, choice.precision);
  fields.read("chunk_size", choice.chunk_size);
  if (choice.chunk_size == 0) throw InputError("\"chunk_size\" is 0; expected a whole number from 1");
  fields.read("head", choice.head);
  fields.read("options", choice.settings.options);
  fields.read("parameters", choice.settings.parameters);
  if (parsed.contains("adjustments")) {
    const Fields sliders(parsed["adjustments"], "\"adjustments\"");
    sliders.require_known({"decay", "beta", "key_length", "missing_alpha", "missing_beta"});
    sliders.read("decay", choice.adjustments.decay);
    sliders.read("beta", choice.adjustments.beta);
    sliders.read("key_length", choice.adjustments.key_length);
    sliders.read("missing_alpha", choice.adjustments.missing_alpha);
    sliders.read("missing_beta", choice.adjustments.missing_beta);
  }
  fields.read("token", session.place.token);
  fields.read("operation", session.place.operation);
  fields.read("phase", session.place.phase);
  fields.read("tile", session.place.tile);
  return session;
}

}  // namespace palimpsest
