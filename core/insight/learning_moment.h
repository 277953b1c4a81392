#pragma once

#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/insight/learning.h"
#include "core/insight/network_pass.h"

namespace palimpsest {

/// How far a gradient written by hand is from central differences of the loss.
struct GradientCheck {
  Index places = 0;  // weights that were moved, evenly over all
  double error = 0;  // the largest difference, as a part of the largest number of the gradient
};

/// Moves at most `places` weights of step.problem.at. Throws Cancelled.
GradientCheck check_gradient(const LearningStep& step, Index places = 200, std::stop_token stop = {});

/// A gradient that is one key times one error: G = key error^T.
struct OuterGradient {
  Vector<double> key;         // [K]
  Vector<double> error;       // [V]: what is there - what should be there; of a dot loss -v, times its weight
  bool is_difference = true;  // the first of these
};

/// What a picture of one step of inner learning is made of.
struct LearningMoment {
  Index token = 0;
  Index step_count = 0;  // of the token; `step` is the last one
  LearningStep step;
  std::vector<double> rates = {};   // e on the line at - e G, from 0 on
  std::vector<double> losses = {};  // there
  /// The parabola with the value, slope and curvature of e = 0 is back at the loss of e = 0 here, 2 / |k|^2
  /// for one pair; infinite where it never is.
  double parabola_edge = std::numeric_limits<double>::infinity();
  /// The same of the loss itself: another one for a network only.
  double edge = std::numeric_limits<double>::infinity();
  GradientCheck check = {};
  std::optional<OuterGradient> outer = {};
  Weights<double> written = {};  // what the step adds to the share of the weights that it keeps
  /// The number of strength_array() that the rate follows, and what e is multiplied with to be on its axis;
  /// nothing where the step is not in proportion to it.
  struct Strength {
    std::string array;
    double value = 0;
    double per_rate = 1;
    Index channel = 0;  // its column
  };
  std::optional<Strength> strength = {};
  /// The token on its way through a memory that is a network, before the step and after it.
  std::optional<NetworkPass> network = {};
  std::optional<NetworkPass> network_after = {};
  NetworkPaths network_step = {};  // the weights that change most
};

/// The last step that `token` makes, `count` >= 2 points of its loss from 0 to beyond what is taken and what
/// is stable. Nothing where the token makes none. Throws as learning_at() does.
std::optional<LearningMoment> learning_moment(const Variant& variant, const Sequence& sequence, Index token,
                                              Index count = 161, std::stop_token stop = {});

/// Whether the loss of the step is half the square of what one token misses: an error, which ends at 0.
bool is_error_of_token(const LearningMoment& moment);

/// The loss on the line at `rate`, between the points of the moment.
double loss_on_line(const LearningMoment& moment, double rate);

}  // namespace palimpsest
