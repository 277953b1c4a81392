#include "core/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"

namespace palimpsest {

namespace {

constexpr double usual_tolerance_f64 = 1e-10;
constexpr double usual_tolerance_f32 = 2e-5;

std::string describe_options(const Settings& settings) {
  std::vector<std::string> words;
  for (const auto& [name, value] : settings.options) words.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(words, " "));
}

bool has_gates(const Variant& variant) {
  return std::ranges::any_of(variant.inputs, [](const Input& input) { return input.range == Range::decay; });
}

bool has_optional_inputs(const Variant& variant) {
  return std::ranges::any_of(variant.inputs, [](const Input& input) { return input.absent.has_value(); });
}

/// The f64 recurrence; chunks of one token where a rule has none.
Output reference(const Variant& variant, const Sequence& sequence, std::stop_token stop = {}) {
  const Form form =
      variant.rule->missing(Form::recurrent, sequence.settings) ? Form::chunkwise : Form::recurrent;
  return cpu_backend().run(variant, sequence, form, Precision::f64, 1, std::move(stop));
}

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

/// One variant with one choice of options.
class Choice {
 public:
  Choice(const VerifyPlan& plan, const Variant& variant, Settings given, std::stop_token stop)
      : plan_(plan), variant_(variant), given_(std::move(given)), stop_(std::move(stop)) {
    options_ = describe_options(resolve(variant, given_));
  }

  const std::string& options() const { return options_; }

  void run(VerifyReport& report) {
    prepare(report);
    for (const Precision precision : plan_.precisions) {
      for (const VerifyPlan::Size& size : plan_.sizes) {
        for (const Index tokens : plan_.lengths) {
          for (const bool initial_state : {false, true}) {
            if (initial_state && !has_optional_inputs(variant_)) continue;
            for (const bool log_gates : {false, true}) {
              if (log_gates && !has_gates(variant_)) continue;
              for (int draw = 0; draw < plan_.draws; ++draw) {
                const RandomCase random{.tokens = tokens,
                                        .dk = size.dk,
                                        .dv = size.dv,
                                        .initial_state = initial_state,
                                        .log_gates = log_gates,
                                        .seed = plan_.seed + static_cast<std::uint64_t>(draw)};
                for (const Settings& given : with_batches()) run_case(random, given, precision);
              }
            }
          }
        }
      }
    }
    for (Running& running : running_) report.results.push_back(std::move(running.result));
  }

 private:
  struct Running {
    const Backend* backend;
    VerifyResult result;
  };

  /// The options with every size of an inner batch, where the rule has one.
  std::vector<Settings> with_batches() const {
    const std::vector<Parameter> parameters = all_parameters(variant_);
    const bool has_batches = std::ranges::find(parameters, "batch", &Parameter::name) != parameters.end();
    if (!has_batches) return {given_};
    std::vector<Settings> all;
    for (const Index batch : plan_.batch_sizes) {
      all.push_back(given_);
      all.back().parameters["batch"] = static_cast<double>(batch);
    }
    return all;
  }

  /// One result for every form, device and precision that exists; the others are missing.
  void prepare(VerifyReport& report) {
    const Settings settings = random_settings(variant_, given_, plan_.seed);
    for (const Backend* backend : plan_.backends) {
      for (const Form form : all_forms) {
        for (const Precision precision : plan_.precisions) {
          if (const auto reason = backend->missing(variant_, settings, form, precision)) {
            report.missing.push_back({variant_.id, options_, backend->name(), form, precision, *reason});
            continue;
          }
          VerifyResult result{
              .variant = variant_.id,
              .options = options_,
              .device = backend->name(),
              .form = form,
              .precision = precision,
              .tolerance = precision == Precision::f64 ? usual_tolerance_f64 : usual_tolerance_f32};
          for (const ToleranceException& exception : plan_.exceptions) {
            const bool applies = exception.variant == variant_.id && exception.precision == precision &&
                                 options_.find(exception.options) != std::string::npos;
            if (!applies) continue;
            result.tolerance = exception.tolerance;
            result.exception = exception.reason;
          }
          running_.push_back({backend, std::move(result)});
        }
      }
    }
  }

  /// A case that fails before any form runs fails them all.
  void run_case(const RandomCase& random, const Settings& given, Precision precision) {
    try {
      compare_forms(random, given, precision);
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      for (Running& running : running_) {
        if (running.result.precision != precision) continue;
        ++running.result.runs;
        running.result.message = fmt::format("{} ({})", error.what(), to_string(random));
      }
    }
  }

  void compare_forms(const RandomCase& random, Settings given, Precision precision) {
    // A scale of 1 everywhere would hide that one is forgotten.
    if (random.initial_state) given.parameters["scale"] = 0.625;
    Settings settings = random_settings(variant_, given, random.seed);
    Arrays arrays = random_arrays(variant_, settings, random);
    const std::string written = describe_parameters(settings);
    if (precision == Precision::f32) {
      arrays = rounded_to_f32(arrays);
      for (auto& [name, value] : settings.parameters) value = rounded(value);
    }
    const SequenceBatch bound =
        palimpsest::bind(variant_, std::make_shared<const Arrays>(std::move(arrays)), settings);
    const Sequence& sequence = bound.heads.front();
    const Output expected = reference(variant_, sequence, stop_);
    for (Running& running : running_) {
      if (running.result.precision != precision) continue;
      for (const Index chunk_size : chunk_sizes(running.result.form, random.tokens)) {
        if (stop_.stop_requested()) throw Cancelled();
        run_one(running, sequence, expected, chunk_size, random, written);
      }
    }
  }

  /// The form's chunk changes nothing but the chunkwise form.
  std::vector<Index> chunk_sizes(Form form, Index tokens) const {
    if (form != Form::chunkwise) return {1};
    std::set<Index> sizes;
    for (const Index size : plan_.chunk_sizes) {
      sizes.insert(size == VerifyPlan::whole_sequence ? std::max<Index>(tokens, 1) : size);
    }
    return {sizes.begin(), sizes.end()};
  }

  void run_one(Running& running, const Sequence& sequence, const Output& expected, Index chunk_size,
               const RandomCase& random, const std::string& parameters) {
    VerifyResult& result = running.result;
    ++result.runs;
    std::string message;
    Disagreement disagreement;
    try {
      const Output got =
          running.backend->run(variant_, sequence, result.form, result.precision, chunk_size, stop_);
      disagreement = compare(got, expected);
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      message = error.what();
    }
    const bool is_first = result.runs == 1;
    const bool is_worse =
        disagreement.error > result.worst.error || (!message.empty() && result.message.empty());
    if (!is_first && !is_worse) return;
    if (!message.empty()) result.message = message;
    if (disagreement.error >= result.worst.error) result.worst = disagreement;
    result.reproduction = fmt::format(
        "palimpsest run {} --form {} --device {} --precision {} --chunk {} --input {} --output out.npz{}",
        variant_.id, name(result.form), result.device, name(result.precision), chunk_size, to_string(random),
        parameters);
  }

  /// " --param scale=0.5 ...": everything that is not a default.
  std::string describe_parameters(const Settings& settings) const {
    const Settings standard = resolve(variant_, {});
    std::string words;
    for (const auto& [name, value] : given_.options) words += fmt::format(" --param {}={}", name, value);
    for (const auto& [name, value] : settings.parameters) {
      const auto usual = standard.parameters.find(name);
      if (usual == standard.parameters.end() || usual->second != value) {
        words += fmt::format(" --param {}={}", name, value);
      }
    }
    return words;
  }

  const VerifyPlan& plan_;
  const Variant& variant_;
  Settings given_;
  std::stop_token stop_;
  std::string options_;
  std::vector<Running> running_;
};

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

std::vector<ToleranceException> usual_exceptions() {
  // Five steps of Newton and Schulz multiply what is weak, rounding included, by up to 3.4445^5 = 485.
  return {{.variant = "lact",
           .options = "optimizer=muon",
           .precision = Precision::f32,
           .tolerance = 1e-3,
           .reason = "Muon multiplies rounding by up to 485; the worst of 25 draws was 3.8e-4"},
          {.variant = "lact",
           .options = "loss=l2 newton_schulz=muon optimizer=muon",
           .precision = Precision::f32,
           .tolerance = 1e-2,
           .reason = "Muon takes a full step however little is left to learn, which in f32 may be rounding "
                     "alone; the worst of 25 draws was 4.8e-3"}};
}

bool VerifyReport::passed() const {
  return std::ranges::all_of(results, [](const VerifyResult& result) { return result.passed(); });
}

Index VerifyReport::runs() const {
  Index total = 0;
  for (const VerifyResult& result : results) total += result.runs;
  return total;
}

VerifyReport verify(const VerifyPlan& plan, std::span<const Variant> table,
                    const std::function<void(const VerifyProgress&)>& progress, std::stop_token stop) {
  std::vector<const Variant*> chosen;
  for (const std::string& id : plan.variants) chosen.push_back(&find_variant(id, table));
  if (plan.variants.empty()) {
    for (const Variant& variant : table) chosen.push_back(&variant);
  }
  std::vector<std::pair<const Variant*, Choice>> choices;
  for (const Variant* variant : chosen) {
    for (const Settings& given : option_choices(*variant)) {
      choices.emplace_back(variant, Choice(plan, *variant, given, stop));
    }
  }

  VerifyReport report;
  VerifyProgress now{.total = static_cast<Index>(choices.size())};
  for (auto& [variant, choice] : choices) {
    now.variant = variant->id;
    now.options = choice.options();
    if (progress) progress(now);
    choice.run(report);
    ++now.done;
  }
  if (progress) progress(now);
  return report;
}

}  // namespace palimpsest
