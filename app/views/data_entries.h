#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// Of an id, what is the same for a preset at all its sizes.
inline std::string_view data_key(std::string_view id) { return id.substr(0, id.find('?')); }

/// Data that can be opened: one row of a list.
struct DataEntry {
  std::string id;            // as Session::open_named takes it
  std::string group;         // the heading it stands under
  std::string name;          // "overwriting a fact"
  std::string words;         // a line below: how its text begins, or what it shows
  std::string problem = {};  // why it cannot be opened; empty if that is not known

  std::string_view key() const { return data_key(id); }
};

/// All presets, captures by their rule, and `recent` paths of files. Reads what lies in the folder of
/// captures.
std::vector<DataEntry> data_entries(std::span<const std::string> recent);

/// The names of all captures, as notes call them: "retnet_overwrite_l2".
std::vector<std::string> capture_names(std::span<const DataEntry> entries);

/// Those of `all` with every word of `typed` in their group, name, words or id.
std::vector<const DataEntry*> filtered(std::span<const DataEntry> all, std::string_view typed);

}  // namespace palimpsest
