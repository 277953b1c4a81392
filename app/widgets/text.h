#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

/// Small things that several panels do with words.
namespace palimpsest {

/// `text` in the current font, cut with "…" where it would be wider than `width` screen pixels.
std::string shortened(std::string_view text, float width);

/// The lines of `text` in the current font, wrapped between words where they would be wider than `width`
/// screen pixels: parts of it, each with a letter at least, or none where it leaves a line free.
std::vector<std::string_view> wrapped_lines(std::string_view text, float width);

/// "4.4e-16", as residuals are written; "0" only for an exact zero.
std::string scientific(double value);

/// A token's label as one line without the space before a word; white space alone is made visible: "␣", "⏎".
std::string visible_label(std::string_view label);

/// The extent of `text` in the current font.
ImVec2 text_extent(std::string_view text);

/// Text with its left upper corner at `position`, in the current font.
void draw_text(ImVec2 position, ImU32 colour, std::string_view text);

/// Text that is read from below: its left lower corner at `position`, so that it rises from there.
void draw_rising_text(ImVec2 position, ImU32 colour, std::string_view text);

/// The same as draw_text, cut to `width` screen pixels and centred in them.
void draw_centred(ImVec2 position, float width, ImU32 colour, std::string_view text);

/// Whether a tooltip about the last item would be shown now: asked first where its words take long to write.
bool wants_tooltip();

/// A few words about the last item, shown while the pointer rests on it; wraps when long.
void tooltip(std::string_view text);

/// The same with the key that does it.
void tooltip(std::string_view text, std::string_view key);

}  // namespace palimpsest
