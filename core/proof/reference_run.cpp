#include "core/proof/reference_run.h"

#include <set>

#include "core/base/random_numbers.h"
#include "core/base/refuse.h"
#include "core/numbers/arithmetic.h"
#include "core/rules/backend.h"

namespace palimpsest {

namespace {

/// By precision. Of bf16 five roundings, each half a unit in 8 bits: 2^-8; of tf32 ten of a factor: 2^-11.
constexpr double usual_tolerances[] = {1e-10, 2e-5, 5e-3, 2e-2};

/// Options of a variant that need more room than usual in f32.
struct ToleranceException {
  std::string_view variant;
  std::map<std::string, std::string, std::less<>> options;  // all of these
  Tolerance tolerance;
};

/// The arrays that enter a kernel as factors of products: q, k, v and other keys and values of a rule. Not
/// decays, strengths or states.
std::set<std::string> factors(const Variant& variant) {
  std::set<std::string> names;
  for (const Input& input : all_inputs(variant)) {
    const bool has_channels = input.shape.size() == 2 && is_among(input.shape[1], {"dk", "dv", "d"});
    const bool fades = input.range == Range::decay || input.range == Range::log_decay;
    if (has_tokens(input) && has_channels && (!fades || !variant.makes.empty())) names.insert(input.name);
  }
  return names;
}

Settings rounded_to_f32(Settings settings) {
  for (auto& [name, value] : settings.parameters) value = static_cast<double>(static_cast<float>(value));
  return settings;
}

Sequence bind_one(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& settings) {
  return std::move(palimpsest::bind(variant, std::move(arrays), settings).heads.front());
}

Arrays rounded_to_bf16(Arrays arrays) {
  for (const char* name : {"q", "k", "v"}) {
    if (Array* const array = value_at(arrays, name))
      *array = mapped<float>(*array, [](double x) { return palimpsest::rounded(x, Arithmetic::bf16); });
  }
  return arrays;
}

/// Half a unit in the last place of a number near 1.
double half_unit(Arithmetic arithmetic) { return std::ldexp(1, -format_of(arithmetic).precision); }

/// "4", "400", "1e30": no factor is known better than by its first digit.
std::string times(double factor) {
  constexpr double readable = 10000;
  if (!std::isfinite(factor)) return "any factor";
  const std::string digits = fmt::format("{:.0e}", factor);
  if (factor < readable) return fmt::format("{:.0f}", std::stod(digits));
  const std::size_t e = digits.find('e');
  return digits.substr(0, e + 1) + std::to_string(std::stoi(digits.substr(e + 1)));
}

double worst(const DigitsLost& each) { return std::max(each.factor, each.of_state); }

std::string by_how_much(double factor) {
  if (!std::isfinite(factor)) return "without bound";
  return factor < 10 ? fmt::format("by {:.1f}", factor) : fmt::format("by {:.2g}", factor);
}

}  // namespace

Tolerance tolerance(const Variant& variant, const Settings& settings, Precision precision) {
  // Five steps of Newton and Schulz multiply what is weak, rounding included, by up to 3.4445^5 = 485.
  static const std::vector<ToleranceException> exceptions = {
      {.variant = "lact",
       .options = {{"optimizer", "muon"}},
       .tolerance = {1e-3, "Muon multiplies rounding by up to 485; the worst of 25 draws was 3.8e-4"}},
      {.variant = "lact",
       .options = {{"optimizer", "muon"}, {"loss", "l2"}, {"newton_schulz", "muon"}},
       .tolerance = {1e-2,
                     "Muon takes a full step however little is left to learn, which in f32 may be rounding "
                     "alone; the worst seen was 5.1e-3"}}};
  Tolerance allowed{entry(usual_tolerances, precision)};
  const auto is_set = [&](const auto& option) { return settings.option(option.first) == option.second; };
  for (const ToleranceException& each : exceptions) {
    const bool is_meant = precision == Precision::f32 && each.variant == variant.id;
    if (is_meant && std::ranges::all_of(each.options, is_set)) allowed = each.tolerance;
  }
  return allowed;
}

Arrays rounded_to_f32(const Arrays& arrays) {
  Arrays rounded;
  for (const auto& [name, array] : arrays) rounded[name] = mapped<float>(array, std::identity());
  return rounded;
}

Output reference(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  if (variant.carried_out) return variant.carried_out(sequence);
  const Form form =
      variant.rule->missing(Form::recurrent, sequence.settings) ? Form::chunkwise : Form::recurrent;
  return cpu_backend().run(variant, sequence, form, Precision::f64, 1, std::move(stop));
}

HeldInputs held_inputs(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& given,
                       Precision precision) {
  Sequence sequence = bind_one(variant, arrays, given);
  if (precision == Precision::f64) return {std::move(arrays), std::move(sequence)};
  // Arrays from a file are mostly held in f32 already, and may be long.
  const bool all_are = std::ranges::all_of(*arrays, [](const auto& each) { return each.second.is_f32(); });
  if (!all_are) arrays = std::make_shared<const Arrays>(rounded_to_f32(*arrays));
  if (precision == Precision::bf16) arrays = std::make_shared<const Arrays>(rounded_to_bf16(*arrays));
  try {
    return {arrays, bind_one(variant, arrays, rounded_to_f32(sequence.settings))};
  } catch (const InputError& error) {
    refuse("{}, also as {} holds it", error.what(), name(precision));
  }
}

bool Judgement::is_worse_than(const Judgement& other) const {
  if (passed() != other.passed()) return other.passed();
  if (passed()) return disagreement.error > other.disagreement.error;
  return disagreement.error / allowed() > other.disagreement.error / other.allowed();
}

ReferenceRun::ReferenceRun(const Variant& variant, HeldInputs inputs, Precision precision,
                           std::stop_token stop)
    : variant_(&variant),
      precision_(precision),
      inputs_(std::move(inputs)),
      expected_(reference(variant, inputs_.sequence, std::move(stop))) {}

double ReferenceRun::unit() const { return half_unit(arithmetic_of(precision_)); }

bool ReferenceRun::overflows() const {
  if (!variant_->carried_out) return false;  // else the recurrence is an engine's own: it has to hold
  const double largest = format_of(arithmetic_of(precision_)).largest;
  const auto fits = [&](const Matrix<double>& numbers) {
    return (numbers.array().abs() <= largest).all();  // false for NaN
  };
  return !fits(expected_.o) || !std::ranges::all_of(expected_.states | std::views::values, fits);
}

Judgement ReferenceRun::judge(const Output& got, Form form, Index chunk_size, const Tolerance& tolerance,
                              std::stop_token stop) {
  if (overflows()) return {.tolerance = tolerance, .overflows = true};
  std::optional<Amplification> measured;
  const auto judged = [&](Disagreement disagreement) {
    Judgement judgement{.disagreement = std::move(disagreement), .tolerance = tolerance};
    if (judgement.passed() || !std::isfinite(judgement.disagreement.error)) return judgement;
    if (!measured) measured = amplification(form, chunk_size, stop);
    judgement.amplification = measured->of(judgement.disagreement.array);
    if (judgement.disagreement.array != "o")
      judgement.amplified_from = measured->first_beyond(tolerance.error / unit());
    return judgement;
  };
  Judgement worst{.disagreement = {.array = "o"}, .tolerance = tolerance};
  for (Disagreement& disagreement : compare_each(got, expected_)) {
    Judgement judgement = judged(std::move(disagreement));
    if (judgement.is_worse_than(worst)) worst = std::move(judgement);
  }
  return worst;
}

Amplification ReferenceRun::amplification(Form form, Index chunk_size, std::stop_token stop) {
  if (!has_chunks(form)) chunk_size = 0;
  const auto known = amplifications_.find({form, chunk_size});
  if (known != amplifications_.end()) return known->second;
  if (!of_inputs_) of_inputs_ = amplification_of_inputs(stop);
  Amplification result = variant_->rule->amplification(inputs_.sequence, form, chunk_size, stop);
  for (const auto& [array, factor] : of_inputs_->factors) result.raise(array, factor);
  return amplifications_[{form, chunk_size}] = std::move(result);
}

std::string ReferenceRun::why_amplified(const Judgement& judgement, Form form, Index chunk_size,
                                        std::stop_token stop) {
  if (judgement.amplification <= 1) return {};
  const std::string& array = judgement.disagreement.array;
  const Sequence& sequence = inputs_.sequence;
  const auto solves = [&](Form each) {
    const auto trace = variant_->rule->trace(sequence, each, held_in(precision_), chunk_size, 0);
    return std::ranges::any_of(trace->phases, [](const Phase& phase) {
      return is_among(Purpose::solve, phase.operations, &Operation::purpose);
    });
  };
  const auto as_one = [&](Form each) {
    const Index tokens = tokens_at_once(each, chunk_size, sequence.tokens);
    if (tokens == 1) return std::string("One token after the other");
    return fmt::format("The {} over {} tokens", solves(each) ? "solve" : "sum", tokens);
  };
  const std::string what =
      array == "o" ? "the outputs" : "the final " + (array == "final_state" ? "S" : array.substr(6));
  if (!of_inputs_) of_inputs_ = amplification_of_inputs(stop);
  // Most of it comes from the inputs, whatever the form.
  if (of_inputs_->of(array) > judgement.amplification / 10) {
    return fmt::format("These inputs multiply rounding in {} by {}, whatever the form.", what,
                       times(judgement.amplification));
  }
  std::string words =
      fmt::format("{} multiplies rounding in {} by {}", as_one(form), what, times(judgement.amplification));
  if (judgement.amplified_from >= 0)
    words += fmt::format(", from token {} on above the tolerance", judgement.amplified_from + 1);
  if (judgement.disagreement.error > 0.1) words += ", and no digit of it is right";
  const Form smaller = form == Form::parallel ? Form::chunkwise : Form::recurrent;
  const double less = amplification(smaller, chunk_size, std::move(stop)).of(array);
  words += ".";
  if (less < judgement.amplification / 10)
    words += fmt::format(" {} multiplies it by {}.", as_one(smaller), times(less));
  return words;
}

Amplification ReferenceRun::amplification_of_inputs(const std::stop_token& stop) const {
  constexpr std::uint64_t draws = 8;
  Amplification result;
  const std::set<std::string> coarse = factors(*variant_);
  const double of_the_rest = half_unit(arithmetic_of(held_in(precision_)));
  for (std::uint64_t draw = 1; draw <= draws; ++draw) {
    RandomNumbers random(draw, "");
    Arrays moved;
    for (const auto& [name, array] : *inputs_.arrays) {
      const double own_unit = coarse.contains(name) ? unit() : of_the_rest;
      // Each towards zero by a random part of a unit of itself: no range excludes that.
      moved[name] = mapped<double>(array, [&](double x) { return x * (1 - own_unit * random.uniform()); });
    }
    const Sequence sequence =
        bind_one(*variant_, std::make_shared<const Arrays>(std::move(moved)), inputs_.sequence.settings);
    for (const Disagreement& change : compare_each(reference(*variant_, sequence, stop), expected_))
      if (std::isfinite(change.error)) result.raise(change.array, change.error / unit());
  }
  if (precision_ == Precision::f64) return result;
  // What is smaller than the smallest number is rounded to it, or to 0.
  const auto consider_underflow = [&](std::string_view array, const Matrix<double>& expected) {
    const double largest = expected.size() == 0 ? 0 : expected.cwiseAbs().maxCoeff();
    if (largest > 0) result.raise(array, smallest(arithmetic_of(precision_)) / unit() / largest);
  };
  consider_underflow("o", expected_.o);
  for (const auto& [name, state] : expected_.states)
    consider_underflow(final_name(expected_.states.size(), name), state);
  return result;
}

std::vector<DigitsLost> digits_lost(ReferenceRun& reference, const std::vector<Form>& forms, Index chunk_size,
                                    std::stop_token stop) {
  std::vector<DigitsLost> all;
  for (const Form form : forms) {
    const Amplification measured = reference.amplification(form, chunk_size, stop);
    DigitsLost lost{.form = form, .at_once = tokens_at_once(form, chunk_size, reference.sequence().tokens)};
    for (const auto& [array, each] : measured.factors) {
      double& factor = array == "o" ? lost.factor : lost.of_state;
      factor = std::max(factor, each);
    }
    all.push_back(lost);
  }
  return all;
}

std::string in_words(const std::vector<DigitsLost>& lost) {
  if (lost.empty()) return {};
  const DigitsLost& most = *std::ranges::max_element(lost, {}, &DigitsLost::at_once);
  const DigitsLost& least = *std::ranges::min_element(lost, {}, &DigitsLost::at_once);
  if (most.at_once == least.at_once) {
    return fmt::format("Every form here takes {} at a time; rounding is multiplied {}.",
                       most.at_once == 1 ? "one token" : fmt::format("{} tokens", most.at_once),
                       by_how_much(worst(most)));
  }
  const double ratio = worst(most) / worst(least);
  const std::string measured = fmt::format("rounding is multiplied {} here, and {} token by token",
                                           by_how_much(worst(most)), by_how_much(worst(least)));
  if (!(ratio > 2)) {
    return fmt::format(
        "The {} form adds up {} writes before they can cancel. On these data they hardly cancel: {}.",
        name(most.form), most.at_once, measured);
  }
  return fmt::format(
      "The {} form adds up {} writes before they cancel. Every term is rounded as a part of a sum that is "
      "larger than the result: {}. That costs {:.1f} decimal digits.",
      name(most.form), most.at_once, measured, std::log10(ratio));
}

}  // namespace palimpsest
