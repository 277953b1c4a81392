#pragma once

#include "app/scene/floor.h"
#include "app/views/view.h"
#include "app/words/learn.h"

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

/// What the stored token `word` returns, of those queried, from token `first` to `end`. Of a rule that
/// gathers batches of `batch` tokens, a token that waits in one is not there yet; 1: there are none.
LaneState lane_state(const Remembered& remembered, Index word, Index first, Index end, Index batch);

/// How it is drawn: what is right, what is too much, what the present token damaged or repaired.
FloorMark lane_mark(const LaneState& state);

/// Recall of the stored token `word`, `height` design pixels high.
FloorRow lane_row(const Computation& computed, const Remembered& remembered, Index word, Index batch,
                  bool is_present, float height);

/// beta |k|^2 with lines at 1 and 2, on the scale that the visible tokens need.
FloorScale strength_scale(const StepReach& strengths, const FloorColumns& columns);
FloorRow strength_row(const Computation& computed, const StepReach& strengths, const FloorScale& scale);

/// The first tokens beyond the limits 1 and 2 of the step size, as links; nothing where there are none.
std::vector<FloorRow::Link> edge_links(const Computation& computed, const TokenCourses& courses);

/// Half-lives, of all channels or of `channel`.
FloorRow half_life_row(const Computation& computed, const Keeping& keeping, Index channel);

/// The entry of the rule's array for a half-life painted at a part of that row's height.
double painted_gate(const Keeping& keeping, float part);

/// How large the memory has grown, on a log scale.
FloorRow growth_row(const Computation& computed, const FloorColumns& columns);

}  // namespace palimpsest
