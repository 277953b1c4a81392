#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/scene/plot.h"
#include "app/session/learn_questions.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"
#include "app/widgets/heat_map.h"

// What the panels of Learn share.

namespace palimpsest {

/// The panels of Learn.
std::span<const Panel> learn_panels();

void draw_learn(Application& application);
void draw_learn_side(Application& application);
void draw_learn_floor(Application& application);

/// What Learn drew last: what the tests look at.
struct LearnMap {
  Rectangle panel = {};                                    // of the piece that is drawn now
  std::vector<Rectangle> words;                            // texts and formulas
  std::vector<Rectangle> beyond;                           // those that leave their panel
  Rectangle loss;                                          // the chart of the loss; empty: there is none
  Rectangle iterates;                                      // that of Newton and Schulz
  std::vector<std::pair<std::string, Rectangle>> choices;  // the words that learn_choice() drew
  std::vector<std::pair<std::string, Rectangle>> links;    // words that lead to a token
  int labels_on_curves = 0;                                // of the loss
  std::string reason;  // why there is no picture of a step; empty: there is one
};

/// That of the current Dear ImGui context.
LearnMap& learn_map();

/// From here on words belong to the present window.
void begin_learn_piece();

/// Words at a place, in the current font, for the map.
void learn_text(ImVec2 position, ImU32 colour, std::string_view words);
void learn_text_right(ImVec2 right_top, ImU32 colour, std::string_view words);

/// The parts one after the other, as many as fit into `width`; the first one shortened if need be.
std::string joined_to_fit(std::span<const std::string> parts, float width);

/// Words that lead to a token when they are clicked; returns their width.
float learn_link(Application& application, ImVec2 position, ImU32 colour, const std::string& words,
                 Index token);

/// A formula with its left end and baseline at a place; returns its width.
float learn_formula(ImVec2 baseline, const std::string& latex, float size_px, ImU32 colour);

/// LaTeX with the symbols k, v, beta, alpha, ... in their colours.
std::string coloured_symbols(std::string_view latex);

/// What the step of the token at the cursor has come to.
Known<LearningNow::Value> ask_learning(Application& application);

/// What the rows along the words show; `channel` of the gate, -1: all.
Known<TokenCourses> ask_courses(Application& application, Index channel = -1);

/// The word of a token as a sentence has it: “drum”.
std::string quoted_word(const Computation& computed, Index token);

/// Where a piece of Learn is drawn.
struct LearnRoom {
  ImVec2 from = {};
  ImVec2 to = {};
  bool compact = false;

  float width() const { return to.x - from.x; }
  float height() const { return to.y - from.y; }
};

/// What the centre of Learn asks.
enum class LearnPage { step, keys, capacity };

/// That of the current Dear ImGui context.
LearnPage& learn_page();

void draw_keys_page(Application& application, const LearnRoom& room);
void draw_capacity_page(Application& application, const LearnRoom& room);

/// A moment and what was made of it for drawing.
struct LearnScene {
  Application& application;
  const LearningMoment& moment;
  std::uint64_t version;  // of the moment
  bool is_old = false;    // of another place than that at the cursor
};

/// How many directions of gathered steps [directions, iterations] are more than rounding.
Index count_used(const Matrix<double>& singular_values);

/// A row of words of which one is chosen, from its upper left corner on: the chosen one, and where the row
/// ends.
struct LearnChoice {
  std::size_t index = 0;
  float right = 0;
};
LearnChoice learn_choice(ImVec2 from, std::span<const char* const> words, std::size_t chosen);

/// What the network shows: a word on its way through, the gradient on its way back, what it changes.
enum class NetworkSide { forward, backward, step };

/// That of the current Dear ImGui context.
NetworkSide& network_side();

/// Which of `iterates` of Newton and Schulz is looked at, 0 the gathered step: the last one until another is
/// dragged to. That of the current Dear ImGui context.
std::size_t shown_iterate(std::size_t iterates);
void show_iterate(std::size_t index);

/// The loss along the step that is `at` long, with that of the word that it harms most; `is_dragged`: what it
/// really comes to is still to be computed.
Plot loss_plot(const LearnScene& scene, double at, const HarmAlong* harm, bool is_dragged);

/// The courses of singular values [directions, steps] as they are made alike; the step `shown` is looked at.
Plot flattening_plot(const Matrix<double>& values, std::size_t shown, bool is_old, bool compact);

// The pictures of one step.
void draw_loss(const LearnScene& scene, const LearnRoom& room);
void draw_step_matrices(const LearnScene& scene, const LearnRoom& room);
void draw_flattening(const LearnScene& scene, const LearnRoom& room);
void draw_network(const LearnScene& scene, const LearnRoom& room);

/// How the query finds its solution, for a rule that solves for it.
void draw_solve(const LearnScene& scene, const LearnRoom& room);

/// Whether that is what one sees instead of the step: that of the current Dear ImGui context.
bool& shows_solve();

}  // namespace palimpsest
