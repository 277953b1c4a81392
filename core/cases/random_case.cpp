#include "core/cases/random_case.h"

#include <set>

#include "core/base/parallel_for.h"
#include "core/base/random_numbers.h"
#include "core/base/refuse.h"
#include "core/base/text.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

namespace {

constexpr Index other_size = 3;  // of an axis that nothing else fixes

bool has_axis(const Input& input, const char* axis) { return is_among(axis, input.shape); }

/// Whether it holds weights of hidden units.
bool is_weights(const Input& input) { return has_axis(input, "h") && !has_axis(input, "n"); }

class Numbers : public RandomNumbers {
 public:
  using RandomNumbers::RandomNumbers;

  /// 1 - decay: mostly small, and now and then exactly 0 or exactly 1.
  double forgotten() {
    constexpr double rare = 1.0 / 64;
    const double choice = uniform();
    if (choice < rare) return 0;
    if (choice > 1 - rare) return 1;
    const double x = uniform();
    return x * x * x;
  }

  double within(Range range) {
    using enum Range;
    if (is_among(range, {finite, finite_or_minus_inf, positive_definite, gram})) return normal();
    if (range == decay) return 1 - forgotten();
    if (range == log_decay) return std::log1p(-forgotten());
    if (range == positive_unit) return 1 - 0.1 * uniform();
    return range == non_positive ? -uniform() : uniform();
  }
};

std::vector<Index> shape_of(const Input& input, const Settings& settings, const RandomCase& random) {
  const Index batch = inner_batch(settings);
  const std::map<std::string, Index> sizes = {{"n", random.tokens},
                                              {"dk", random.dk},
                                              {"d", random.dk},
                                              {"dv", random.dv},
                                              {"p", random.earlier},
                                              {"batch", batch},
                                              {"n_batches", (random.tokens + batch - 1) / batch}};
  std::vector<Index> shape;
  for (const std::string& axis : input.shape) {
    const Index* const known = value_at(sizes, axis);
    const Index other = axis == "h" && is_weights(input) ? random.hidden : other_size;
    shape.push_back(known ? *known : other);
  }
  return shape;
}

/// 1 + A A^T / 4: symmetric, with eigenvalues from 1.
void make_positive_definite(Array& array) {
  const Index size = array.shape.front();
  Eigen::Map<Matrix<double>> values(std::get<0>(array.own_values()).data(), size, size);
  const Matrix<double> A = values / 2;
  values = Matrix<double>::Identity(size, size) + A * A.transpose() / static_cast<double>(size);
}

/// Learning rates of an inner batch add up: their sum over its tokens stays below 1. Initial weights that a
/// rule requires are small, as in a freshly initialised network.
double size_of_numbers(const Input& input, const Settings& settings) {
  if (input.range == Range::non_negative && has_axis(input, "n"))
    return 1 / static_cast<double>(inner_batch(settings));
  return is_weights(input) ? 0.5 : 1;
}

Array random_array(const Input& input, const Settings& settings, const RandomCase& random) {
  Numbers numbers(random.seed, input.name);
  Array array;
  array.shape = shape_of(input, settings, random);
  array.own_values() = std::vector<double>(static_cast<std::size_t>(array.size()));
  if (random.keeps && input.keeps) {
    const bool is_log = input.range == Range::decay && random.log_gates;
    std::ranges::fill(std::get<0>(array.own_values()), is_log ? std::log(*input.keeps) : *input.keeps);
    return array;
  }
  const double factor = size_of_numbers(input, settings);
  for (double& value : std::get<0>(array.own_values())) {
    value = input.range == Range::decay && random.log_gates ? std::log1p(-numbers.forgotten())
                                                            : factor * numbers.within(input.range);
  }
  if (input.range == Range::positive_definite || input.range == Range::gram) make_positive_definite(array);
  return array;
}

/// `array` times `factor`, each element varied at random by up to half: for an array that only makes sense
/// beside another, such as the key that erases what another key has read.
Array random_multiple(const Array& array, double factor, std::uint64_t seed, std::string_view name) {
  Numbers numbers(seed, name);
  Array multiple = array;
  for (double& value : std::get<0>(multiple.own_values())) value *= factor * (0.5 + numbers.uniform());
  return multiple;
}

/// Divides every vector of the last axis by its norm.
void normalise(Array& array) {
  auto& values = std::get<0>(array.own_values());
  const auto width = static_cast<std::size_t>(array.shape.back());
  for (std::size_t first = 0; first < values.size(); first += width) {
    double squares = 0;
    for (std::size_t i = first; i < first + width; ++i) squares += values[i] * values[i];
    for (std::size_t i = first; i < first + width; ++i) values[i] /= std::sqrt(squares);
  }
}

/// The final states of an earlier random text as initial states: any rule can reach these. A text whose
/// memory overflows there starts as if none were given.
void add_initial_states(const Variant& variant, const Settings& settings, const RandomCase& random,
                        Arrays& arrays) {
  RandomCase before = random;
  before.tokens = random.earlier;
  before.initial_state = false;
  before.seed = random.seed + 0x9e3779b97f4a7c15;
  const auto text = std::make_shared<const Arrays>(random_arrays(variant, settings, before));
  const SequenceBatch bound = palimpsest::bind(variant, text, settings);
  const bool streams = !variant.rule->missing(Form::recurrent, settings);
  const Output output =
      variant.rule->run(bound.heads.front(), streams ? Form::recurrent : Form::chunkwise, Precision::f64, 1);
  const auto fits_f32 = [](const auto& state) {
    return (state.second.array().abs() <= std::numeric_limits<float>::max()).all();
  };
  if (variant.carried_out && !std::ranges::all_of(output.states, fits_f32)) return;
  for (auto& [name, array] : initial_states(variant, settings, output)) arrays[name] = array;
}

template <class Scalar>
Array repeated(const Array& head, bool has_tokens, Index batches, Index heads) {
  const Index tokens = has_tokens ? head.shape.front() : 1;
  const Index width = tokens > 0 ? head.size() / tokens : 0;
  std::vector<Index> shape = {batches};
  if (has_tokens) shape.push_back(tokens);
  shape.push_back(heads);
  shape.insert(shape.end(), head.shape.begin() + (has_tokens ? 1 : 0), head.shape.end());
  const auto given = std::visit(
      [](const auto& numbers) { return std::vector<Scalar>(numbers.begin(), numbers.end()); }, head.values());
  std::vector<Scalar> values;
  values.reserve(static_cast<std::size_t>(batches * heads * head.size()));
  for (Index batch = 0; batch < batches; ++batch) {
    for (auto row = given.begin(); row != given.end(); row += width) {
      for (Index copy = 0; copy < heads; ++copy) values.insert(values.end(), row, row + width);
    }
  }
  return {std::move(shape), std::move(values)};
}

}  // namespace

std::string to_string(const RandomCase& random) {
  return fmt::format("random:T={},K={},V={},p={},seed={}{}{}{}", random.tokens, random.dk, random.dv,
                     random.earlier, random.seed, random.initial_state ? ",state" : "",
                     random.log_gates ? ",g" : "", random.keeps ? ",keeps" : "");
}

RandomCase parse_random_case(std::string_view text) {
  const auto misunderstood = [&](std::string_view part) {
    return InputError(fmt::format("\"{}\": \"{}\" is not understood; expected for example {}", text, part,
                                  to_string(RandomCase{})));
  };
  constexpr std::string_view prefix = "random:";
  if (!text.starts_with(prefix)) throw misunderstood(text);
  RandomCase random;
  std::vector<std::string_view> given;
  const auto read = [&](std::string_view part, auto& number, std::uint64_t least, std::uint64_t most) {
    const std::size_t equals = part.find('=');
    const std::string_view digits = part.substr(equals + 1);
    const auto value = parse_all<std::uint64_t>(digits);
    if (!value || *value < least || *value > most) {
      refuse("\"{}\": {} is \"{}\"; expected a whole number from {} to {}", text, part.substr(0, equals),
             digits, least, most);
    }
    number = static_cast<std::remove_reference_t<decltype(number)>>(*value);
  };
  constexpr std::uint64_t largest = std::uint64_t{1} << 20;
  for (std::string_view rest = text.substr(prefix.size()); !rest.empty();) {
    const std::string_view part = take_until(rest, ',');
    const std::string_view name = part.substr(0, part.find('='));
    if (is_among(name, given)) refuse("\"{}\": {} is given twice", text, name);
    given.push_back(name);
    if (part.starts_with("T="))
      read(part, random.tokens, 0, largest);
    else if (part.starts_with("K="))
      read(part, random.dk, 1, largest);
    else if (part.starts_with("V="))
      read(part, random.dv, 1, largest);
    else if (part.starts_with("p="))
      read(part, random.earlier, 0, largest);
    else if (part.starts_with("seed="))
      read(part, random.seed, 0, std::numeric_limits<std::uint64_t>::max());
    else if (part == "state")
      random.initial_state = true;
    else if (part == "g")
      random.log_gates = true;
    else if (part == "keeps")
      random.keeps = true;
    else
      throw misunderstood(part);
  }
  constexpr Index most_numbers = Index{1} << 27;  // of one array
  const Index widest = std::max({random.tokens, random.earlier, random.dk}) * std::max(random.dk, random.dv);
  if (widest > most_numbers)
    refuse("\"{}\": an array of {} numbers; expected at most {}", text, widest, most_numbers);
  return random;
}

RandomCase fitted(const Variant& variant, const Settings& settings, RandomCase random) {
  const auto is_square = [](const Input& input) { return has_axis(input, "d"); };
  if (std::ranges::any_of(inputs_of(variant, settings), is_square))
    random.dk = random.dv = std::max({random.dk, random.dv, Index{6}});
  return random;
}

Arrays random_arrays(const Variant& variant, const Settings& settings, const RandomCase& wanted) {
  const std::vector<Input> inputs = inputs_of(variant, settings);
  const RandomCase random = fitted(variant, settings, wanted);
  Arrays arrays;
  for (const Input& input : inputs) {
    if (input.absent && !random.initial_state) continue;
    const bool is_log = input.range == Range::decay && random.log_gates;
    arrays[is_log ? "g" : input.name] = random_array(input, settings, random);
  }
  if (arrays.contains("k")) normalise(arrays.at("k"));
  for (const Input& input : inputs) {
    const auto like = arrays.find(input.stand_in.like);
    if (like == arrays.end() || !arrays.contains(input.name)) continue;
    arrays[input.name] = random_multiple(like->second, input.stand_in.value, random.seed, input.name);
  }
  for (double& q : std::get<0>(arrays.at("q").own_values())) q /= std::sqrt(static_cast<double>(random.dk));
  if (random.initial_state) add_initial_states(variant, settings, random, arrays);
  return arrays;
}

Arrays initial_states(const Variant& variant, const Settings& settings, const Output& output) {
  Arrays arrays;
  for (const Input& input : inputs_of(variant, settings)) {
    for (const auto& [state, value] : output.states) {
      if (input.name != initial_name(variant, settings, state)) continue;
      arrays[input.name] =
          array_of(value, input.shape.size() == 1 ? std::vector<Index>{value.size()}
                                                  : std::vector<Index>{value.rows(), value.cols()});
    }
  }
  return arrays;
}

void keep_everything(const Variant& variant, Settings& settings) {
  for (const Parameter& parameter : all_parameters(variant)) {
    if (parameter.keeps) settings.parameters[parameter.name] = *parameter.keeps;
  }
}

Settings random_settings(const Variant& variant, const Settings& given, std::uint64_t seed) {
  Settings settings = resolve(variant, given);
  for (const Parameter& parameter : all_parameters(variant)) {
    if (settings.parameters.contains(parameter.name)) continue;
    Numbers numbers(seed, parameter.name);
    const double width = std::min(parameter.maximum - parameter.minimum, 4.0);
    const double value = parameter.minimum + width * (1 - numbers.forgotten());
    settings.parameters[parameter.name] = parameter.whole ? std::floor(value) : value;
  }
  return settings;
}

Arrays repeated_heads(const Variant& variant, const Settings& settings, const Arrays& head, Index batches,
                      Index heads, Precision precision) {
  struct Given {
    std::string name;
    const Array* numbers;
    bool has_tokens;
  };
  std::vector<Given> given;
  for (const Input& input : inputs_of(variant, settings)) {
    for (const auto& name :
         std::set{input.name, std::string(input.range == Range::decay ? "g" : input.name)}) {
      if (const auto found = head.find(name); found != head.end())
        given.push_back({name, &found->second, has_tokens(input)});
    }
  }
  std::vector<Array> made = made_in_parallel(given.size(), {}, [&](std::size_t i) {
    const auto& [name, numbers, has_tokens] = given[i];
    return precision == Precision::f64 ? repeated<double>(*numbers, has_tokens, batches, heads)
                                       : repeated<float>(*numbers, has_tokens, batches, heads);
  });
  Arrays all;
  for (std::size_t i = 0; i < given.size(); ++i) all[given[i].name] = std::move(made[i]);
  return all;
}

}  // namespace palimpsest
