#pragma once

#include <optional>

#include "app/studio/application.h"

namespace palimpsest {

/// Whether the heads of the open data are few and short enough to be shown as pictures.
bool has_head_tables(const Session& session);

/// One small picture for each head of the open data: what its memory answers after half of the words, with
/// its number and how legible that is; the present one is framed, words come under the pointer. In rows as
/// wide as the panel. Returns the head that was clicked.
std::optional<Index> head_tables(Application& application);

}  // namespace palimpsest
