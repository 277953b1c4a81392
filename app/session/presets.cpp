#include "app/session/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "app/session/paths.h"
#include "app/session/words.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr std::string_view preset_prefix = "preset:";
constexpr std::string_view capture_prefix = "capture:";

const Preset& find_preset(std::string_view id) {
  return find_row(presets(), id, &Preset::id, fmt::format("there is no preset \"{}\"; known", shown(id)));
}

struct Request {
  const Preset& preset;
  PresetSize size;
};

/// Whether all of `digits` spells a number that fits.
template <class Number>
bool read_number(std::string_view digits, Number& number) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

template <class Number>
void read_number(std::string_view name, std::string_view digits, Number& number) {
  if (!read_number(digits, number))
    throw InputError(fmt::format("{} is \"{}\"; expected a whole number", name, shown(digits)));
}

void require(std::string_view name, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  throw InputError(fmt::format("{} is {}; expected {} to {}", name, value, least, most));
}

void read_cosine(std::string_view digits, double& cosine) {
  if (!read_number(digits, cosine) || !(cosine >= 0 && cosine <= largest_cosine))
    throw InputError(fmt::format("cosine is \"{}\"; expected a number from 0 to {}", digits, largest_cosine));
}

/// Takes "preset:NAME?T=32&K=16&V=16&seed=1" apart; what is not said is standard.
Request parse(std::string_view id) {
  if (!id.starts_with(preset_prefix))
    throw InputError(
        fmt::format("\"{}\" is not a preset; expected {}NAME?T=32&K=16&V=16&seed=1", id, preset_prefix));
  std::string_view rest = id.substr(preset_prefix.size());
  const auto take = [&](char until) {
    const std::size_t end = std::min(rest.find(until), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
  };
  Request request{find_preset(take('?')), {}};
  request.size = request.preset.usual;
  std::vector<std::string_view> given;
  while (!rest.empty()) {
    const std::string_view part = take('&');
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const std::string_view digits = part.substr(std::min(equals + 1, part.size()));
    if (std::ranges::find(given, name) != given.end())
      throw InputError(fmt::format("{} is given twice in \"{}\"", name, id));
    given.push_back(name);
    if (name == "T")
      read_number(name, digits, request.size.tokens);
    else if (name == "K")
      read_number(name, digits, request.size.dk);
    else if (name == "V")
      read_number(name, digits, request.size.dv);
    else if (name == "seed")
      read_number(name, digits, request.size.seed);
    else if (name == "cosine" && request.preset.has_cosine)
      read_cosine(digits, request.size.cosine);
    else
      throw InputError(fmt::format("\"{}\" is not a size of this preset; known: T, K, V, seed{}", shown(name),
                                   request.preset.has_cosine ? ", cosine" : ""));
  }
  require("T", request.size.tokens, request.preset.fewest_tokens, most_preset_tokens);
  require("K", request.size.dk, 1, most_preset_channels);
  require("V", request.size.dv, 1, most_preset_channels);
  const Index work = request.size.tokens * request.size.dk * request.size.dv;
  if (work > most_preset_work)
    throw InputError(fmt::format("T x K x V is {} x {} x {} = {}; expected at most {}, which takes seconds",
                                 request.size.tokens, request.size.dk, request.size.dv, work,
                                 most_preset_work));
  return request;
}

}  // namespace

std::string preset_id(const Preset& preset, const PresetSize& size) {
  return fmt::format("{}{}?T={}&K={}&V={}&seed={}", preset_prefix, preset.id, size.tokens, size.dk, size.dv,
                     size.seed) +
         (preset.has_cosine ? fmt::format("&cosine={}", size.cosine) : "");
}

std::string usual_preset_id(const Preset& preset) { return preset_id(preset, preset.usual); }

const Preset* preset_of(std::string_view id) {
  if (!id.starts_with(preset_prefix)) return nullptr;
  const std::string_view name =
      id.substr(preset_prefix.size()).substr(0, id.find('?') - preset_prefix.size());
  return row_called(presets(), name, &Preset::id);
}

DataSet make_preset(const std::string& id) {
  const Request request = parse(id);
  DataSet data = request.preset.make(request.size);
  data.id = preset_id(request.preset, request.size);
  data.title = fmt::format("{} · {} tokens", request.preset.label, data.tokens);
  data.notes = request.preset.notes;
  data.source = fmt::format("made up, seed {}", request.size.seed);
  return data;
}

PresetSize preset_size(const std::string& id) {
  try {
    return parse(id).size;
  } catch (const InputError&) {
    return {};
  }
}

namespace {

/// The captures that the program ships, by name.
std::vector<std::string> capture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(asset("captures"))) {
    if (entry.path().extension() == ".npz") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

DataSet open_capture(const std::string& id) {
  const std::string_view name = id.starts_with(capture_prefix)
                                    ? std::string_view(id).substr(capture_prefix.size())
                                    : std::string_view();
  const bool is_plain = !name.empty() && name.find_first_of("/\\") == std::string_view::npos && name != "..";
  if (!is_plain)
    throw InputError(fmt::format("\"{}\" is not a capture; expected {}NAME", id, capture_prefix));
  std::filesystem::path path;
  try {
    path = asset(fmt::format("captures/{}.npz", name));
  } catch (const Error&) {
    throw InputError(
        fmt::format("there is no capture \"{}\"; known: {}", shown(name), fmt::join(capture_names(), ", ")));
  }
  DataSet data = open_file(path);
  data.id = id;
  return data;
}

DataSet open_data(const std::string& id) {
  if (id.starts_with(preset_prefix)) return make_preset(id);
  if (id.starts_with(capture_prefix)) return open_capture(id);
  return open_file(id);
}

}  // namespace palimpsest
