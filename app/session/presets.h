#pragma once

#include "app/session/data_set.h"

namespace palimpsest {

/// Sizes and seed of generated data.
struct PresetSize {
  Index tokens = 32;
  Index dk = 16;
  Index dv = 16;
  std::uint64_t seed = 1;
  double cosine = 0.75;  // between every two keys, where a preset has one to choose
  bool operator==(const PresetSize&) const = default;
};

class Story;  // what is told token by token

/// A kind of generated sequence.
struct Preset {
  std::string id;
  std::string label;
  std::string words;  // what it shows, one sentence
  const char* notes;  // what to look for
  void (*tell)(Story&);
  Index fewest_tokens = 1;  // that it needs to make sense
  bool has_cosine = false;  // whether its cosine can be chosen
  PresetSize usual = {};    // what it is shown with at first
};

inline constexpr double largest_cosine = 0.99;
inline constexpr Index most_preset_tokens = has_little_memory ? 100'000 : 1'000'000;
inline constexpr Index most_preset_channels = 512;

/// The table of presets: to add one, add a row.
std::span<const Preset> presets();

/// The id of data from a preset: "preset:overwrite?T=32&K=16&V=16&seed=1", with "&cosine=0.75" if it has a
/// cosine.
std::string preset_id(const Preset& preset, const PresetSize& size);

/// The same id with all of its sizes. Throws InputError as make_preset() does.
std::string whole_preset_id(const std::string& id);

/// The id at the sizes it is shown in at first.
std::string usual_preset_id(const Preset& preset);

/// Makes the data that `id` (see preset_id) names; the same id gives the same numbers everywhere.
/// Throws InputError if there is no such preset or a size is out of range.
DataSet make_preset(const std::string& id);

/// The sizes in a preset's id; the defaults if `id` is not one.
PresetSize preset_size(const std::string& id);

/// The preset that `id` names; null if it names none.
const Preset* preset_of(std::string_view id);

/// Opens a capture that we ship by "capture:NAME". Throws InputError.
DataSet open_capture(const std::string& id);

/// Whether the program finds data of this id without a folder.
bool is_found_by_name(std::string_view id);

/// Opens whatever `id` names: a preset, a capture, a typed text or the path of a file. Throws InputError.
DataSet open_data(const std::string& id);

}  // namespace palimpsest
