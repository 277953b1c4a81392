#pragma once

#include <optional>

#include "app/session/inputs.h"
#include "app/studio/application.h"

namespace palimpsest {

/// Whether the heads of the open data are few and short enough to be shown as pictures.
bool has_head_tables(const Session& session);

/// One small picture for each head of the open data: what its memory answers after half of the words, with
/// its number and how legible that is; the present one is framed, words come under the pointer. In rows as
/// wide as the panel. Returns the head that was clicked.
std::optional<Index> head_tables(Application& application);

/// Every head as a small picture of how alike its keys are, with its strengths and decays below, in rows as
/// wide as the panel. `present` is framed (-1: none). Returns the head that was clicked.
std::optional<Index> head_pictures(const PreviewedData& preview, Index present);

}  // namespace palimpsest
