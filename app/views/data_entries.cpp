#include "app/views/data_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/session/paths.h"
#include "app/session/presets.h"
#include "app/studio/command.h"
#include "core/base/error.h"
#include "core/io/capture.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr std::string_view capture_prefix = "capture:";

std::string rule_label(const std::string& rule) {
  const auto table = variants();
  const auto found = std::ranges::find(table, rule, &Variant::id);
  return found == table.end() ? "Other" : found->label;
}

/// How a text begins, on one line.
std::string beginning(const std::string& text) {
  constexpr std::size_t longest = 160;  // bytes; more never fits
  std::string begin = text.substr(0, text.size() > longest ? text.rfind(' ', longest) : text.size());
  std::ranges::replace(begin, '\n', ' ');
  return begin;
}

/// "overwriting a fact · layer 2" of "DeltaNet: overwriting a fact": the group says the rule.
std::string name_in_group(const CaptureSummary& capture) {
  const std::string rule = rule_label(capture.rule) + ": ";
  std::string name = capture.name.starts_with(rule) ? capture.name.substr(rule.size()) : capture.name;
  if (capture.layer) name += fmt::format(" · layer {}", *capture.layer);
  return name;
}

/// Captures in the order of the variants.
void add_captures(std::vector<DataEntry>& all) try {
  std::vector<CaptureSummary> captures = list_captures(asset("captures"));
  const auto table = variants();
  std::ranges::stable_sort(captures, {}, [&](const CaptureSummary& capture) {
    return std::ranges::find(table, capture.rule, &Variant::id) - table.begin();
  });
  for (const CaptureSummary& capture : captures) {
    all.push_back({.id = std::string(capture_prefix) + capture.file.stem().string(),
                   .group = "Trained models · " + rule_label(capture.rule),
                   .name = name_in_group(capture),
                   .words = beginning(capture.text),
                   .problem = capture.error});
  }
} catch (const Error& error) {
  all.push_back({.id = std::string(capture_prefix),
                 .group = "Trained models",
                 .name = "The captures cannot be read",
                 .words = {},
                 .problem = error.what()});
}

}  // namespace

std::vector<DataEntry> data_entries(std::span<const std::string> recent) {
  std::vector<DataEntry> all;
  for (const std::string& path : recent) {
    const std::filesystem::path file = path;
    all.push_back({.id = path,
                   .group = "Your own files",
                   .name = file.filename().string(),
                   .words = file.parent_path().string()});
  }
  for (const Preset& preset : presets()) {
    all.push_back({.id = usual_preset_id(preset),
                   .group = "Made up to show one thing",
                   .name = preset.label,
                   .words = preset.words});
  }
  add_captures(all);
  return all;
}

std::vector<std::string> capture_names(std::span<const DataEntry> entries) {
  std::vector<std::string> names;
  for (const DataEntry& entry : entries) {
    if (entry.id.starts_with(capture_prefix)) names.push_back(entry.id.substr(capture_prefix.size()));
  }
  return names;
}

std::vector<const DataEntry*> filtered(std::span<const DataEntry> all, std::string_view typed) {
  std::vector<const DataEntry*> left;
  for (const DataEntry& entry : all) {
    if (has_words(entry.group + ' ' + entry.name + ' ' + entry.words + ' ' + entry.id, typed))
      left.push_back(&entry);
  }
  return left;
}

}  // namespace palimpsest
