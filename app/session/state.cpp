#include "app/session/state.h"

#include <cmath>

#include "app/session/devices.h"
#include "app/session/json_fields.h"
#include "app/session/presets.h"
#include "core/base/text.h"
#include "core/proof/faults.h"

namespace palimpsest {

Choice SessionState::choice() const { return {{sides.front()}, head, edits, verify.fault}; }

void SessionState::set_choice(Choice choice) {
  head = choice.head;
  edits = std::move(choice.edits);
  verify.fault.id = std::move(choice.fault.id);
  if (!verify.fault.id.empty()) verify.fault.form = choice.fault.form;
  sides.front() = static_cast<Side&&>(choice);
}

bool same_but_place(const SessionState& x, const SessionState& y) {
  bool is_same = true;
  const auto compare = [&](const FieldTraits& traits, const auto& of_x, const auto& of_y) {
    is_same = is_same && (traits.held != Held::work || of_x == of_y);
  };
  for_each_leaf(compare, {}, x, y);
  return is_same;
}

SessionState with_looks_of(SessionState entry, const SessionState& present) {
  const auto keep = [](const FieldTraits& traits, auto& of_entry, const auto& of_present) {
    if (traits.held == Held::looks) of_entry = of_present;
  };
  for_each_leaf(keep, {}, entry, present);
  return entry;
}

SessionState without_words(SessionState state) {
  const auto clear = [](const FieldTraits& traits, auto& field, const auto& standard) {
    if (traits.of_text) field = standard;
  };
  const SessionState none;
  for_each_leaf(clear, {}, state, none);
  return state;
}

SessionState with_changes(SessionState state, const SessionState& from, const SessionState& to) {
  const auto take = [](const FieldTraits& traits, auto& field, const auto& before, const auto& now) {
    if (!traits.of_text && now != before) field = now;
  };
  const auto others = [](const SessionState& of) { return std::span(of.sides).subspan(1); };
  std::vector<Side> sides = {state.sides.front()};
  for_each_leaf(take, {}, sides.front(), from.sides.front(), to.sides.front());
  const auto kept = std::ranges::equal(others(to), others(from)) ? others(state) : others(to);
  sides.insert(sides.end(), kept.begin(), kept.end());
  for_each_leaf(take, {}, state, from, to);
  state.sides = std::move(sides);
  return state;
}

void History::change(SessionState next, std::string_view merge_key) {
  if (same_but_place(next, present())) return;
  erase(at_ + 1, entries_.size());
  const bool merges = !merge_key.empty() && merge_key == merge_key_ && at_ > 0;
  merge_key_ = merge_key;
  if (!merges) {
    entries_.push_back(std::move(next));
    ++at_;
  } else if (same_but_place(next, entries_[at_ - 1])) {  // dragged back to its start
    erase(at_, at_ + 1);
    --at_;
    merge_key_.clear();
  } else {
    entries_[at_] = std::move(next);
  }
  forget_oldest();
}

void History::forget_oldest() {
  std::size_t held = 0;
  for (const SessionState& entry : entries_) held += entry.edits.size();
  while (at_ > 0 && (entries_.size() > most_entries || held > most_edits_held)) {
    held -= entries_.front().edits.size();
    entries_.pop_front();
    --at_;
  }
}

const SessionState& History::undo() {
  end_merge();
  if (can_undo()) --at_;
  return present();
}

const SessionState& History::redo() {
  end_merge();
  if (can_redo()) ++at_;
  return present();
}

void History::fall_back(const SessionState& shown) {
  if (same_but_place(shown, present())) return;
  end_merge();
  for (std::size_t distance = 1; distance < entries_.size(); ++distance) {
    if (distance <= at_ && same_but_place(shown, entries_[at_ - distance])) {
      erase(at_ - distance + 1, at_ + 1);
      at_ -= distance;
      return;
    }
    if (at_ + distance < entries_.size() && same_but_place(shown, entries_[at_ + distance])) {
      erase(at_, at_ + distance);
      return;
    }
  }
  entries_[at_] = shown;
}

void History::erase(std::size_t first, std::size_t end) {
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(first),
                 entries_.begin() + static_cast<std::ptrdiff_t>(end));
}

using nlohmann::json;

static const EditKind& kind_of_edit(const std::string& id) {
  return find_row(edit_kinds(), id, &EditKind::id,
                  fmt::format("\"edit\" is \"{}\"; expected one of", shown(id)));
}

static void to_json(Json& json, const Edit& edit) {
  const EditKind& kind = kind_of_edit(edit.kind);
  json = {{"edit", edit.kind}};
  if (kind.has_array) json["array"] = edit.array;
  for (std::size_t i = 0; i < std::min(kind.fields.size(), edit.numbers.size()); ++i) {
    const EditField& field = kind.fields[i];
    if (field.is_index && std::abs(edit.numbers[i]) <= largest_count)
      json[field.name] = static_cast<Index>(edit.numbers[i]);
    else
      json[field.name] = edit.numbers[i];
  }
}

namespace {

Edit read_edit(const Fields& fields) {
  Edit edit;
  fields.read("edit", edit.kind);
  const EditKind& kind = kind_of_edit(edit.kind);
  std::vector<std::string_view> known = {"edit"};
  if (kind.has_array) known.emplace_back("array");
  for (const EditField& field : kind.fields) known.emplace_back(field.name);
  fields.require_known(known);
  for (const std::string_view field : known) {
    if (!fields.has(field.data())) refuse("{} ({}) does not say its \"{}\"", fields.name(), edit.kind, field);
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

/// Refuses what the ranges of the fields do not cover. Looks variants and devices up in their tables.
struct Check {
  void operator()(Side& side) const {
    side.variant = find_variant(side.variant).id;
    side.device = find_backend(side.device).name();
    if (side.chunk_size == 0) refuse("\"chunk_size\" is 0; expected a whole number from 1");
    for (const auto& [id, value] : side.sliders) {
      const EditKind& kind = kind_of_edit(id);
      if (!kind.neutral) refuse("\"{}\" is no slider", shown(id));
      const EditField& field = kind.fields.front();
      if (value >= field.minimum && value <= field.maximum) continue;
      refuse("the slider \"{}\" is {}; expected a number from {:g} to {:g}", id, value, field.minimum,
             field.maximum);
    }
  }

  void operator()(const CompareView& view) const {
    for (std::size_t i = 0; i < view.columns.size(); ++i) {
      const bool is_side = view.columns[i] >= '0' && view.columns[i] < '0' + static_cast<int>(most_sides);
      if (!is_side || view.columns.find(view.columns[i]) != i)
        refuse("\"columns\" is \"{}\"; expected the numbers of the sides, each once", shown(view.columns));
    }
  }

  void operator()(const VerifyState& verify) const {
    if (!verify.fault.id.empty()) find_fault(verify.fault.id);
    if (!verify.fragile.empty()) find_fragile_form(verify.fragile);
  }

  void operator()(const RaceWish& wish) const {
    for (const std::string& id : wish.variants) find_variant(id);
    for (const std::string& device : wish.devices) find_backend(device);
    if (wish.precisions.empty()) refuse("\"precisions\" is empty; expected at least one");
    if (wish.lengths.empty() || wish.lengths.front() < 1 || wish.lengths.back() > most_raced_tokens)
      refuse("\"lengths\" holds none or one out of range; expected 1 to {}", most_raced_tokens);
  }

  void operator()(const SessionState& state) const {
    if (state.repeated.size() > 2)
      refuse("\"repeated\" holds {} tokens; expected the first and the last, or one alone",
             state.repeated.size());
  }

  template <class Other>
  void operator()(const Other&) const {}  // the ranges of its fields suffice

  void read(const Fields& fields, const char* key, Edits& edits) const {
    fields.read_each(key, "edit", [&](const Fields& edit) { edits.push_back(read_edit(edit)); });
    if (const auto sliders = fields.at("adjustments")) read_adjustments(*sliders, edits);
  }

  /// Reads the sides, or the single side of an earlier version.
  void read(const Fields& fields, const char* key, std::vector<Side>& sides) const {
    read_fields(fields, sides.front(), *this);
    if (fields.has(key)) sides.clear();
    fields.read_each(key, "side", [&](const Fields& side) {
      side.require_known(field_names<Side>());
      read_fields(side, sides.emplace_back(), *this);
    });
    if (sides.empty() || sides.size() > most_sides)
      refuse("\"sides\" has {} entries; expected 1 to {}", sides.size(), most_sides);
    if (!sides.front().sliders.empty())
      refuse("the first side has \"sliders\"; its own are the \"edits\" of the data");
  }
};

/// The fields of earlier versions, which described the first side and the place.
std::vector<std::string_view> known_fields() {
  std::vector<std::string_view> known = field_names<SessionState>();
  known.emplace_back("adjustments");
  for (const auto& earlier : {field_names<Side>(), field_names<Place>()})
    known.insert(known.end(), earlier.begin(), earlier.end());
  return known;
}

/// Refuses JSON that is no session: if it neither names data nor has only known fields, an error about one
/// field would not help.
void require_session(const json& read, const std::vector<std::string_view>& known) {
  const char* expected =
      "expected a session that was saved here (an object with \"data\", \"sides\", \"place\") or pinned "
      "places";
  if (!read.is_object()) refuse("this seems to be {}; {}", seems_to_be(read), expected);
  if (read.contains("data")) return;
  for (const auto& field : read.items()) {
    if (is_among(field.key(), known)) continue;
    refuse("this seems to be {}; {}. \"{}\" is no field of the session", seems_to_be(read), expected,
           shown(field.key()));
  }
}

/// Refuses fields of an earlier version beside the fields that replaced them.
void require_one_way(const Fields& fields, const char* present,
                     const std::vector<std::string_view>& earlier) {
  if (!fields.has(present)) return;
  for (const std::string_view field : earlier) {
    if (fields.has(field.data()))
      refuse("both \"{}\" and \"{}\" are given; expected one of them", field, present);
  }
}

/// The name of the data; a relative path starts at `folder`.
std::string read_data(const Fields& fields, const std::filesystem::path& folder) {
  std::string data;
  fields.read("data", data);
  if (data.empty()) refuse("it does not say which \"data\" it belongs to");
  if (data.find('\0') != std::string::npos)
    refuse("\"data\" is \"{}\"; no file can have this name", shown(data));
  // An absolute path stays as it is.
  return is_found_by_name(data) ? data : (folder / data).string();
}

/// Renames fields of earlier versions, which called the workspace Verify "prove".
json with_present_names(json read) {
  if (!read.is_object()) return read;
  if (const auto workspace = read.find("workspace"); workspace != read.end() && *workspace == "prove")
    *workspace = "verify";
  if (read.contains("prove") && !read.contains("verify")) {
    read["verify"] = std::move(read["prove"]);
    read.erase("prove");
  }
  return read;
}

/// The fields of `written` that differ from `standard`; entries of a list are compared with its first one.
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

std::string decoded(std::string_view text) {
  const std::string letters = std::string(base64_letters) + "-_";
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = letters.find(text[i]);
    if (digit == std::string_view::npos)
      refuse("character {} is \"{}\"; expected letters, digits, - and _ only", i + 1,
             shown(text.substr(i, 1)));
    held = held << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 255);
  }
  return bytes;
}

}  // namespace

std::string write_state(const SessionState& state) { return dumped(state, 2); }

SessionState parse_state(const std::string& text, const std::filesystem::path& folder) {
  const json parsed = with_present_names(parse_json(text));
  const std::vector<std::string_view> known = known_fields();
  require_session(parsed, known);
  const Fields fields(parsed);
  fields.require_known(known);
  require_one_way(fields, "sides", field_names<Side>());
  require_one_way(fields, "place", field_names<Place>());
  require_one_way(fields, "edits", {"adjustments"});

  std::string data = read_data(fields, folder);
  SessionState state;
  read_fields(fields, state.place, Check());  // the format of earlier versions
  read_fields(fields, state, Check());
  state.data = std::move(data);
  return state;
}

SavedKind saved_kind(const std::string& text) {
  const json read = json::parse(text, nullptr, false);
  if (!read.is_object()) return SavedKind::other;
  if (read.contains("palimpsest_places")) return SavedKind::pinned_places;
  if (read.contains("palimpsest_race")) return SavedKind::race;
  return read.contains("data") ? SavedKind::place : SavedKind::other;
}

std::string state_string(const SessionState& state) {
  const Json written = differing(state, SessionState());
  return base64(dumped(written, -1), true);
}

SessionState parse_state_string(const std::string& text) { return parse_state(decoded(text)); }

}  // namespace palimpsest
