#include "core/proof/verify_plan.h"

#include <algorithm>
#include <set>

namespace palimpsest {

namespace {

constexpr Index long_chunk = 64;  // tokens

bool has_optional_inputs(const Variant& variant) {
  return std::ranges::any_of(variant.inputs, [](const Input& input) { return input.absent.has_value(); });
}

/// The chunk sizes of a plan for so many tokens, each once.
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
  const bool has_batches = std::ranges::find(parameters, "batch", &Parameter::name) != parameters.end();
  if (!has_batches || plan.batch_sizes.empty()) return {choice.given};
  std::vector<Settings> all;
  for (const Index batch : plan.batch_sizes) {
    all.push_back(choice.given);
    all.back().parameters["batch"] = static_cast<double>(batch);
  }
  return all;
}

/// What there are cases of: the options of the given ones, or all.
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

/// Whether anything makes the variant forget.
bool forgets(const Variant& variant) {
  const auto keeps = [](const auto& each) { return each.keeps.has_value(); };
  return std::ranges::any_of(variant.inputs, keeps) || std::ranges::any_of(variant.parameters, keeps);
}

/// Whether anything but the processor runs it.
bool has_device(const VerifyPlan& plan) {
  return std::ranges::any_of(plan.backends, [](const Backend* each) { return each != &cpu_backend(); });
}

/// Every combination that a plan asks for of one variant with one choice of options.
void add_every_combination(const VerifyPlan& plan, const OptionChoice& choice,
                           std::vector<VerifyCase>& cases) {
  const Variant& variant = *choice.variant;
  const bool has_states = has_optional_inputs(variant);
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
  for (const bool keeps : {false, true}) {
    if (keeps && !(plan.keeps && forgets(variant))) continue;
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
  if (plan.lengths.empty() || !has_device(plan)) return;
  random.tokens = std::ranges::max(plan.lengths);
  for (const VerifyPlan::Size& size : plan.wide_sizes) {
    with_size(size);
    add(random, {long_chunk});
  }
}

}  // namespace

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
    : choices_(planned_choices(plan, table)),
      cases_(plan.cases),
      seed_(plan.seed),
      are_random_(plan.random_cases > 0 && plan.cases.empty()) {
  if (!are_random_ && cases_.empty()) {
    for (const OptionChoice& choice : choices_) add_every_combination(plan, choice, cases_);
    cases_.insert(cases_.end(), plan.more.begin(), plan.more.end());
  }
  size_ = are_random_ ? plan.random_cases : static_cast<Index>(cases_.size());
}

VerifyCase PlannedCases::at(Index index) const {
  return are_random_ ? random_verify_case(choices_, seed_, index) : cases_[static_cast<std::size_t>(index)];
}

}  // namespace palimpsest
