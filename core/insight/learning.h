#pragma once

#include "core/engines/mesanet.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

class RowRule;

/// The norm |W|, computed without overflow.
double norm(const Weights<double>& W);

/// What a gradient step does to errors, where its gradient is taken where it starts.
struct Stability {
  double sharpness = 0;   // the curvature of the loss in its sharpest direction: |k|^2 of one pair
  bool exact = true;      // false: of a network, along the gradient at these weights
  double reach = 0;       // rate x sharpness, beta |k|^2: at 1 the step hits its target, above it overshoots
  double eigenvalue = 1;  // of that direction without momentum, kept - reach: 1 - beta |k|^2
  double growth = 1;      // the largest modulus over all directions, momentum included; stable up to 1
  double largest_rate = 0;  // the largest learning rate with that direction stable; may be infinite
};

struct LearningStep {
  InnerProblem problem;
  double loss_before = 0;  // at the weights that the step starts from
  double loss_after = 0;
  Weights<double> gradient = {};  // at problem.at
  double gradient_norm = 0;
  InnerProblem::After after = {};
  double momentum_norm = 0;  // |M| after the step; 0 for a rule without momentum
  Jet along = {};            // L(at - e G) as a function of e: its slope is -|G|^2
  double taken = 0;          // the e of the point on that line that is nearest to the step
  double off_axis = 0;       // the share of the step across the gradient: 0 for a plain step
  std::optional<Stability> stability = {};
  std::vector<Matrix<double>> iterates = {};  // of Newton-Schulz, the first one normalised; wide
  Matrix<double> singular_values = {};        // one column for each of them
};

/// The numbers of one step. A loss or weights that are not finite are handed on as they are.
LearningStep learn(InnerProblem problem);

/// The steps that `token` of one head makes, in f64 and at the engine's own states: several for a rule with
/// several per token; of an inner batch the step of the batch so far (TTT) or of all of it (LaCT). Throws
/// Unsupported where a rule has no inner loss, InputError for a token that does not exist, Cancelled.
std::vector<LearningStep> learning_at(const Variant& variant, const Sequence& sequence, Index token,
                                      std::stop_token stop = {});

/// The stability of the last step of `token`. Nothing where it depends on the memory too (networks, Muon) or
/// the token has no loss. Throws InputError for a token that does not exist.
std::optional<Stability> stability_at(const Variant& variant, const Sequence& sequence, Index token);

/// L(at - e G) for every e of `rates`, G the gradient at problem.at.
std::vector<double> losses_along(const LearningStep& step, std::span<const double> rates);

/// Calls `visit` with every token and the engine's states after it, until it returns false. Both hold during
/// the call only.
using VisitContexts = std::function<bool(const InnerContext& context, const NamedStates& after)>;
void visit_contexts(const Variant& variant, const Sequence& sequence, const VisitContexts& visit,
                    std::stop_token stop = {});

/// The inner problems of a token; none where it has no loss.
std::vector<InnerProblem> problems_of(const Variant& variant, const InnerContext& context);

/// What the timeline shows of one token's last step.
struct LearningPoint {
  double loss_before = 0;
  double loss_after = 0;
  double gradient_norm = 0;
  double momentum_norm = 0;
  double rate = 0;
  double sharpness = 0;  // along the gradient: |k|^2 of one pair; 0 where the gradient is 0
};

/// One for every token; nothing where a token has no loss. Throws as learning_at does.
std::vector<std::optional<LearningPoint>> learning_curve(const Variant& variant, const Sequence& sequence,
                                                         std::stop_token stop = {});

/// How far a gradient written by hand is from central differences of the loss.
struct GradientCheck {
  Index places = 0;  // weights that were moved, evenly over all
  double error = 0;  // the largest difference, as a part of the largest number of the gradient
};

/// Moves at most 200 weights of step.problem.at. Throws Cancelled.
GradientCheck check_gradient(const LearningStep& step, std::stop_token stop = {});

/// A gradient that is one key times one error: G = key error^T.
struct OuterGradient {
  Vector<double> key;         // [K]
  Vector<double> error;       // [V]: prediction - target, times its weight; of a dot loss -v, likewise
  bool is_difference = true;  // the first of these
};

/// A connection from one unit of a layer to a unit of the next.
struct StrongLink {
  Index from = 0;
  Index to = 0;
  double amount = 0;  // the unit times the weight, or what is taught
};

/// The strongest `count` connections by amounts [M, N], the weakest of them first; only finite ones that are
/// not 0.
std::vector<StrongLink> strong_links(const Matrix<double>& amounts, std::size_t count);

/// The strongest paths of both layers, the weakest of them first.
struct NetworkPaths {
  std::vector<StrongLink> in = {};   // from key to hidden
  std::vector<StrongLink> out = {};  // from hidden to output
};

/// One token's forward pass through a memory that is a network with one hidden layer, h = gelu(W1^T k + b1),
/// y = W2^T h + b2, f(k) = y or k + LN(y), and the backward pass of 1/2 |f(k) - v|^2.
struct NetworkPass {
  Vector<double> key;                     // [K]
  Vector<double> hidden;                  // [H]
  Vector<double> output;                  // [V]: y
  Vector<double> answer;                  // [V]: f(k)
  Vector<double> value;                   // [V]: the target v
  Vector<double> error;                   // [V]: answer - value
  Vector<double> output_gradient;         // [V]: at y; differs from the error if there is a layer norm
  Vector<double> hidden_gradient;         // [H]: at W1^T k + b1
  Weights<double> weight_gradients = {};  // W1, b1, W2, b2
  NetworkPaths sent = {};                 // unit times weight
  NetworkPaths taught = {};               // the gradient of each weight

  bool is_normalised() const { return output != answer; }
};

/// For the pair of `token`, `W` in the order W1, b1, W2, b2. Throws InputError where the weights are no such
/// network.
NetworkPass network_pass(const Variant& variant, const Sequence& sequence, Index token,
                         const Weights<double>& W);

/// The data for a picture of one step of inner learning.
struct LearningMoment {
  Index token = 0;
  Index step_count = 0;  // of the token; `step` is the last one
  LearningStep step;
  std::vector<double> rates = {};   // e on the line at - e G, from 0 on
  std::vector<double> losses = {};  // there
  /// The e at which the parabola with the value, slope and curvature at e = 0 returns to its value at e = 0:
  /// 2 / |k|^2 for one pair; infinite where it never does.
  double parabola_edge = std::numeric_limits<double>::infinity();
  /// The same for the loss itself: different only for a network.
  double edge = std::numeric_limits<double>::infinity();
  GradientCheck check = {};
  std::optional<OuterGradient> outer = {};
  Weights<double> written = {};  // what the step adds to the share of the weights that it keeps
  /// The number of strength_array() that the rate follows, and what e is multiplied with to be on its axis.
  struct Strength {
    std::string array;
    std::string symbol;  // its LaTeX
    double value = 0;
    double per_rate = 1;
    Index channel = 0;  // its column
  };
  std::optional<Strength> strength = {};
  /// The token's passes through a memory that is a network, before the step and after it.
  std::optional<NetworkPass> network = {};
  std::optional<NetworkPass> network_after = {};
  NetworkPaths network_step = {};  // the weights that change most
};

/// The last step of `token`, with `count` >= 2 points of its loss from 0 to beyond the step and the stability
/// limit. Nothing where it makes none. Throws as learning_at() does.
std::optional<LearningMoment> learning_moment(const Variant& variant, const Sequence& sequence, Index token,
                                              Index count = 161, std::stop_token stop = {});

/// Whether the loss of the step is half the squared error of one token, with minimum 0.
bool is_error_of_token(const LearningMoment& moment);

/// The loss on the line at `rate`, between the points of the moment.
double loss_on_line(const LearningMoment& moment, double rate);

/// What a step writes as an outer product of one direction and an error: key error^T.
struct WrittenOuter {
  Vector<double> key;      // [K], with the strength of the step
  Vector<double> error;    // [V]: target - prediction, times its weight; of a dot loss v, likewise
  bool along_key = false;  // `key` has the direction of the gradient's key: not if a preconditioner turns it
};

/// Nothing where the gradient is no outer product, or the step is another one.
std::optional<WrittenOuter> written_outer(const LearningMoment& moment);

/// Whether every query is solved for with the Gram matrix of the keys, as in MesaNet.
bool solves_for_queries(const Variant& variant);

/// The iterations that solve for the query of a token, among those of its chunk, in the chunkwise engine.
struct ConvergingSolve {
  Index token = 0;
  Index first_token = 0;  // of the chunk, whose systems are solved side by side
  Index token_count = 1;
  SolveCourse course = {};
  Vector<double> exact = {};             // [K]: by Cholesky, as the other forms solve it
  std::vector<double> differences = {};  // |x - exact| / |exact| where the course has x: [1 + steps]

  Index steps() const { return static_cast<Index>(course.rests.size()) - 1; }
};

/// In f64; nothing for a variant that solves no systems with the Gram matrix of its keys. Throws InputError
/// for a token that does not exist, Cancelled.
std::optional<ConvergingSolve> converging_solve(const Variant& variant, const Sequence& sequence, Index token,
                                                Index chunk_size, std::stop_token stop = {});

/// The eigenvalues of the preconditioned Hessian of a problem in one matrix S: once for columns that decay
/// alike, and only 0 where there is no curvature. Nothing where the Hessian depends on the weights.
std::optional<std::vector<std::complex<double>>> hessian_eigenvalues(const InnerProblem& problem);

/// By how much every step multiplies errors along an eigenvector of the Hessian: the larger root z of z^2 -
/// (kept - x + momentum) z + kept momentum = 0, x = rate eigenvalue (heavy ball).
double growth(const InnerProblem& problem, std::complex<double> eigenvalue);

/// The largest rate that keeps the growth along an eigenvector within 1: (1 + kept)(1 + momentum) /
/// eigenvalue for a real one; infinite without curvature, 0 where the loss has no minimum along it.
double largest_stable_rate(const InnerProblem& problem, std::complex<double> eigenvalue);

/// How strongly every token writes into a memory.
struct WriteStrengths {
  std::string rate = {};    // the strength is rate |k|^2, and this its name: of "beta", 1 is a write that
                            // puts v in the place of the old prediction; empty: |k| |v|, the norm of what
                            // a rule without a rate adds
  std::string symbol = {};  // and its LaTeX
  Vector<double> of_token = {};  // [T]; of several steps of a token the last
};

/// The strengths of one head, from its inputs alone. Throws Unsupported where no memory can be queried,
/// Cancelled.
WriteStrengths write_strengths(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

/// The effective step size of every token: its learning rate times the curvature of its loss, beta |k|^2 of
/// one pair.
struct StepReach {
  Vector<double> reach = {};    // [T]; of the last step where a token takes several
  Vector<double> squares = {};  // [T]: the factor of the rate, the number of `array`
  std::string array = {};       // the input that sets it ("beta", "theta", "eta"); empty: nothing does
  std::string symbol = {};    // LaTeX of the rate: of that input, or of what the rule makes of it, "\\delta"
  bool is_network = false;    // the curvature is that along the gradient, and no |k|^2
  bool has_edge = false;      // whether the step of one token erases: it hits its target at 1 and increases
                              // the error above 2
  bool has_momentum = false;  // then the stability limit is another one
};

/// Throws Unsupported where tokens share no memory, Cancelled.
StepReach step_reach(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

/// The input with one row per token that sets how far a token steps; nothing where a rule has none.
std::optional<std::string> strength_array(const Variant& variant);

/// LaTeX of the rate of this name, an input or what a row program makes of one, without its token: "\\beta".
std::string input_symbol(const Variant& variant, const Settings& settings, const std::string& name);

/// The first tokens whose effective step size is above 1 and above 2 (StepReach::reach).
struct ReachEdges {
  std::optional<Index> overshoots = {};  // above 1: the step overshoots its target
  std::optional<Index> diverges = {};    // above 2: the step increases the error
};

/// Unit keys have norm 1 up to the rounding of f32: what is within 1e-6 of an edge is not beyond it.
inline ReachEdges reach_edges(const Vector<double>& reach) {
  constexpr double rounding = 1e-6;
  const auto first_beyond = [&](double edge) -> std::optional<Index> {
    for (Index t = 0; t < reach.size(); ++t) {
      if (!(reach[t] <= edge + rounding)) return t;
    }
    return std::nullopt;
  };
  return {first_beyond(1), first_beyond(2)};
}

/// The token that multiplies some part of the memory most, by its transition without what it writes.
struct LargestGrowth {
  Index token = 0;
  double factor = 0;  // the largest modulus of an eigenvalue
  Index tried = 0;    // tokens, evenly over all of them
};

/// Of a row program, at as many tokens as some 10^9 operations allow. Nothing without tokens. Throws
/// Unsupported where an erase reads an earlier row, Cancelled.
std::optional<LargestGrowth> largest_growth(const RowRule& rule, const Sequence& sequence,
                                            std::stop_token stop = {});

struct Divergence {
  Index token = 0;         // the first whose step leaves such a state
  double norm = 0;         // of the weights after it; may be infinite or NaN
  double reachable = 0;    // what stable steps could have added up to
  Index cause_token = 0;   // the first token with a step that is not stable; `token` where every one is
  double eigenvalue = 0;   // of that step; its modulus where it is complex
  std::string words = {};  // why it diverged
};

/// The first token at which the weights diverge: their norm is not finite or exceeds ten times what steps
/// with eigenvalues in [-1, 1] can reach, the norm at the start plus the norms of all writes since as into an
/// empty memory. Throws Unsupported where the rule keeps no weights, Cancelled.
std::optional<Divergence> divergence(const Variant& variant, const Sequence& sequence,
                                     std::stop_token stop = {},
                                     const std::function<void(double)>& progress = {});

}  // namespace palimpsest
