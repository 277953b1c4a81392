#pragma once

#include <imgui.h>

#include <optional>
#include <span>
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

/// Moves to the right, on the same line, so that something `width` wide ends at the panel's edge.
void align_right(float width);

/// Whether a tooltip about the last item would be shown now: asked first where its words take long to write.
bool wants_tooltip();

/// A few words about the last item, shown while the pointer rests on it; wraps when long.
void tooltip(std::string_view text);

/// The same with the key that does it.
void tooltip(std::string_view text, std::string_view key);

/// As tooltip(), of what lies in a rectangle on the screen, at once: for a part of a picture under the
/// pointer, beside all of the picture.
void tooltip_beside(ImVec2 minimum, ImVec2 maximum, std::string_view text);

/// While this lives, tooltips lie above their items, where there is room: below them is what they change.
class TooltipsAbove {
 public:
  TooltipsAbove();
  ~TooltipsAbove();
  TooltipsAbove(const TooltipsAbove&) = delete;
  TooltipsAbove& operator=(const TooltipsAbove&) = delete;
};

/// Says that `shown`, which ends with "…", stands for `whole`.
void remember_cut(std::string_view shown, std::string_view whole);

/// Says that `shown` was drawn in a rectangle of the current window. If it is cut and the pointer is there,
/// the whole is told at the end of the frame.
void offer_whole(ImVec2 minimum, ImVec2 maximum, std::string_view shown);

/// Tells the whole of the cut words that the pointer rests on, unless something else is told there. Once, at
/// the end of a frame.
void tell_cut_words();

/// Words that were cut in the last frame, and the window that they stood in: what the tests look at.
struct CutPiece {
  std::string whole;
  std::string window;
};
const std::vector<CutPiece>& drawn_cut_words();

/// Text that wraps at the panel's edge, in the current font. A word that is one of `links`, whatever marks
/// stand around it, is underlined and can be pressed; returns the one that was. Its identity is the word.
std::optional<std::string> linked_text(std::string_view text, std::span<const std::string> links);

}  // namespace palimpsest
