#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix.h"

namespace palimpsest {

class Rule;

/// Options and parameters by name, as `--param NAME=VALUE` gives them and resolve() completes them.
struct Settings {
  std::map<std::string, std::string, std::less<>> options = {};
  std::map<std::string, double, std::less<>> parameters = {};
};

/// Which numbers an array or a parameter may hold.
enum class Range {
  finite,
  decay,                // [0, 1]; or, under the name g, its natural logarithm in [-inf, 0]
  unit,                 // [0, 1]
  non_negative,         // >= 0
  strength,             // any finite number; [0, 2] is the stable band for unit keys
  finite_or_minus_inf,  // a log-sum
};

/// "[0, 1]": a range in words.
std::string describe(Range range);

/// Whether `value` lies in `range`. NaN never does.
bool contains(Range range, double value);

/// An array that a variant takes besides q, k and v.
struct Input {
  std::string name;
  std::vector<std::string>
      shape;  // of one head: "n" tokens, "dk", "dv", "m" features, "p" earlier tokens, ...
  Range range = Range::finite;
  std::string meaning;
  std::optional<std::string> absent = {};  // what its absence means ("0", "empty"); none: required
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
};

/// A choice given with --param.
struct Option {
  std::string name;
  std::vector<std::string> values;  // default first
  std::string meaning;
  std::string follows = {};  // the option whose value is the default of this one
};

/// The learning problem that one update of the state is a step on.
struct InnerLoss {
  std::string words;
  std::string latex;  // empty where there is none; words then say why
  std::string step;   // LaTeX of the step taken on it
};

/// One rule of the family: its names, ranges, words and how it computes. Data, but for `rule`.
struct Variant {
  std::string id;
  std::string label;
  std::string words;  // one sentence: what this rule adds
  std::string paper;
  std::vector<Option> options = {};
  std::vector<Input> inputs = {};
  std::vector<Parameter> parameters = {};  // besides scale
  std::vector<std::string> states = {"S"};
  InnerLoss loss;
  std::shared_ptr<const Rule> rule;
  /// Fills in parameters whose default depends on the options.
  std::function<void(Settings&)> complete = {};
};

/// Every variant, in the order in which they are best met. The only list there is (core/variants.h).
std::span<const Variant> variants();

/// The variant with this id among `table`; throws InputError listing the known ids.
const Variant& find_variant(std::string_view id, std::span<const Variant> table = variants());

/// All inputs of one variant including q, k and v, in the order q, k, v, then the variant's own.
std::vector<Input> all_inputs(const Variant& variant);

/// All parameters of one variant including scale.
std::vector<Parameter> all_parameters(const Variant& variant);

/// Every name under which a file may hold something that `variant` takes: its inputs, g for a decay, and its
/// parameters.
std::vector<std::string> array_names(const Variant& variant);

/// Fills in the defaults and checks names and ranges; throws InputError naming the option or parameter and
/// what is accepted. A required parameter that is missing is left out here: an input file may still hold it
/// (see bind()).
Settings resolve(const Variant& variant, const Settings& given);

/// The name of the initial state in a file: initial_state where the variant has one state, else initial_NAME.
std::string initial_name(const Variant& variant, std::string_view state);

/// The name of the final state in a file: final_state where the variant has one state, else final_NAME.
std::string final_name(const Variant& variant, std::string_view state);

/// Inputs that several variants share.
Input decay_input(std::vector<std::string> shape);  // alpha or g
Input beta_input();
Input initial_state_input();

}  // namespace palimpsest
