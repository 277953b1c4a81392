#pragma once

#include "app/scene/floor.h"
#include "app/session/computation.h"
#include "app/session/memory_questions.h"
#include "app/views/view.h"
#include "core/contract/variant.h"
#include "core/insight/recall.h"

namespace palimpsest {

/// What a lane of Learn is at one word. Shares are those of Remembered.
struct RecalledAt {
  std::string word;     // that was stored: “drum” (42)
  std::string present;  // that changes it
  double before = 0;
  double after = 0;
  bool is_alignment = false;
  bool is_own = false;   // `present` is the stored word
  bool is_there = true;  // the memory has it by now
  Index beside = 0;      // other words whose values the answer is fitted to together with its own
};

/// How much of a value its key finds, or how its answer points, and what the present word did to that; in
/// lines.
std::string recalled_words(const RecalledAt& at);

/// What lanes are called, the legend of what is right and of what is too much, and what is measured.
struct RecalledLegend {
  std::string_view title;
  std::string_view right;
  std::string_view excess;
  std::string_view measure;
};
const RecalledLegend& recalled_legend(bool is_alignment);

/// What is measured, and what exactly is asked of the memory of `variant`.
std::string recalled_measure(bool is_alignment, const Variant& variant);

/// What a stored word answers at a column of the floor: shares of its value, as Remembered has them.
struct LaneState {
  double before = 0;
  double now = 0;
  bool is_there = true;  // the memory has it by now
  bool is_own = false;   // it is stored here
};

/// That of the stored word `word`, of those asked, from token `first` to `end`. Of a rule that gathers
/// batches of `batch` tokens, a word that waits in one is not there yet; 1: there are none.
LaneState lane_state(const Remembered& remembered, Index word, Index first, Index end, Index batch);

/// How it is drawn: what is right, what is too much, what the present word damaged or repaired.
FloorMark lane_mark(const LaneState& state);

/// What the stored word `word` still answers, `height` design pixels high.
FloorRow lane_row(const Computation& computed, const Remembered& remembered, Index word, Index batch,
                  bool is_present, float height);

/// beta |k|^2 with lines at 1 and 2, on the scale that the visible tokens need.
FloorScale strength_scale(const StepReach& strengths, const FloorColumns& columns);
FloorRow strength_row(const Computation& computed, const StepReach& strengths, const FloorScale& scale);

/// The first words beyond the edges of the strengths, as links; nothing where there are none.
std::vector<FloorRow::Link> edge_links(const Computation& computed, const TokenCourses& courses);

/// Half-lives, of all channels or of `channel`.
FloorScale half_life_scale();
FloorRow half_life_row(const Computation& computed, const Keeping& keeping, Index channel);

/// What a half-life painted at a part of that row's height keeps, as the rule's array says it.
double painted_gate(const Keeping& keeping, float part);

/// How large the memory has grown, on a log scale.
FloorRow growth_row(const Computation& computed, const FloorColumns& columns);

/// "“drum” (42)\nβ‖k‖² = 0.856: how far it steps …\nβ = 0.856".
std::string strength_bar_words(const Computation& computed, const StepReach& strengths, Index token);

/// "“drum” (42)\nα = 0.9993: half-life 954 words", of all channels together or of `channel`; -1: all.
std::string keeping_bar_words(const Computation& computed, const Keeping& keeping, Index channel,
                              Index token);

/// "“drum” (42)\nthe numbers of S after it: 0.0545 (root mean square)"; nothing where it is not known.
std::string growth_bar_words(const Computation& computed, Index token);

}  // namespace palimpsest
