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

[[noreturn]] void refuse_type(const std::string& what, std::string_view expected, const json& found) {
  refuse("{}: expected {}, found {}", what, expected, found.type_name());
}

void take(const json& found, const std::string& what, std::string& text) {
  if (!found.is_string()) refuse_type(what, "a string", found);
  found.get_to(text);
}

void take(const json& found, const std::string& what, std::optional<double>& number) {
  if (!found.is_number()) refuse_type(what, "a number", found);
  number = found.get<double>();
}

void take(const json& found, const std::string& what, std::optional<int>& integer) {
  if (!found.is_number_integer()) refuse_type(what, "an integer", found);
  const double number = found.get<double>();
  if (number < 0 || number > std::numeric_limits<int>::max())
    refuse("{}: the integer {} is out of range", what, number);
  integer = static_cast<int>(number);
}

void take(const json& found, const std::string& what, std::vector<int>& integers) {
  if (!found.is_array()) refuse_type(what, "a list", found);
  for (const json& each : found) {
    std::optional<int> integer;
    take(each, what, integer);
    integers.push_back(*integer);
  }
}

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

/// Reads the fields of a meta that a picker shows, and into `whole`, if any, all others. One that is absent
/// or null is passed over.
void read_meta(const std::string& text, const fs::path& path, CaptureSummary& summary, Capture* whole) {
  const std::string what = fmt::format("{}: meta", path.string());
  const json meta = parse_json(text, what);
  if (!meta.is_object()) refuse_type(what, "an object", meta);
  const auto read = [&](const char* key, auto& value) {
    const auto found = meta.find(key);
    if (found != meta.end() && !found->is_null()) take(*found, fmt::format("{}: \"{}\"", what, key), value);
  };
  read("name", summary.name);
  read("rule", summary.rule);
  read("model", summary.model);
  read("text", summary.text);
  read("layer", summary.layer);
  read("reproduction_error", summary.reproduction_error);
  if (!whole) return;
  read("source", whole->source);
  read("licence", whole->licence);
  read("notes", whole->notes);
  read("scale", whole->scale);
  read("heads", whole->heads);
}

std::vector<std::string> read_tokens(const std::string& text, const std::string& what) {
  const json list = parse_json(text, what);
  if (!list.is_array()) refuse_type(what, "a list of strings", list);
  std::vector<std::string> tokens(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) take(list[i], fmt::format("{}[{}]", what, i), tokens[i]);
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
  if (const std::string* const meta = value_at(npz.texts, "meta")) read_meta(*meta, path, capture, &capture);
  if (const std::string* const tokens = value_at(npz.texts, "tokens")) {
    const std::string what = fmt::format("{}: tokens", path.string());
    capture.tokens = read_tokens(*tokens, what);
    const auto length = positions(capture.arrays);
    if (length && static_cast<std::size_t>(*length) != capture.tokens.size())
      refuse("{}: {} tokens, but q {} has {} positions", what, capture.tokens.size(),
             to_string(capture.arrays.find("q")->second.shape), *length);
  }
  return capture;
}

std::vector<CaptureSummary> list_captures(const fs::path& folder) {
  std::vector<CaptureSummary> summaries;
  for (const fs::path& file : files_ending(folder, ".npz")) {
    CaptureSummary& summary = summaries.emplace_back();
    summary.file = file;
    summary.name = array_file_title(file);
    try {
      if (const auto meta = read_npz_text(file, "meta")) read_meta(*meta, file, summary, nullptr);
    } catch (const Error& problem) {
      summary.error = problem.what();
    }
  }
  std::ranges::stable_sort(summaries, {}, &CaptureSummary::name);
  return summaries;
}

}  // namespace palimpsest
