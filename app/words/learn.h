#pragma once

#include "app/session/session.h"
#include "core/insight/answers.h"
#include "core/insight/learning.h"
#include "core/insight/recall.h"

// What Learn says.

namespace palimpsest {

/// Which token, or batch, makes the step; `token` is "token 43 “drum”", `before` the text in front of it.
std::string moment_words(const LearningMoment* moment, const std::string& token, const std::string& before);

inline constexpr const char* learn_questions[] = {"How large can the step be?", "Which keys collide?",
                                                  "How much fits in?"};

/// Why there is no step, of a rule without a loss, a token that makes none, one that is still computed.
std::string no_loss_words(const Variant& variant);
inline constexpr const char* no_step_words = "This token makes no step.";
inline constexpr const char* step_under_way_words = "The step is being computed.";

/// What the step does to the error and the loss, and the two longest of these sentences.
std::string step_sentence(const LearningMoment& moment);
inline constexpr const char* longest_step_sentences[] = {
    "The step is 88.88 times its stability limit: it increases the loss.",
    "The error is multiplied by 1 − β‖k‖² = −0.888, the loss by 0.79."};

/// The question and the caption of the story.
std::string learn_question(const std::string& token);
std::string learn_about(const LearningMoment& moment);

/// How many singular directions the state has in effect: the title, and what stands below.
std::string spectrum_title(const std::string& state, bool is_one_of_several);
std::string spectrum_words(Index tokens, double largest);

// The loss along the step.

/// The titles of its axis, which can be dragged where the step has a number for it.
std::vector<std::string> step_axis_titles(const LearningMoment& moment, double unit);
/// The band in which the loss decreases, up to `edge`; `is_seen`: that is on the axis.
std::string decrease_words(const LearningMoment& moment, double edge, bool is_seen);
inline constexpr const char* increase_words = "loss increases";
/// Why a step does not land on the line along its gradient.
const char* landing_words(const LearningMoment& moment);
/// The stored token whose loss this step increases most; the shorter, the later.
std::vector<std::string> interference_words(const std::string& token, const HarmedPair& pair);

// Newton–Schulz, and conjugate gradients.

std::vector<std::string> orthogonalise_words(Index steps, double growth);
std::vector<std::string> solve_words(const ConvergingSolve& solve);

// The step as matrices, or as a network.

/// "largest singular value 12 × the median", or briefly.
std::string largest_ratio_words(double ratio, bool briefly);
/// The iterate of Newton–Schulz that is shown.
std::string iterate_words(std::size_t index, std::size_t last);
/// The vector above a matrix; the shorter, the later.
std::vector<std::string> margin_words(bool is_difference, bool is_step);
/// The lines of a network and what the step did, the most important in front.
std::vector<std::string> network_words(const LearningMoment& moment, NetworkSide side);

// Keys, and how many pairs a memory holds.

std::string sphere_words(double explained);
/// What is measured: 1 to `most` pairs of so many channels; the data have `given`.
std::string capacity_words(const std::string& rule, Index channels, Index given);

// The floor.

// Which stored tokens have a lane: those somebody chose, those that are queried, or the strongest of so many.
inline constexpr const char* chosen_lanes_words = "the chosen tokens";
inline constexpr const char* queried_lanes_words = "the tokens queried here, and the token itself";
std::string strongest_lanes_words(Index count);

/// What a stored token returns at a column of the floor: shares of its value, as Remembered has them.
struct LaneState {
  double before = 0;
  double now = 0;
  bool is_there = true;  // the memory has it by now
  bool is_own = false;   // it is stored here
};

/// What a lane of Learn is at one token.
struct RecalledAt {
  std::string word;     // that was stored: “drum” (token 43)
  std::string present;  // that changes it
  LaneState state = {};
  bool is_alignment = false;
  Index beside = 0;  // other tokens whose values the recalled one is fitted to together with its own
};

/// How much of a value its key retrieves, or in which direction, and what the present token did to that; in
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

/// What is measured, and what exactly the memory of `variant` is queried with.
std::string recalled_measure(bool is_alignment, const Variant& variant);

/// "β‖k‖² = 0.856: effective step size.\n…": of one token, with its strength below.
std::string step_size_words(const StepReach& strengths, Index token);
/// "β‖k‖² > 2 first at token 6 “key”"; "β‖k‖²" alone without a token.
std::string reach_symbol(const StepReach& strengths);

/// "α = 0.9993: half-life 954 tokens": of all channels together or of `channel` (-1: all).
std::string keeping_words(const Keeping& keeping, Index channel, Index token, const std::string& letter,
                          const std::string& half_life);
std::string growth_words(double root_mean_square);

inline constexpr const char* paint_words = "Drag to paint the bars; Shift+drag paints a ramp.";
inline constexpr const char* no_strength_words =
    "every token of this rule has the same step size: there is no strength to paint";
inline constexpr const char* no_gate_words = "this rule has one fixed decay: its slider is on the right";

}  // namespace palimpsest
