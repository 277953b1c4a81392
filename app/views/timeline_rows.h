#pragma once

#include <string_view>
#include <vector>

#include "app/views/timeline_columns.h"
#include "app/widgets/style.h"

namespace palimpsest {

/// The groups of tokens that the floor drew last, each with its caption, and the scale of its errors: what
/// the tests look at.
struct TimelineMap {
  struct Group {
    std::string words;
    Index first = 0;
    Index count = 0;
    float baseline = 0;  // of its caption
  };
  std::vector<Group> groups;
  std::vector<Index> underlined;
  double full_error = 0;
  double largest_error = 0;
  float text_left = 0;       // where the words begin
  std::vector<float> names;  // where what the rows are called begins, downwards on the screen
  struct Numbers {
    float left = 0;
    float right = 0;
    float end = 0;  // of their column
  };
  std::vector<Numbers> numbers = {};  // beside bars
  float words_top = 0;                // of the words, and
  float words_bottom = 0;
  float cursor_top = 0;  // of the frame around the present one
};

/// That of the current Dear ImGui context.
TimelineMap& timeline_map();

/// Draws rows over the visible columns; each at a height on the screen. Rows that a workspace has of its own
/// stand between them.
class TimelineRows {
 public:
  /// What is drawn of a token, or of several that share a pixel: parts of the room there is, negative where
  /// there is none.
  struct Bars {
    float kept = -1;
    float written = -1;
    float before = -1;
    float after = -1;
    bool before_cut = false;
    bool after_cut = false;
    bool overshoots = false;
  };

  TimelineRows(const TimelineColumns& columns, const Session& session);
  ~TimelineRows();
  TimelineRows(const TimelineRows&) = delete;
  TimelineRows& operator=(const TimelineRows&) = delete;

  /// Hairlines where the present form's groups of tokens begin, from `top` to `bottom`, with their captions
  /// at the top.
  void groups(float top, float bottom);

  /// The words themselves, where columns are wide enough.
  void words(float top);

  /// Half-lives, and how much is written: bars that run to the right under words, else upright ones.
  void kept(float top);
  void written(float top);

  /// How far the memory's answer is from the value, before and after the write.
  void errors(float top, float bottom);

  /// The frame around the present word, from `top` on, and around its group where a form takes it at once.
  /// Words stand in it, below `captions` of what lies at the top, which it does not cross; where columns are
  /// too narrow for words, the frame hangs below a flag with its word.
  void cursor(float top, float bottom, float captions = 0);

  /// The first token at which forms disagree.
  void mark(Index token, float top, float bottom);

  bool has_kept() const { return has_kept_; }
  bool has_written() const { return has_written_; }
  bool has_errors() const { return has_errors_; }

  /// The colour of a token: dimmed while it is still to come.
  ImU32 ink(ImU32 colour, Index token) const;

  /// What a row is called, in the gutter; its middle is at `middle`.
  void name(std::string_view words, float middle, ImU32 colour) const;

 private:
  template <class Draw>
  void each(Draw draw) const;
  void lane(float part, float left, float right, float top, ImU32 colour, bool upright) const;
  void error(const Bars& bars, float left, float right, float top, float bottom, Index token) const;
  void repeated(float top) const;
  bool error_numbers(Index token, float left, float right, float bottom) const;
  void flag(float middle, float top);

  const TimelineColumns& columns_;
  const Session& session_;
  const Computation& computed_;
  const style::Palette& colours_ = style::colours();
  ImDrawList* list_ = ImGui::GetWindowDrawList();
  Groups groups_;
  const std::vector<Bars>* bars_ = nullptr;
  Index token_ = 0;
  Index reached_ = 0;  // tokens from here on are still to come
  bool has_kept_ = false;
  bool has_written_ = false;
  bool has_errors_ = false;
};

/// The rows that the floor of Step has, over all of the columns' height, with their names in the gutter.
/// `marked` is the first token at which forms disagree, -1 if none does.
void draw_timeline_rows(const TimelineColumns& columns, const Session& session, Index marked);

}  // namespace palimpsest
