#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/scene/node.h"
#include "app/session/memory_questions.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"

// What the panels of Learn share.

namespace palimpsest {

/// The panels of Learn.
std::span<const Panel> learn_panels();

void draw_learn_side(Application& application);
void draw_learn_floor(Application& application);

/// LaTeX with the symbols k, v, beta, alpha, ... in their colours.
std::string coloured_symbols(std::string_view latex);

/// What the step of the token at the cursor has come to.
Known<std::optional<LearningMoment>> ask_learning(Application& application);

/// What the rows along the words show; `channel` of the gate, -1: all.
Known<TokenCourses> ask_courses(Application& application, Index channel = -1);

/// The word of a token as a sentence has it: “drum”.
std::string quoted_word(const Computation& computed, Index token);

/// What the centre of Learn asks.
enum class LearnPage { step, keys, capacity };

/// What the network shows: a word on its way through, the gradient on its way back, what it changes.
enum class NetworkSide { forward, backward, step };

/// What a person looks at in Learn.
struct LearnLook {
  LearnPage page = LearnPage::step;
  NetworkSide network = NetworkSide::forward;
  bool shows_solve = true;                  // of a rule that solves for its query, in place of the step
  std::optional<std::size_t> iterate = {};  // of Newton and Schulz; the last one until another is dragged to
  double around = 0.4;                      // how the sphere of the keys is turned
  double tilt = 0.35;
  Index channel = -1;                          // of the gate; -1: all
  std::optional<CapacitySweep> measured = {};  // it goes on until it is there or stopped
};

/// That of the current Dear ImGui context.
LearnLook& learn_look();

/// Which of `iterates` is looked at, 0 the gathered step.
std::size_t shown_iterate(std::size_t iterates);

/// A moment and what was made of it for drawing.
struct LearnScene {
  Application& application;
  const LearningMoment& moment;
  std::uint64_t version;  // of the moment
  bool is_old = false;    // of another place than that at the cursor
};

/// How many directions of gathered steps [directions, iterations] are more than rounding.
Index count_used(const Matrix<double>& singular_values);

// The pictures of one step.
scene::Node loss_picture(const LearnScene& scene);
scene::Node step_matrices(const LearnScene& scene);
scene::Node flattening_picture(const LearnScene& scene);
scene::Node network_picture(const LearnScene& scene);

/// How the query finds its solution, for a rule that solves for it.
scene::Node solve_picture(const LearnScene& scene);

// The other questions.
scene::Node keys_page(Application& application);
scene::Node capacity_page(Application& application);

}  // namespace palimpsest
