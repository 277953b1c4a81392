#include "core/verify_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "core/disagreement.h"
#include "core/engines/recurrent.h"
#include "core/error.h"
#include "core/row_rule.h"

namespace palimpsest {

namespace {

/// Whether the variant takes these options together: options that follow others may exclude each other.
bool is_possible(const Variant& variant, const Settings& given) {
  try {
    const Settings settings = random_settings(variant, given, 1);
    const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, {.tokens = 0}));
    reference(variant, palimpsest::bind(variant, arrays, settings).heads.front());
    return true;
  } catch (const InputError&) {
    return false;
  }
}

double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

/// Choices by arithmetic alone: the distributions of <random> differ between libraries.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t index) : bits_(seed) { bits_.seed(bits_() ^ index); }

  /// 0 ... count - 1.
  Index below(Index count) { return static_cast<Index>(bits_() % static_cast<std::uint64_t>(count)); }

  /// One of two.
  bool coin() { return below(2) == 0; }

  /// [0, 1).
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

  /// One of `values`, each as likely.
  template <class Values>
  Index among(const Values& values) {
    return values[static_cast<std::size_t>(below(static_cast<Index>(values.size())))];
  }

  std::uint64_t seed() { return bits_() >> 32; }

 private:
  std::mt19937_64 bits_;
};

constexpr Index most_tokens = 300;
constexpr Index most_channels = 24;

Index random_length(Draws& draws) {
  constexpr std::array<Index, 17> awkward = {0,  1,  2,  3,  15,  16,  17,  31, 33,
                                             63, 64, 65, 95, 127, 128, 129, 257};
  return draws.coin() ? draws.among(awkward) : draws.below(most_tokens + 1);
}

Index random_chunk_size(Draws& draws, Index tokens) {
  const std::array<Index, 10> awkward = {1, 2, 7, 15, 16, 17, 32, 64, tokens + 1, std::max<Index>(tokens, 1)};
  return draws.coin() ? draws.among(awkward) : 1 + draws.below(tokens + 5);
}

/// A value that a person may give: within the range, and not so large that everything else is lost beside it.
double random_value(const Parameter& parameter, double usual, Draws& draws) {
  constexpr double endless = -1e300;
  if (parameter.minimum < endless) {  // a factor
    return (draws.coin() ? usual : -usual) * std::exp2(4 * draws.uniform() - 3);
  }
  const double width = parameter.maximum - parameter.minimum;
  constexpr Index most_counted = 40;
  if (parameter.whole) {
    return parameter.minimum +
           static_cast<double>(draws.below(static_cast<Index>(std::min<double>(width + 1, most_counted))));
  }
  return parameter.minimum + std::min(width, 4.0) * draws.uniform();
}

bool has_gates(const Variant& variant) {
  return std::ranges::any_of(variant.inputs, [](const Input& input) { return input.range == Range::decay; });
}

/// Rounds numbers once more, each towards zero by a random part of `unit` of itself: no range excludes that.
class Rounding {
 public:
  Rounding(double unit, std::uint64_t seed) : unit_(unit), bits_(seed) {}

  double operator()(double value) {
    return value * (1 - unit_ * static_cast<double>(bits_() >> 11) * 0x1p-53);
  }

  Matrix<double> operator()(const Matrix<double>& values) {
    return values.unaryExpr([this](double value) { return (*this)(value); });
  }

  Arrays operator()(const Arrays& arrays) {
    Arrays moved;
    for (const auto& [name, array] : arrays) {
      std::vector<double> values(static_cast<std::size_t>(array.size()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = (*this)(array[static_cast<Index>(i)]);
      moved[name] = Array(array.shape, std::move(values));
    }
    return moved;
  }

 private:
  double unit_;
  std::mt19937_64 bits_;
};

/// The f64 recurrence of a row program whose rows, and whose state after every row, are rounded once more:
/// what a rule makes of its inputs is rounded too, and so is what it keeps, every column by itself.
Output with_rounding(const RowRule& rule, const Sequence& sequence, Rounding rounding) {
  Program<double> program = rule.encoder().encode<double>(sequence, 0, sequence.tokens);
  for (Matrix<double>* rows :
       {&program.q, &program.k, &program.v, &program.a, &program.k_plain, &program.v_plain})
    *rows = rounding(*rows);
  const bool reads_own_state = program.structure.parts.empty() && program.read_after.empty();
  Matrix<double> S = rule.initial_state<double>(sequence);
  Matrix<double> read(program.reads(), S.cols());
  if (!reads_own_state) read = recurrent(program, S);
  for (Index r = 0, reads = 0; reads_own_state && r < program.rows(); ++r) {
    const Program<double> row = program.row(r);
    recurrent(row, S);
    S = rounding(S);
    read.middleRows(reads, row.reads()) = row.q * S;
    reads += row.reads();
  }
  if (program.structure.read_at == ReadAt::end) read = program.q * S;
  return {rule.finish<double>(read, sequence), rule.named_states<double>(S, sequence)};
}

}  // namespace

std::vector<Settings> option_choices(const Variant& variant) {
  const auto with_each_value = [](const std::vector<Settings>& choices, const Option& option) {
    std::vector<Settings> longer;
    for (const Settings& choice : choices) {
      for (const std::string& value : option.values) {
        longer.push_back(choice);
        longer.back().options[option.name] = value;
      }
    }
    return longer;
  };
  std::vector<Settings> choices = {Settings{}};
  for (const Option& option : variant.options) {
    if (option.follows.empty()) choices = with_each_value(choices, option);
  }
  const std::vector<Settings> plain = choices;
  for (const Option& option : variant.options) {
    if (option.follows.empty()) continue;
    for (Settings& choice : with_each_value(plain, option)) {
      const bool is_new =
          choice.options.at(option.name) != resolve(variant, choice).options.at(option.follows);
      if (is_new && is_possible(variant, choice)) choices.push_back(std::move(choice));
    }
  }
  return choices;
}

std::string describe_options(const Settings& settings) {
  std::vector<std::string> words;
  for (const auto& [name, value] : settings.options) words.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(words, " "));
}

VerifyCase random_verify_case(const std::vector<OptionChoice>& choices, std::uint64_t seed, Index index) {
  Draws draws(seed, static_cast<std::uint64_t>(index));
  const OptionChoice& choice =
      choices[static_cast<std::size_t>(draws.below(static_cast<Index>(choices.size())))];
  const Variant& variant = *choice.variant;
  RandomCase random;
  random.tokens = random_length(draws);
  random.dk = 1 + draws.below(most_channels);
  random.dv = 1 + draws.below(most_channels);
  random.earlier = draws.below(20);
  random.initial_state = draws.coin();
  random.log_gates = draws.coin() && has_gates(variant);
  random.seed = draws.seed();
  const Index chunk_size = random_chunk_size(draws, random.tokens);
  Settings settings = random_settings(variant, choice.given, random.seed);
  for (const Parameter& parameter : all_parameters(variant)) {
    double& value = settings.parameters.at(parameter.name);
    if (parameter.whole || draws.coin()) value = random_value(parameter, value, draws);
  }
  return {&variant, std::move(settings), random, {chunk_size}};
}

Output reference(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  const Form form =
      variant.rule->missing(Form::recurrent, sequence.settings) ? Form::chunkwise : Form::recurrent;
  return cpu_backend().run(variant, sequence, form, Precision::f64, 1, std::move(stop));
}

ReferenceRun::ReferenceRun(const VerifyCase& verified, Precision precision, std::stop_token stop)
    : variant_(*verified.variant), precision_(precision), settings_(verified.given) {
  Arrays arrays = random_arrays(variant_, settings_, verified.random);
  if (precision == Precision::f32) {
    arrays = rounded_to_f32(arrays);
    for (auto& [name, value] : settings_.parameters) value = rounded(value);
  }
  arrays_ = std::make_shared<const Arrays>(std::move(arrays));
  sequence_ = palimpsest::bind(variant_, arrays_, settings_).heads.front();
  expected_ = reference(variant_, sequence_, std::move(stop));
}

double ReferenceRun::amplification(std::stop_token stop) const {
  constexpr int draws = 8;
  const double unit = precision_ == Precision::f64 ? 0x1p-53 : 0x1p-24;
  double largest = 1;
  const auto consider = [&](const Output& moved) {
    const double change = compare(moved, expected_).error;
    if (std::isfinite(change)) largest = std::max(largest, change / unit);
  };
  for (std::uint64_t draw = 1; draw <= draws; ++draw) {
    const auto moved = std::make_shared<const Arrays>(Rounding(unit, draw)(*arrays_));
    const Sequence sequence = palimpsest::bind(variant_, moved, settings_).heads.front();
    consider(reference(variant_, sequence, stop));
    if (const auto* rule = dynamic_cast<const RowRule*>(variant_.rule.get()))
      consider(with_rounding(*rule, sequence_, Rounding(unit, draw)));
  }
  return largest;
}

std::string reproduction(const VerifyCase& verified, const std::string& device, Form form,
                         Precision precision, Index chunk_size) {
  const Variant& variant = *verified.variant;
  std::string command =
      fmt::format("palimpsest verify --variant {} --case {} --form {} --device {} --precision {} --chunk {}",
                  variant.id, to_string(verified.random), name(form), device, name(precision), chunk_size);
  for (const auto& [option, value] : verified.given.options)
    command += fmt::format(" --param {}={}", option, value);
  const Settings usual = resolve(variant, {.options = verified.given.options});
  for (const auto& [parameter, value] : verified.given.parameters) {
    const auto standard = usual.parameters.find(parameter);
    if (standard == usual.parameters.end() || standard->second != value)
      command += fmt::format(" --param {}={}", parameter, value);
  }
  return command;
}

}  // namespace palimpsest
