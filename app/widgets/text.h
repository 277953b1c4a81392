#pragma once

#include "app/widgets/heat_map.h"
#include "app/widgets/style.h"
#include "core/base/text.h"

/// Small things that several panels do with words.

namespace palimpsest {

/// `text` in the current font, cut with "…" where it would be wider than `width` screen pixels.
std::string shortened(std::string_view text, float width);

/// The first of some words that has room; the last, cut, where none has.
std::string first_fitting(const std::vector<std::string>& words, float width);

/// The lines of `text` in the current font, wrapped between words where they would be wider than `width`
/// screen pixels: parts of it, each with a letter at least, or none where it leaves a line free.
std::vector<std::string_view> wrapped_lines(std::string_view text, float width);

/// The extent of `text` in the current font, and of words in one of their own.
ImVec2 text_extent(std::string_view text);
ImVec2 text_extent(style::Text text, std::string_view words);

/// Text with its left upper corner at `position`, in the current font.
void draw_text(ImVec2 position, ImU32 colour, std::string_view text);

/// Words in a style with their point `own`, in parts of their extent, at `at`. Returns that.
ImVec2 draw_words(ImVec2 at, style::Text text, ImU32 colour, std::string_view words, ImVec2 own = {0, 0});

/// Text that is read from below: its left lower corner at `position`, so that it rises from there.
void draw_rising_text(ImVec2 position, ImU32 colour, std::string_view text);

/// Whether the last item should say what it is: the pointer rests on it.
bool wants_tooltip();

/// A few words about the last item, shown while the pointer rests on it; wraps when long. With the key that
/// does it, if there is one; below it, or `above` where there is room.
void tooltip(std::string_view text, std::string_view key = {}, bool above = false);

/// As tooltip(), of what lies in a rectangle on the screen, at once: for a part of a picture under the
/// pointer, beside all of the picture.
void tooltip_beside(const Rectangle& item, std::string_view text);

/// Tells the whole of the cut words that the pointer rests on, unless something else is told there. Once, at
/// the end of a frame.
void tell_cut_words();

/// Words that were cut in the last frame, and the window that they stood in: what the tests look at.
struct CutPiece {
  std::string whole;
  std::string window;
};
const std::vector<CutPiece>& drawn_cut_words();

}  // namespace palimpsest
