#pragma once

#include <cstdint>

#include "app/session/memory_questions.h"
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

}  // namespace palimpsest
