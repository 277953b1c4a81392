#include "core/proof/verify.h"

#include <fmt/ranges.h>

#include <random>

#include "core/base/refuse.h"

namespace palimpsest {

namespace {

/// Choices by arithmetic alone: the distributions of <random> differ between libraries.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t index) : bits_(seed) { bits_.seed(bits_() ^ index); }
  /// 0 ... count - 1.
  Index below(Index count) { return static_cast<Index>(bits_() % static_cast<std::uint64_t>(count)); }
  bool coin() { return below(2) == 0; }
  /// [0, 1).
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

  template <class Values>
  Index among(const Values& values) {
    return entry(values, below(static_cast<Index>(values.size())));
  }

  std::uint64_t seed() { return bits_() >> 32; }

 private:
  std::mt19937_64 bits_;
};

constexpr Index most_tokens = 300;
constexpr Index most_tokens_of_all = 4096;  // now and then
constexpr Index most_channels = 24;

Index random_length(Draws& draws) {
  constexpr std::array<Index, 17> awkward = {0,  1,  2,  3,  15,  16,  17,  31, 33,
                                             63, 64, 65, 95, 127, 128, 129, 257};
  constexpr Index rare = 256;
  if (draws.below(rare) == 0) return most_tokens + draws.below(most_tokens_of_all - most_tokens + 1);
  return draws.coin() ? draws.among(awkward) : draws.below(most_tokens + 1);
}

Index random_chunk_size(Draws& draws, Index tokens) {
  const std::array<Index, 10> awkward = {1, 2, 7, 15, 16, 17, 32, 64, tokens + 1, std::max<Index>(tokens, 1)};
  return draws.coin() ? draws.among(awkward) : 1 + draws.below(tokens + 5);
}

/// A value that a user may give: within the range, and not so large that everything else becomes negligible.
double random_value(const Parameter& parameter, double usual, Draws& draws) {
  constexpr double endless = -1e300;
  if (parameter.minimum < endless)  // a factor
    return (draws.coin() ? usual : -usual) * std::exp2(4 * draws.uniform() - 3);
  const double width = parameter.maximum - parameter.minimum;
  constexpr double most_counted = 40;
  if (parameter.whole) {
    const auto count = static_cast<Index>(std::min(width + 1, most_counted));
    return parameter.minimum + static_cast<double>(draws.below(count));
  }
  return parameter.minimum + std::min(width, 4.0) * draws.uniform();
}

/// `word` quoted for a shell.
std::string quoted(const std::string& word) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./:=,").find(c) != std::string_view::npos;
  };
  if (std::ranges::all_of(word, is_plain)) return word;
  std::string within;
  for (const char c : word) within += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + within + "'";
}

constexpr Index long_chunk = 64;  // tokens

std::vector<Index> chunk_sizes(const VerifyPlan& plan, Index tokens) {
  std::set<Index> sizes;
  for (const Index size : plan.chunk_sizes) {
    sizes.insert(size == VerifyPlan::whole_sequence ? std::max<Index>(tokens, 1) : size);
  }
  return {sizes.begin(), sizes.end()};
}

/// The options of a choice with every size of an inner batch, where the rule has one.
std::vector<Settings> with_batches(const VerifyPlan& plan, const OptionChoice& choice) {
  const std::vector<Parameter> parameters = all_parameters(*choice.variant);
  const bool has_batches = is_among("batch", parameters, &Parameter::name);
  if (!has_batches || plan.batch_sizes.empty()) return {choice.given};
  std::vector<Settings> all;
  for (const Index batch : plan.batch_sizes) {
    all.push_back(choice.given);
    all.back().parameters["batch"] = static_cast<double>(batch);
  }
  return all;
}

/// The choices that have cases: the options of the given cases, or all.
std::vector<OptionChoice> planned_choices(const VerifyPlan& plan, std::span<const Variant> table) {
  std::vector<OptionChoice> all;
  for (const VerifyCase& given : plan.cases) all.push_back({given.variant, given.given});
  if (!all.empty()) return all;
  const auto add = [&](const Variant& variant) {
    for (const Settings& given : option_choices(variant)) all.push_back({&variant, given});
  };
  for (const std::string& id : plan.variants) add(find_variant(id, table));
  if (plan.variants.empty()) std::ranges::for_each(table, add);
  return all;
}

void add_every_combination(const VerifyPlan& plan, const OptionChoice& choice,
                           std::vector<VerifyCase>& cases) {
  const Variant& variant = *choice.variant;
  const bool has_states =
      std::ranges::any_of(variant.inputs, [](const Input& input) { return input.absent.has_value(); });
  const std::vector<Settings> all_given = with_batches(plan, choice);
  const auto add = [&](RandomCase random, const std::vector<Index>& chunks) {
    const std::size_t skipped = random.tokens > VerifyPlan::longest_with_all ? all_given.size() - 1 : 0;
    for (Settings given : std::span(all_given).subspan(skipped)) {
      // A scale of 1 everywhere would hide that one is forgotten.
      if (random.initial_state) given.parameters["scale"] = 0.625;
      if (random.keeps) keep_everything(variant, given);
      for (int draw = 0; draw < plan.draws; ++draw) {
        random.seed = plan.seed + static_cast<std::uint64_t>(draw);
        const Settings settings = random_settings(variant, given, random.seed);
        cases.push_back({&variant, settings, fitted(variant, settings, random), chunks});
      }
    }
  };
  RandomCase random;
  const auto with_size = [&](const VerifyPlan::Size& size) {
    random.dk = size.dk;
    random.dv = size.dv;
  };
  for (const VerifyPlan::Size& size : plan.sizes) {
    with_size(size);
    for (const Index tokens : plan.lengths) {
      random.tokens = tokens;
      for (const bool initial_state : plan.initial_states) {
        if (initial_state && !has_states) continue;
        random.initial_state = initial_state;
        for (const bool log_gates : plan.log_gates) {
          if (log_gates && !has_gates(variant)) continue;
          random.log_gates = log_gates;
          add(random, chunk_sizes(plan, tokens));
        }
      }
    }
  }
  if (plan.sizes.empty()) return;
  with_size(plan.sizes.front());
  random.initial_state = has_states;
  random.log_gates = false;
  const auto forgets = [](const auto& each) { return each.keeps.has_value(); };
  const bool can_keep = plan.keeps && (std::ranges::any_of(variant.inputs, forgets) ||
                                       std::ranges::any_of(variant.parameters, forgets));
  for (const bool keeps : {false, true}) {
    if (keeps && !can_keep) continue;
    random.keeps = keeps;
    for (const Index tokens : plan.lengths) {
      random.tokens = tokens;
      if (keeps) add(random, chunk_sizes(plan, tokens));
    }
    for (const Index tokens : plan.long_lengths) {
      if (keeps && tokens > VerifyPlan::longest_with_all) continue;
      random.tokens = tokens;
      add(random, {long_chunk});
    }
  }
  random.keeps = false;
  const auto is_processor = [](const Backend* each) { return is_cpu(*each); };
  if (plan.lengths.empty() || std::ranges::all_of(plan.backends, is_processor)) return;
  random.tokens = std::ranges::max(plan.lengths);
  for (const VerifyPlan::Size& size : plan.wide_sizes) {
    with_size(size);
    add(random, {long_chunk});
  }
}

}  // namespace

bool has_gates(const Variant& variant) {
  return std::ranges::any_of(variant.inputs, [](const Input& input) { return input.range == Range::decay; });
}

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
      const Settings settings = resolve(variant, choice);
      const bool is_new = choice.options.at(option.name) != settings.options.at(option.follows);
      const bool is_possible = !variant.go_together || variant.go_together(settings);
      if (is_new && is_possible) choices.push_back(std::move(choice));
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
  const OptionChoice& choice = entry(choices, draws.below(static_cast<Index>(choices.size())));
  const Variant& variant = *choice.variant;
  RandomCase random;
  random.tokens = random_length(draws);
  random.dk = 1 + draws.below(most_channels);
  random.dv = 1 + draws.below(most_channels);
  random.earlier = draws.below(20);
  random.initial_state = draws.coin();
  random.log_gates = draws.coin() && has_gates(variant);
  random.keeps = draws.below(8) == 0;
  random.seed = draws.seed();
  const Index chunk_size = random_chunk_size(draws, random.tokens);
  Settings settings = random_settings(variant, choice.given, random.seed);
  for (const Parameter& parameter : all_parameters(variant)) {
    double& value = settings.parameters.at(parameter.name);
    if (parameter.whole || draws.coin()) value = random_value(parameter, value, draws);
  }
  if (random.keeps) keep_everything(variant, settings);
  random = fitted(variant, settings, random);
  return {&variant, std::move(settings), random, {chunk_size}};
}

std::string data_of(const VerifyCase& verified) {
  return verified.data.empty() ? to_string(verified.random) : verified.data;
}

ReferenceRun reference_run(const VerifyCase& verified, Precision precision, std::stop_token stop) try {
  const Variant& variant = *verified.variant;
  auto arrays = verified.arrays
                    ? verified.arrays()
                    : std::make_shared<const Arrays>(random_arrays(variant, verified.given, verified.random));
  return {variant, held_inputs(variant, std::move(arrays), verified.given, precision), precision,
          std::move(stop)};
} catch (const InputError& error) {  // names its arrays, and no file
  refuse("{}: {}", data_of(verified), error.what());
}

std::string reproduction(const VerifyCase& verified, const std::string& device, Form form,
                         Precision precision, Index chunk_size) {
  const Variant& variant = *verified.variant;
  std::string command =
      fmt::format("palimpsest verify --variant {} --case {} --form {} --device {} --precision {} --chunk {}",
                  variant.id, quoted(data_of(verified)), name(form), device, name(precision), chunk_size);
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

VerifyPlan thorough_plan() {
  VerifyPlan plan;
  plan.long_lengths = {1000, 4096};
  return plan;
}

VerifyPlan plan_of_lengths(const std::vector<Index>& lengths) {
  VerifyPlan plan;
  plan.lengths.clear();
  for (const Index tokens : lengths)
    (tokens > VerifyPlan::longest_combined ? plan.long_lengths : plan.lengths).push_back(tokens);
  return plan;
}

PlannedCases::PlannedCases(const VerifyPlan& plan, std::span<const Variant> table)
    : choices(planned_choices(plan, table)),
      cases(plan.cases),
      seed(plan.seed),
      are_random(plan.random_cases > 0 && plan.cases.empty()) {
  if (!are_random && cases.empty()) {
    for (const OptionChoice& choice : choices) add_every_combination(plan, choice, cases);
    cases.insert(cases.end(), plan.more.begin(), plan.more.end());
  }
  size = are_random ? plan.random_cases : static_cast<Index>(cases.size());
}

VerifyCase PlannedCases::at(Index index) const {
  return are_random ? random_verify_case(choices, seed, index) : entry(cases, index);
}

}  // namespace palimpsest
