#pragma once

#include "app/views/view.h"

// What the panel and the page of the data are made of.

namespace palimpsest {

/// The knob of a form with chunks: how many words are computed together, and what every size costs.
Node knob(Application& application);

/// The sliders that change what goes in: gates, strength, key length, and whatever the variant can be told.
Node adjusting_numbers(Application& application);

/// The rest: settings with a few values each, and the way back to what was given.
Node adjusting_options(Application& application);

/// The numbers of one token of what is open, q, k, v and its gates, to be typed over. Why the number that was
/// typed last is not taken stands above them.
Node cell_table(Application& application);

/// Whether the heads of the open data are few and short enough to be shown as pictures.
bool has_head_tables(const Session& session);

/// One small picture for each head of the open data: what its memory answers after half of the words, with
/// its number and how legible that is; the present one is framed, words come under the pointer. A click opens
/// one.
Node head_tables(Application& application, const std::function<void(Index)>& open);

/// Every head as a small picture of how alike its keys are, with its strengths and decays below. `present` is
/// framed (-1: none). A click opens one. Uses `preview` until it is drawn.
Node head_pictures(const PreviewedData& preview, Index present, const std::function<void(Index)>& open);

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

}  // namespace palimpsest
