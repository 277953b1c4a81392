#pragma once

#include "app/scene/floor.h"
#include "app/views/view.h"
#include "app/words/learn.h"

// What the panels of Learn share.

namespace palimpsest {

/// Which of `iterates` is shown; 0: the gathered step.
std::size_t shown_iterate(const Session& session, std::size_t iterates);

/// The step to draw, and where it is drawn.
struct LearnScene {
  Application& application;
  const LearningMoment& moment;
  std::uint64_t version;  // of the moment
  bool is_old = false;    // of another place than that at the cursor

  const LearnView& view() const { return application.session.state().learn; }
};

/// The version by which textures of a value are cached: it changes with every new value.
template <class Value>
std::uint64_t version_of(const std::shared_ptr<const Value>& value) {
  auto& [known, version] = context_local<std::pair<std::shared_ptr<const Value>, std::uint64_t>>();
  if (known != value) {
    known = value;
    ++version;
  }
  return version;
}

/// How many directions of a gathered step exceed rounding; singular values [directions, iterations].
Index count_used(const Matrix<double>& singular_values);

// The pictures of one step.
Node loss_picture(const LearnScene& scene);
Node step_matrices(const LearnScene& scene);
Node flattening_picture(const LearnScene& scene);
Node network_picture(const LearnScene& scene);

/// How the solve for the query converges, for a rule that solves.
Node solve_picture(const LearnScene& scene);

// The other questions.
Node keys_page(Application& application);
Node capacity_page(Application& application);

// The rows of its floor.

/// What the queried token number `word` returns, from token `first` to `end`. A rule with batches of `batch`
/// tokens (1: none) has not stored a token that waits in a batch.
LaneState lane_state(const Remembered& remembered, Index word, Index first, Index end, Index batch);

/// Its mark: the right share, the excess, and what the current token damaged or repaired.
FloorMark lane_mark(const LaneState& state);

/// Half-lives, of all channels or of `channel`; and the norm of the memory, on a log scale.
FloorRow half_life_row(const Computation& computed, const Keeping& keeping, Index channel);
FloorRow growth_row(const Computation& computed, const FloorColumns& columns);

}  // namespace palimpsest
