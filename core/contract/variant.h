#pragma once

#include "core/base/array.h"
#include "core/base/table.h"
#include "core/formula/expression.h"

namespace palimpsest {

class Rule;
class Sequence;
struct Output;

/// Options and parameters by name, as `--param NAME=VALUE` gives them and resolve() completes them.
struct Settings {
  std::map<std::string, std::string, std::less<>> options = {};
  std::map<std::string, double, std::less<>> parameters = {};

  /// The option `name` of resolved settings; throws InputError where it is missing.
  const std::string& option(std::string_view name) const;

  auto operator<=>(const Settings&) const = default;
};

/// Which numbers an array or a parameter may hold.
enum class Range {
  finite,
  decay,                // [0, 1]; or, under the name g, its natural logarithm in [-inf, 0]
  unit,                 // [0, 1]
  positive_unit,        // (0, 1]
  up_to_two,            // [0, 2]
  non_negative,         // >= 0
  non_positive,         // <= 0
  strength,             // any finite number; [0, 2] is the stable band for unit keys
  finite_or_minus_inf,  // a log-sum
  log_decay,            // [-inf, 0]: the natural logarithm of a decay
  positive_definite,    // a symmetric matrix with positive eigenvalues; a vector stands for its diagonal
  gram,                 // a symmetric matrix without negative eigenvalues
};

/// "[0, 1]": a range in words.
std::string describe(Range range);

/// All numbers from `least` to `most`.
struct Bounds {
  double least = 0;
  double most = 0;

  /// NaN never lies within.
  bool contain(double value) const { return value >= least && value <= most; }
};

/// The numbers of a range.
Bounds bounds(Range range);

/// When an array or a state belongs to a rule: if one of `options` has this value. Without options: always.
struct Condition {
  std::vector<std::string> options = {};
  std::string value = {};

  bool holds(const Settings& settings) const;
};

/// "layer_norm=true": a condition in words; empty for always.
std::string describe(const Condition& condition);

/// What replaces an array that the data lack, so that the rule can still be shown.
struct StandIn {
  double value = 0;            // this number everywhere, or this multiple of `like`
  std::string like = {};       // another array, such as k
  bool random = false;         // normal numbers of this size instead
  bool learning_rate = false;  // divided by the largest |k|^2 where that is above 1

  bool operator==(const StandIn&) const = default;
};

/// An array that a variant takes besides q, k and v. Axes of one head: "n" tokens, "dk", "dv", "d" = dk = dv,
/// "m" features, "p" earlier tokens, "h" hidden units or steps per token, "batch" (the parameter),
/// "n_batches".
struct Input {
  std::string name;
  std::vector<std::string> shape;
  Range range = Range::finite;
  std::string meaning;
  std::optional<std::string> absent = {};  // what its absence means ("0", "empty"); none: required
  Condition when = {};
  StandIn stand_in = {};             // for a required array
  std::optional<double> keeps = {};  // the value without decay, if the array makes the state decay
};

/// Whether the array has one row per token.
bool has_tokens(const Input& input);

/// What a rule hands on after the last token.
struct State {
  std::string name;
  Condition when = {};
};

/// A number given with --param.
struct Parameter {
  std::string name;
  double minimum;
  double maximum;
  std::string meaning;
  std::optional<double> standard = {};  // its default; none: required
  bool per_head = false;                // may also be an array [H] of the input file
  std::string standard_words = {};      // where the default depends on options: the rule in words
  bool whole = false;                   // a whole number
  double stand_in = 1;                  // taken where data lack a required parameter
  std::optional<double> keeps = {};     // the value without decay
};

/// A choice given with --param.
struct Option {
  std::string name;
  std::vector<std::string> values;  // default first
  std::string meaning;
  std::string follows = {};  // the option whose value is the default of this one
};

struct InnerContext;
struct InnerProblem;

/// The learning problem that one update of the state is a step on.
struct InnerLoss {
  std::string words;
  std::string latex = {};  // empty where there is none; words then say why
  std::string step = {};   // LaTeX of the step taken on it
  /// Changes words and LaTeX to those for other settings than the defaults.
  std::function<void(const Settings&, InnerLoss&)> adapt = {};
  /// The steps that a token makes, as computations (core/rules/inner_problem.h). Throws Unsupported where the
  /// numbers of the token leave no loss. Absent: there is none, and words say why.
  std::function<std::vector<InnerProblem>(const InnerContext&)> problems = {};
};

/// What tokens store in a memory: row i of `values` [N, V] is what it should return for row i of `keys` [N,
/// K]. N is a multiple of the tokens.
struct StoredPairs {
  Matrix<double> keys;
  Matrix<double> values;
};

/// How a memory is queried for what it stores, where that is not S^T k for the keys and values that the rule
/// writes. By default these are the k and v of a row program (Program::k, core/rules/stored_pairs.h); a rule
/// with anything else there gives the stored pairs with `pairs`.
struct MemoryAccess {
  std::function<StoredPairs(const Sequence&, Index first, Index count)> pairs = {};
  /// [N, V] for keys [N, K], from the states after some tokens.
  std::function<Matrix<double>(const Sequence&, const NamedStates&, const Matrix<double>& keys)> answers = {};
  std::string none = {};  // why the rule has no memory shared by all pairs
};

/// One rule of the family: its names, ranges, words and how it computes. Data, but for `rule`.
struct Variant {
  std::string id;
  std::string label;
  std::string words;  // one sentence: what this rule adds
  std::string paper;
  /// The update of S by one token as in the paper, for readers and for the tests, which evaluate it:
  /// "(I - beta k k') S + beta k v'". S is the state before, x' a transpose, o the product by channels; names
  /// are inputs, parameters, Diag, exp, or defined after a comma: ", R = S if read=undecayed". Empty where
  /// one such formula is not enough.
  std::string recurrence = {};
  std::string text = {};  // the rule as core/written reads it; empty: it is no such text
  std::vector<Option> options = {};
  std::vector<std::string> makes = {};  // of q, k and v: those that the rule makes itself, no inputs
  std::vector<Input> inputs = {};
  std::vector<Parameter> parameters = {};  // besides scale
  std::vector<State> states = {{"S"}};
  InnerLoss loss;
  MemoryAccess memory = {};
  std::vector<Function> functions = {};  // that only its own steps call
  std::shared_ptr<const Rule> rule = {};
  /// The rule as its text says it, token by token: what every form is compared with. Absent: the recurrent
  /// form.
  std::function<Output(const Sequence&)> carried_out = {};
  /// Fills in parameters whose default depends on the options.
  std::function<void(Settings&)> complete = {};
  /// Whether options, resolved, go together whatever the sizes of the data. Absent: all do.
  std::function<bool(const Settings&)> go_together = {};
  /// Adds arrays that follow from the others and run through the whole sequence, such as running sums.
  std::function<void(Sequence&)> derive = {};
  /// Adds to the arrays `more` that continue `finished` what that run derived from its initial states, so
  /// that it is not derived from its final ones.
  std::function<void(const Sequence& finished, Arrays& more)> hand_over = {};
};

/// All inputs of one variant including q, k and v, in the order q, k, v, then the variant's own. A variant
/// may give q, k or v a shape of its own.
std::vector<Input> all_inputs(const Variant& variant);

/// Those of them that belong to these settings.
std::vector<Input> inputs_of(const Variant& variant, const Settings& settings);

/// The names of the states that belong to these settings.
std::vector<std::string> states_of(const Variant& variant, const Settings& settings);

/// The learning problem with these settings.
InnerLoss loss_of(const Variant& variant, const Settings& settings);

/// Whether `variant` hands on a state of this name, whatever the settings.
inline bool hands_on(const Variant& variant, std::string_view state) {
  return row_called(variant.states, state, &State::name) != nullptr;
}

/// All parameters of one variant including scale.
std::vector<Parameter> all_parameters(const Variant& variant);

/// Every name under which a file may hold something that `variant` takes: its inputs, g for a decay, and its
/// parameters.
std::vector<std::string> array_names(const Variant& variant);

/// Fills in the defaults and checks names and ranges; throws InputError naming the option or parameter and
/// what is accepted. A required parameter that is missing is left out here: an input file may still hold it
/// (see bind()).
Settings resolve(const Variant& variant, const Settings& given);

/// Where files hold a state of a variant.
struct StateArray {
  std::string state;               // "S"
  std::string initial;             // its name as an input
  std::string final;               // its name as an output
  std::vector<std::string> shape;  // axes as in Input::shape
};

/// The states of a variant for one value of the option that decides on them.
struct StateSet {
  std::string when;  // "layer_norm=true"; empty if no option decides
  std::vector<StateArray> states = {};
};

/// Every set of states that a variant may hand on.
std::vector<StateSet> state_sets(const Variant& variant);

/// The name of the initial state in a file: initial_state where there is one state with these settings, else
/// initial_NAME; NAME alone where the rule starts from given weights.
std::string initial_name(const Variant& variant, const Settings& settings, std::string_view state);

/// The name of the final state in a file: final_state if it is the only one of `count`, else final_NAME.
std::string final_name(std::size_t count, std::string_view state);

/// Inputs that several variants share.
Input decay_input(std::vector<std::string> shape, std::optional<std::string> absent = {});  // alpha or g
Input beta_input();
Input mu_input();
Input initial_state_input();

/// The same input with a stand-in where the data lack it.
Input demonstrated(Input input, StandIn stand_in);

/// The same input, which makes the state decay unless it is `keeps`.
Input forgetting(Input input, double keeps);

}  // namespace palimpsest
