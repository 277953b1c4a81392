#pragma once

#include "app/views/view.h"

// The parts of the data panel and the data page, and what both and the dialogs say of a file.

namespace palimpsest {

/// The sliders that change the inputs: gates, write strength, norm of the keys, and the rule's parameters.
Node adjusting_numbers(Application& application);

/// The other settings, with a few values each, and a button to undo all edits.
Node adjusting_options(Application& application);

/// Whether the heads of the open data are few and short enough to be shown as pictures.
bool has_head_tables(const Session& session);

/// One small picture for each head of the open data: what its memory returns after half of the tokens, with
/// the head's number and the legibility. The current head is framed. A click opens a head.
Node head_tables(Application& application, const std::function<void(Index)>& open);

/// One small picture for each head: the cosines of its keys, with β‖k‖² and decay below. `present` is framed
/// (-1: none). A click opens a head. `preview` must stay valid until the node is drawn.
Node head_pictures(const PreviewedData& preview, Index present, const std::function<void(Index)>& open);

/// Opens the card that assigns the arrays of a file to inputs.
void choose_names(Application& application, const std::string& id);

/// One row for each doubt, with its resolution as a link.
Nodes doubt_rows(Application& application, const std::vector<Doubt>& doubts);

/// Links that may help to open a file that cannot be opened; empty if there are none.
Nodes ways_out(Application& application, const std::string& id);

/// The part of an id that is the same for all sizes of a preset.
inline std::string_view data_key(std::string_view id) { return id.substr(0, id.find('?')); }

/// Data that can be opened: one row of a list.
struct DataEntry {
  std::string id;            // as Session::open_named takes it
  std::string group;         // the heading it stands under
  std::string name;          // "overwriting a fact"
  std::string words;         // a line below: the beginning of its text, or what it shows
  std::string problem = {};  // why it cannot be opened; empty if no problem is known

  std::string_view key() const { return data_key(id); }
};

/// All presets, captures sorted by rule, and the files `recent`. Reads the folder of captures.
std::vector<DataEntry> data_entries(std::span<const std::string> recent);

}  // namespace palimpsest
