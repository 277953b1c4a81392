#include "core/io/array_file.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// An object in a JSON text, whose fields are read by name. A field that is absent or null is nothing; one of
/// another type is an InputError that names it.
class Fields {
 public:
  Fields(const json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object_.is_object()) refuse("{}: expected an object, found {}", what_, object_.type_name());
  }

  void read(const char* key, std::string& value) const {
    if (const json* field = find(key)) value = text(*field, name(key));
  }
  void read(const char* key, std::optional<double>& value) const {
    if (const json* field = find(key)) value = number(*field, name(key));
  }
  void read(const char* key, std::optional<int>& value) const {
    if (const json* field = find(key)) value = integer(*field, name(key));
  }
  void read(const char* key, std::vector<int>& values) const {
    const json* field = find(key);
    if (field == nullptr) return;
    if (!field->is_array()) fail(name(key), "a list", *field);
    for (const json& value : *field) values.push_back(integer(value, name(key)));
  }

  static std::string text(const json& value, const std::string& what) {
    if (!value.is_string()) fail(what, "a string", value);
    return value.get<std::string>();
  }

 private:
  static double number(const json& value, const std::string& what) {
    if (!value.is_number()) fail(what, "a number", value);
    return value.get<double>();
  }

  static int integer(const json& value, const std::string& what) {
    if (!value.is_number_integer()) fail(what, "an integer", value);
    const double number = value.get<double>();
    if (number < 0 || number > std::numeric_limits<int>::max())
      refuse("{}: the integer {} is out of range", what, number);
    return static_cast<int>(number);
  }

  const json* find(const char* key) const {
    const auto field = object_.find(key);
    return field == object_.end() || field->is_null() ? nullptr : &*field;
  }

  std::string name(const char* key) const { return fmt::format("{}: \"{}\"", what_, key); }

  [[noreturn]] static void fail(const std::string& what, std::string_view expected, const json& value) {
    refuse("{}: expected {}, found {}", what, expected, value.type_name());
  }

  const json& object_;
  std::string what_;
};

json parse_json(const std::string& text, const std::string& what) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {  // numbers beyond double are no parse_error
    // The library starts its messages with "[json.exception.parse_error.101] ".
    const std::string_view message = error.what();
    const std::size_t end = message.find("] ");
    refuse("{} is not valid JSON: {}", what,
           shown(end == std::string_view::npos ? message : message.substr(end + 2)));
  }
}

/// The fields that a picker shows.
void describe(const Fields& meta, CaptureSummary& described) {
  meta.read("name", described.name);
  meta.read("rule", described.rule);
  meta.read("model", described.model);
  meta.read("text", described.text);
  meta.read("layer", described.layer);
  meta.read("reproduction_error", described.reproduction_error);
}

void read_meta(const Fields& meta, Capture& capture) {
  describe(meta, capture);
  meta.read("source", capture.source);
  meta.read("licence", capture.licence);
  meta.read("notes", capture.notes);
  meta.read("scale", capture.scale);
  meta.read("heads", capture.heads);
}

std::vector<std::string> read_tokens(const std::string& text, const std::string& what) {
  const json list = parse_json(text, what);
  if (!list.is_array()) refuse("{}: expected a list of strings, found {}", what, list.type_name());
  std::vector<std::string> tokens;
  for (const json& token : list)
    tokens.push_back(Fields::text(token, fmt::format("{}[{}]", what, tokens.size())));
  return tokens;
}

/// How many positions an input has: axis 0, or axis 1 behind a batch axis ([B, T, H, K]).
std::optional<Index> positions(const Arrays& arrays) {
  const auto q = arrays.find("q");
  if (q == arrays.end() || q->second.rank() == 0) return std::nullopt;
  return q->second.shape[q->second.rank() == 4 ? 1 : 0];
}

void require_text(const Unreadable& unreadable, std::string_view name, std::string_view held) {
  if (const std::string* const problem = value_at(unreadable, name))
    refuse("{}; as {} one text is expected, {}", *problem, name, held);
}

}  // namespace

Capture capture_of(Npz npz, const fs::path& path) {
  Capture capture;
  capture.file = path;
  require_text(npz.unreadable, "meta", "a JSON object");
  require_text(npz.unreadable, "tokens", "a JSON list of strings");
  capture.arrays = std::move(npz.arrays);
  capture.unreadable = std::move(npz.unreadable);
  capture.unread = std::move(npz.unread);
  capture.name = array_file_title(path);
  if (const auto meta = npz.texts.find("meta"); meta != npz.texts.end()) {
    const std::string what = fmt::format("{}: meta", path.string());
    const json parsed = parse_json(meta->second, what);
    read_meta(Fields(parsed, what), capture);
  }
  if (const auto tokens = npz.texts.find("tokens"); tokens != npz.texts.end()) {
    const std::string what = fmt::format("{}: tokens", path.string());
    capture.tokens = read_tokens(tokens->second, what);
    const auto length = positions(capture.arrays);
    if (length && static_cast<std::size_t>(*length) != capture.tokens.size()) {
      refuse("{}: {} tokens, but q {} has {} positions", what, capture.tokens.size(),
             to_string(capture.arrays.find("q")->second.shape), *length);
    }
  }
  return capture;
}

std::vector<CaptureSummary> list_captures(const fs::path& folder) {
  std::vector<CaptureSummary> summaries;
  for (const fs::path& file : files_ending(folder, ".npz")) {
    CaptureSummary& summary = summaries.emplace_back();
    summary.file = file;
    summary.name = array_file_title(summary.file);
    try {
      const auto meta = read_npz_text(summary.file, "meta");
      const std::string what = fmt::format("{}: meta", summary.file.string());
      if (meta) {
        const json parsed = parse_json(*meta, what);
        describe(Fields(parsed, what), summary);
      }
    } catch (const Error& problem) {
      summary.error = problem.what();
    }
  }
  std::ranges::stable_sort(summaries, {}, &CaptureSummary::name);
  return summaries;
}

}  // namespace palimpsest
