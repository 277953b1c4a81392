#include "app/session/state_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/session/devices.h"
#include "app/session/foreign_json.h"
#include "app/session/json_fields.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/proof/faults.h"
#include "core/proof/fragile_forms.h"

namespace palimpsest {

using nlohmann::json;

namespace {

using Json = nlohmann::ordered_json;

const EditKind& find_kind(const std::string& id, std::span<const EditKind> table) {
  std::vector<std::string_view> known;
  for (const EditKind& kind : table) {
    if (kind.id == id) return kind;
    known.emplace_back(kind.id);
  }
  throw InputError(fmt::format("\"edit\" is \"{}\"; expected one of: {}", shown(id), fmt::join(known, ", ")));
}

Json side_json(const Side& side) {
  return {{"variant", side.variant},
          {"form", name(side.form)},
          {"device", side.device},
          {"precision", name(side.precision)},
          {"chunk_size", side.chunk_size},
          {"options", side.settings.options},
          {"parameters", side.settings.parameters},
          {"sliders", side.sliders}};
}

const std::vector<std::string_view> side_fields = {"variant",    "form",    "device",     "precision",
                                                   "chunk_size", "options", "parameters", "sliders"};

void read_side(const Fields& fields, Side& side) {
  fields.read("variant", side.variant);
  side.variant = find_variant(side.variant).id;
  fields.read("form", all_forms, side.form);
  fields.read("device", side.device);
  side.device = find_backend(side.device).name();
  fields.read("precision", all_precisions, side.precision);
  fields.read("chunk_size", side.chunk_size);
  if (side.chunk_size == 0) throw InputError("\"chunk_size\" is 0; expected a whole number from 1");
  fields.read("options", side.settings.options);
  fields.read("parameters", side.settings.parameters);
  fields.read("sliders", side.sliders);
  for (const auto& [id, value] : side.sliders) {
    const EditKind& kind = find_kind(id, edit_kinds());
    if (!kind.neutral) throw InputError(fmt::format("\"{}\" is no slider", shown(id)));
    const EditField& field = kind.fields.front();
    if (value >= field.minimum && value <= field.maximum) continue;
    throw InputError(fmt::format("the slider \"{}\" is {}; expected a number from {:g} to {:g}", id, value,
                                 field.minimum, field.maximum));
  }
}

Json edit_json(const Edit& edit, std::span<const EditKind> table) {
  const EditKind& kind = find_kind(edit.kind, table);
  Json written = {{"edit", edit.kind}};
  if (kind.has_array) written["array"] = edit.array;
  for (std::size_t i = 0; i < std::min(kind.fields.size(), edit.numbers.size()); ++i) {
    const EditField& field = kind.fields[i];
    if (field.is_index && std::abs(edit.numbers[i]) <= largest_count)
      written[field.name] = static_cast<Index>(edit.numbers[i]);
    else
      written[field.name] = edit.numbers[i];
  }
  return written;
}

Edit read_edit(const Fields& fields, std::span<const EditKind> table) {
  Edit edit;
  fields.read("edit", edit.kind);
  const EditKind& kind = find_kind(edit.kind, table);
  std::vector<std::string_view> known = {"edit"};
  if (kind.has_array) known.emplace_back("array");
  for (const EditField& field : kind.fields) known.emplace_back(field.name);
  fields.require_known(known);
  for (const std::string_view field : known) {
    if (!fields.has(field.data()))
      throw InputError(fmt::format("{} ({}) does not say its \"{}\"", fields.name(), edit.kind, field));
  }
  if (kind.has_array) fields.read("array", edit.array);
  for (const EditField& field : kind.fields) fields.read(field.name, edit.numbers.emplace_back());
  return edit;
}

/// The sliders of earlier versions.
void read_adjustments(const Fields& fields, Edits& edits) {
  static constexpr std::pair<const char*, const char*> kinds[] = {{"decay", "scale_decay"},
                                                                  {"beta", "scale_strength"},
                                                                  {"key_length", "scale_keys"},
                                                                  {"missing_alpha", "missing_decay"},
                                                                  {"missing_beta", "missing_strength"}};
  std::vector<std::string_view> known;
  for (const auto& [field, kind] : kinds) known.emplace_back(field);
  fields.require_known(known);
  for (const auto& [field, kind] : kinds) {
    double value = slider_value(edits, kind);
    fields.read(field, value);
    set_slider(edits, kind, value);
  }
}

const std::vector<std::string_view> place_fields = {"token", "operation", "phase", "tile"};

void read_place(const Fields& fields, Place& place) {
  fields.read("token", place.token);
  fields.read("operation", place.operation);
  fields.read("phase", place.phase);
  fields.read("tile", place.tile);
}

void read_view(const Fields& fields, ViewOptions& view) {
  fields.require_known({"theme", "shared_scale", "state_value_by_key", "numbers", "growth"});
  fields.read("theme", all_themes, view.theme);
  fields.read("shared_scale", view.shared_scale);
  fields.read("state_value_by_key", view.state_value_by_key);
  fields.read("numbers", view.numbers);
  fields.read("growth", view.growth);
}

void read_attention(const Fields& fields, AttentionView& view) {
  fields.require_known({"shares", "diagonal", "mask", "gates", "chunks", "sharpness", "channel"});
  fields.read("shares", view.shares);
  fields.read("diagonal", view.diagonal);
  fields.read("mask", view.mask);
  fields.read("gates", view.gates);
  fields.read("chunks", view.chunks);
  fields.read("sharpness", view.sharpness);
  if (!(view.sharpness >= 0 && view.sharpness <= most_sharpness)) {
    throw InputError(
        fmt::format("\"sharpness\" is {}; expected a number from 0 to {}", view.sharpness, most_sharpness));
  }
  fields.read("channel", view.channel);
}

void read_compare(const Fields& fields, CompareView& view) {
  fields.require_known({"reference", "handle", "before", "columns"});
  const auto read_side_number = [&](const char* field, std::size_t& side) {
    auto number = static_cast<Index>(side);
    fields.read(field, number, 0, static_cast<Index>(most_sides) - 1);
    side = static_cast<std::size_t>(number);
  };
  read_side_number("reference", view.reference);
  read_side_number("handle", view.handle);
  fields.read("before", view.before);
  fields.read("columns", view.columns);
  for (std::size_t i = 0; i < view.columns.size(); ++i) {
    const bool is_side = view.columns[i] >= '0' && view.columns[i] < '0' + static_cast<int>(most_sides);
    if (!is_side || view.columns.find(view.columns[i]) != i) {
      throw InputError(fmt::format("\"columns\" is \"{}\"; expected the numbers of the sides, each once",
                                   shown(view.columns)));
    }
  }
}

void read_prove(const Fields& fields, ProveState& prove) {
  fields.require_known({"fault", "form", "lens", "fragile", "breaks"});
  fields.read("fault", prove.fault.id);
  if (!prove.fault.id.empty()) find_fault(prove.fault.id);
  fields.read("form", all_forms, prove.fault.form);
  fields.read("lens", all_proof_lenses, prove.lens);
  fields.read("fragile", prove.fragile);
  if (!prove.fragile.empty()) find_fragile_form(prove.fragile);
  fields.read("breaks", prove.breaks);
}

/// Values of an enumeration by their names.
template <class Enum, std::size_t size>
void read_names(const Fields& fields, const char* key, const Enum (&all)[size], std::vector<Enum>& values) {
  if (!fields.has(key)) return;
  std::vector<std::string> names;
  fields.read(key, names);
  values.clear();
  for (const std::string& wanted : names) {
    const auto found = std::ranges::find(all, wanted, [](Enum one) { return std::string(name(one)); });
    if (found == std::end(all)) {
      std::vector<std::string_view> known;
      for (const Enum one : all) known.emplace_back(name(one));
      throw InputError(
          fmt::format("\"{}\" holds \"{}\"; expected of: {}", key, shown(wanted), fmt::join(known, ", ")));
    }
    values.push_back(*found);
  }
}

template <class Enum>
std::vector<std::string> names_of(const std::vector<Enum>& values) {
  std::vector<std::string> names;
  for (const Enum value : values) names.emplace_back(name(value));
  return names;
}

const std::vector<std::string_view> measure_fields = {
    "variants", "peer", "forms", "devices", "precisions", "lengths", "batches",   "heads",
    "dk",       "dv",   "chunk", "reports", "away",       "leading", "per_token", "whole"};

void read_measure(const Fields& fields, MeasureState& measure) {
  fields.require_known(measure_fields);
  RaceWish& wish = measure.wish;
  fields.read("variants", wish.variants);
  for (const std::string& id : wish.variants) find_variant(id);
  fields.read("peer", wish.peer);
  read_names(fields, "forms", all_forms, wish.forms);
  fields.read("devices", wish.devices);
  for (const std::string& device : wish.devices) find_backend(device);
  read_names(fields, "precisions", all_precisions, wish.precisions);
  if (wish.precisions.empty()) throw InputError("\"precisions\" is empty; expected at least one");
  fields.read("lengths", wish.lengths);
  if (wish.lengths.empty() || wish.lengths.front() < 1 || wish.lengths.back() > most_raced_tokens) {
    throw InputError(
        fmt::format("\"lengths\" holds none or one out of range; expected 1 to {}", most_raced_tokens));
  }
  fields.read("batches", wish.shape.batches, 1, most_raced_heads);
  fields.read("heads", wish.shape.heads, 1, most_raced_heads);
  fields.read("dk", wish.shape.dk, 1, most_raced_channels);
  fields.read("dv", wish.shape.dv, 1, most_raced_channels);
  fields.read("chunk", wish.chunk_size, 1, most_raced_tokens);
  fields.read("reports", measure.reports);
  fields.read("away", measure.away);
  fields.read("leading", measure.leading);
  fields.read("per_token", measure.per_token);
  fields.read("whole", measure.whole);
}

/// Refuses JSON that has nothing to do with a session: where neither the data are named nor all fields known,
/// the names of fields alone would say little.
void require_session(const json& read, const std::vector<std::string_view>& known) {
  const char* expected =
      "expected a session that was saved here (an object with \"data\", \"sides\", \"place\") or pinned "
      "places";
  if (!read.is_object())
    throw InputError(fmt::format("this seems to be {}; {}", seems_to_be(read), expected));
  if (read.contains("data")) return;
  for (const auto& field : read.items()) {
    if (std::ranges::find(known, field.key()) != known.end()) continue;
    throw InputError(fmt::format("this seems to be {}; {}. \"{}\" is no field of the session",
                                 seems_to_be(read), expected, shown(field.key())));
  }
}

/// Refuses fields of an earlier version beside what has taken their place.
void require_one_way(const Fields& fields, const char* present,
                     const std::vector<std::string_view>& earlier) {
  if (!fields.has(present)) return;
  for (const std::string_view field : earlier) {
    if (fields.has(field.data()))
      throw InputError(fmt::format("\"{}\" stands beside \"{}\"; expected one of them", field, present));
  }
}

Json state_json(const SessionState& state, std::span<const EditKind> table) {
  Json edits = Json::array();
  for (const Edit& edit : state.edits) edits.push_back(edit_json(edit, table));
  Json sides = Json::array();
  for (const Side& side : state.sides) sides.push_back(side_json(side));
  return {
      {"data", state.data},
      {"edits", edits},
      {"head", state.head},
      {"sides", sides},
      {"place",
       {{"token", state.place.token},
        {"operation", state.place.operation},
        {"phase", state.place.phase},
        {"tile", state.place.tile}}},
      {"words", state.words},
      {"repeated", state.repeated},
      {"workspace", state.workspace},
      {"view",
       {{"theme", name(state.view.theme)},
        {"shared_scale", state.view.shared_scale},
        {"state_value_by_key", state.view.state_value_by_key},
        {"numbers", state.view.numbers},
        {"growth", state.view.growth}}},
      {"attention",
       {{"shares", state.attention.shares},
        {"diagonal", state.attention.diagonal},
        {"mask", state.attention.mask},
        {"gates", state.attention.gates},
        {"chunks", state.attention.chunks},
        {"sharpness", state.attention.sharpness},
        {"channel", state.attention.channel}}},
      {"compare",
       {{"reference", state.compare.reference},
        {"handle", state.compare.handle},
        {"before", state.compare.before},
        {"columns", state.compare.columns}}},
      {"prove",
       {{"fault", state.prove.fault.id},
        {"form", name(state.prove.fault.form)},
        {"lens", name(state.prove.lens)},
        {"fragile", state.prove.fragile},
        {"breaks", state.prove.breaks}}},
      {"measure",
       {{"variants", state.measure.wish.variants},
        {"peer", state.measure.wish.peer},
        {"forms", names_of(state.measure.wish.forms)},
        {"devices", state.measure.wish.devices},
        {"precisions", names_of(state.measure.wish.precisions)},
        {"lengths", state.measure.wish.lengths},
        {"batches", state.measure.wish.shape.batches},
        {"heads", state.measure.wish.shape.heads},
        {"dk", state.measure.wish.shape.dk},
        {"dv", state.measure.wish.shape.dv},
        {"chunk", state.measure.wish.chunk_size},
        {"reports", state.measure.reports},
        {"away", state.measure.away},
        {"leading", state.measure.leading},
        {"per_token", state.measure.per_token},
        {"whole", state.measure.whole}}},
  };
}

/// What of `written` differs from `standard`. Of a list, each entry is compared with the first standard one.
Json differing(const Json& written, const Json& standard) {
  if (written.is_array() && !standard.empty()) {
    Json entries = Json::array();
    for (const Json& entry : written) entries.push_back(differing(entry, standard.front()));
    return entries;
  }
  if (!written.is_object()) return written;
  Json different = Json::object();
  for (const auto& [key, value] : written.items()) {
    const auto usual = standard.find(key);
    if (usual == standard.end())
      different[key] = value;
    else if (*usual != value)
      different[key] = differing(value, *usual);
  }
  return different;
}

// A path need not be valid UTF-8.
std::string dumped(const Json& written, int indent) {
  return written.dump(indent, ' ', false, Json::error_handler_t::replace);
}

constexpr std::string_view base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(std::string_view bytes) {
  std::string text;
  unsigned held = 0;
  int bits = 0;
  for (const char byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += base64url[held >> (bits - 6) & 63];
  }
  if (bits > 0) text += base64url[held << (6 - bits) & 63];
  return text;
}

std::string decoded(std::string_view text) {
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = base64url.find(text[i]);
    if (digit == std::string_view::npos) {
      throw InputError(fmt::format("character {} is \"{}\"; expected letters, digits, - and _ only", i + 1,
                                   shown(text.substr(i, 1))));
    }
    held = held << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 255);
  }
  return bytes;
}

}  // namespace

std::string write_state(const SessionState& state, std::span<const EditKind> table) {
  return dumped(state_json(state, table), 2);
}

SessionState parse_state(const std::string& text, const std::filesystem::path& folder,
                         std::span<const EditKind> table) {
  const json parsed = parse_json(text);
  std::vector<std::string_view> known = {"data",    "edits",    "head",      "sides",      "place",
                                         "words",   "repeated", "workspace", "view",       "attention",
                                         "compare", "prove",    "measure",   "adjustments"};
  known.insert(known.end(), side_fields.begin(), side_fields.end());
  known.insert(known.end(), place_fields.begin(), place_fields.end());
  require_session(parsed, known);
  const Fields fields(parsed);
  fields.require_known(known);
  require_one_way(fields, "sides", side_fields);
  require_one_way(fields, "place", place_fields);
  require_one_way(fields, "edits", {"adjustments"});

  SessionState state;
  fields.read("data", state.data);
  if (state.data.empty()) throw InputError("it does not say which \"data\" it belongs to");
  if (state.data.find('\0') != std::string::npos)
    throw InputError(fmt::format("\"data\" is \"{}\"; no file can be called so", shown(state.data)));
  if (!state.data.starts_with("preset:") && !state.data.starts_with("capture:")) {
    state.data = (folder / state.data).string();  // an absolute path stays as it is
  }
  fields.read_each("edits", "edit",
                   [&](const Fields& edit) { state.edits.push_back(read_edit(edit, table)); });
  if (const auto sliders = fields.at("adjustments")) read_adjustments(*sliders, state.edits);
  fields.read("head", state.head);
  read_side(fields, state.sides.front());
  if (fields.has("sides")) state.sides.clear();
  fields.read_each("sides", "side", [&](const Fields& side) {
    side.require_known(side_fields);
    read_side(side, state.sides.emplace_back());
  });
  if (state.sides.empty() || state.sides.size() > most_sides)
    throw InputError(
        fmt::format("\"sides\" has {} entries; expected 1 to {}", state.sides.size(), most_sides));
  if (!state.sides.front().sliders.empty())
    throw InputError("the first side has \"sliders\"; its own are the \"edits\" of the data");
  read_place(fields, state.place);
  if (const auto place = fields.at("place")) {
    place->require_known(place_fields);
    read_place(*place, state.place);
  }
  fields.read("words", state.words);
  fields.read("repeated", state.repeated);
  if (state.repeated.size() > 2)
    throw InputError(
        fmt::format("\"repeated\" holds {} tokens; expected the first and the last, or one alone",
                    state.repeated.size()));
  fields.read("workspace", state.workspace);
  if (const auto view = fields.at("view")) read_view(*view, state.view);
  if (const auto attention = fields.at("attention")) read_attention(*attention, state.attention);
  if (const auto compare = fields.at("compare")) read_compare(*compare, state.compare);
  if (const auto prove = fields.at("prove")) read_prove(*prove, state.prove);
  if (const auto measure = fields.at("measure")) read_measure(*measure, state.measure);
  return state;
}

std::string state_string(const SessionState& state) {
  const Json written = differing(state_json(state, edit_kinds()), state_json({}, edit_kinds()));
  return encoded(dumped(written, -1));
}

SessionState parse_state_string(const std::string& text) { return parse_state(decoded(text)); }

}  // namespace palimpsest
