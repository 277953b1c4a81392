#pragma once

#include "app/session/inputs.h"
#include "app/views/view.h"

namespace palimpsest {

/// Whether the heads of the open data are few and short enough to be shown as pictures.
bool has_head_tables(const Session& session);

/// One small picture for each head of the open data: what its memory answers after half of the words, with
/// its number and how legible that is; the present one is framed, words come under the pointer. A click opens
/// one.
Node head_tables(Application& application, const std::function<void(Index)>& open);

/// Every head as a small picture of how alike its keys are, with its strengths and decays below. `present` is
/// framed (-1: none). A click opens one. Uses `preview` until it is drawn.
Node head_pictures(const PreviewedData& preview, Index present, const std::function<void(Index)>& open);

}  // namespace palimpsest
