#pragma once

#include "app/scene/floor.h"
#include "app/views/view.h"

// What the panels of Learn share.

namespace palimpsest {

/// What the step of the token at the cursor has come to.
Known<std::optional<LearningMoment>> ask_learning(Application& application);

/// Which of `iterates` is looked at, 0 the gathered step.
std::size_t shown_iterate(const Session& session, std::size_t iterates);

/// A moment and what was made of it for drawing.
struct LearnScene {
  Application& application;
  const LearningMoment& moment;
  std::uint64_t version;  // of the moment
  bool is_old = false;    // of another place than that at the cursor

  const LearnView& view() const { return application.session.state().learn; }
};

/// The number of a value by which the graphics card keeps it: another one whenever another value comes.
template <class Value>
std::uint64_t version_of(const std::shared_ptr<const Value>& value) {
  auto& [known, version] = context_local<std::pair<std::shared_ptr<const Value>, std::uint64_t>>();
  if (known != value) {
    known = value;
    ++version;
  }
  return version;
}

/// How many directions of gathered steps [directions, iterations] are more than rounding.
Index count_used(const Matrix<double>& singular_values);

// The pictures of one step.
Node loss_picture(const LearnScene& scene);
Node step_matrices(const LearnScene& scene);
Node flattening_picture(const LearnScene& scene);
Node network_picture(const LearnScene& scene);

/// How the query finds its solution, for a rule that solves for it.
Node solve_picture(const LearnScene& scene);

// The other questions.
Node keys_page(Application& application);
Node capacity_page(Application& application);

// The rows of its floor.

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

/// What a lane of Learn is at one word.
struct RecalledAt {
  std::string word;     // that was stored: “drum” (42)
  std::string present;  // that changes it
  LaneState state = {};
  bool is_alignment = false;
  Index beside = 0;  // other words whose values the answer is fitted to together with its own
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

/// beta |k|^2 with lines at 1 and 2, on the scale that the visible tokens need.
FloorScale strength_scale(const StepReach& strengths, const FloorColumns& columns);
FloorRow strength_row(const Computation& computed, const StepReach& strengths, const FloorScale& scale);

/// The first words beyond the edges of the strengths, as links; nothing where there are none.
std::vector<FloorRow::Link> edge_links(const Computation& computed, const TokenCourses& courses);

/// Half-lives, of all channels or of `channel`.
FloorRow half_life_row(const Computation& computed, const Keeping& keeping, Index channel);

/// What a half-life painted at a part of that row's height keeps, as the rule's array says it.
double painted_gate(const Keeping& keeping, float part);

/// How large the memory has grown, on a log scale.
FloorRow growth_row(const Computation& computed, const FloorColumns& columns);

}  // namespace palimpsest
