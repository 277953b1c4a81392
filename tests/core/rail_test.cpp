// The rail: between two neighbouring rules one symbol moves from off to on.

#include "core/variants/variants.h"

#include "core/rules/row_rule.h"
#include "tests/apart.h"
#include "tests/core/cases.h"
#include "tests/core/golden.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The joint between two stops; null where the rail jumps.
const Variant* joint_after(std::size_t stop) {
  const RailRule rule = rule_at(static_cast<double>(stop) + 0.25);
  return rule.position ? &find_variant(rule.variant) : nullptr;
}

struct AwkwardSizes {
  Index tokens;
  Index dk;
  Index dv;
  bool log_gates;
};
constexpr AwkwardSizes awkward[] = {{1, 1, 1, false}, {5, 3, 1, true}, {41, 5, 3, false}, {66, 7, 9, true}};

/// Random inputs to a joint at a position, gates of 0 and 1 among them.
Case case_at(const Variant& joint, double position, const AwkwardSizes& sizes) {
  return random_case(joint, {.parameters = {{rail_parameter, position}}},
                     {.tokens = sizes.tokens,
                      .dk = sizes.dk,
                      .dv = sizes.dv,
                      .initial_state = true,
                      .log_gates = sizes.log_gates,
                      .seed = 3});
}

/// The same numbers as `variant` takes them: of decays per channel a rule with one per token takes the mean.
Case taken_by(const Variant& variant, const Case& joint) {
  Settings settings;
  for (const Parameter& parameter : all_parameters(variant)) {
    const auto given = joint.sequence.settings.parameters.find(parameter.name);
    if (given != joint.sequence.settings.parameters.end()) settings.parameters.insert(*given);
  }
  Arrays arrays = *joint.arrays;
  const auto alpha = std::ranges::find(variant.inputs, "alpha", &Input::name);
  for (const char* name : {"alpha", "g"}) {
    const auto given = arrays.find(name);
    if (given == arrays.end() || alpha == variant.inputs.end() || alpha->shape.size() == 2) continue;
    if (given->second.rank() == 1) continue;
    const Index T = given->second.shape[0];
    const Index K = given->second.shape[1];
    std::vector<double> means(static_cast<std::size_t>(T), 0.0);
    for (Index t = 0; t < T; ++t) {
      for (Index d = 0; d < K; ++d) entry(means, t) += given->second[t * K + d] / static_cast<double>(K);
    }
    given->second = Array({T}, std::move(means));
  }
  return bound(variant, resolve(variant, settings), std::move(arrays));
}

void check_same(const Case& joint, const Case& named) {
  for (const Form form : joint.forms()) {
    for (const Precision precision : scalar_precisions) {
      for (const Index chunk_size : {1, 7, 64}) {
        INFO(named.variant->id << " " << name(form) << " " << name(precision) << " chunk " << chunk_size);
        const Output one = joint.run(form, precision, chunk_size);
        const Output other = named.run(form, precision, chunk_size);
        CHECK(one.o == other.o);
        CHECK(one.states == other.states);
      }
    }
  }
  CHECK(joint.forms() == named.forms());
}

/// The gates as they were given, [T, 1 or K]: the sequence holds what the rule between two stops makes of
/// them.
Matrix<double> given_gates(const Case& each) {
  return as_matrix(each.arrays->at(each.sequence.gates_are_logs ? "g" : "alpha"));
}

/// alpha itself of every token and channel, however the arrays hold it: [T, K].
Matrix<double> alphas(const Case& each) {
  Matrix<double> alpha = given_gates(each);
  if (each.sequence.gates_are_logs) alpha = alpha.unaryExpr([](double g) { return std::exp(g); }).eval();
  return alpha.replicate(1, alpha.cols() == 1 ? each.sequence.dk : 1);
}

/// Between the mean of the channels, as the arrays hold them, and a channel's own.
Matrix<double> spread_alphas(const Case& each, double part) {
  const Matrix<double> held = given_gates(each);
  const Matrix<double> mean = held.rowwise().mean().replicate(1, held.cols());
  const Matrix<double> between = mean + (held - mean) * part;
  if (!each.sequence.gates_are_logs) return between;
  return mean.array().isInf().select(0.0, between.array().exp());
}

Matrix<double> power(const Matrix<double>& base, double exponent) {
  return base.unaryExpr([exponent](double x) { return std::pow(x, exponent); });
}

/// Where the symbols of a rule between two stops stand: S~ = Diag(gate) S, u = v - erase S~^T k,
/// S = S~ + beta k u^T, with beta between 1 and its own number.
struct Standing {
  Matrix<double> gates;  // [T, K]
  double erase = 0;
  double strength = 0;
};

/// Those of the joint after `stop` at `position`.
Standing standing(const Case& each, std::size_t stop, double position) {
  const auto gamma = [&](double exponent) {
    return power(
        Matrix<double>::Constant(each.sequence.tokens, each.sequence.dk, each.sequence.parameter("gamma")),
        exponent);
  };
  switch (stop) {
    case 0:
      return {gamma(position)};
    case 1:
      return {gamma(1 - position).cwiseProduct(power(alphas(each), position))};
    case 2:
      return {spread_alphas(each, position)};
    case 3:  // first what fades goes, then strength and erase come
      return {power(alphas(each), std::max(1 - 3 * position, 0.0)), std::clamp(3 * position - 2, 0.0, 1.0),
              std::clamp(3 * position - 1, 0.0, 1.0)};
    case 4:
      return {power(alphas(each), position), 1, 1};
    default:
      return {spread_alphas(each, position), 1, 1};
  }
}

/// What the rule between two stops computes, written down plainly: one token after the other.
Output defined(const Case& each, std::size_t stop, double position) {
  const auto [gates, erase, strength] = standing(each, stop, position);
  Matrix<double> S = each.sequence.at("initial_state").all<double>();
  Matrix<double> o(each.sequence.tokens, each.sequence.dv);
  for (Index t = 0; t < o.rows(); ++t) {
    const Matrix<double> k = each.row("k", t);
    const double beta = strength > 0 ? 1 + (each.arrays->at("beta")[t] - 1) * strength : 1;
    S = Matrix<double>(gates.row(t).asDiagonal() * S);
    const Matrix<double> u = each.row("v", t) - erase * (k * S);
    S += beta * k.transpose() * u;
    o.row(t) = each.sequence.parameter("scale") * each.row("q", t) * S;
  }
  return {o, {{"S", S}}};
}

double largest_error(const Case& each, const Output& plain) {
  const Output got = each.run(Form::recurrent);
  return std::max(deviation(got.o, plain.o),
                  deviation(got.states.front().second, plain.states.front().second));
}

constexpr double positions[] = {0.2, 0.5, 0.9};
constexpr std::size_t last_joined = 5;  // Gated DeltaNet to KDA

}  // namespace

TEST_CASE("the rail's stops are rules of the family, and what joins two is found but not listed", "[rail]") {
  for (const RailStop& stop : rail()) CHECK(find_variant(stop.variant).id == stop.variant);
  CHECK(joints().size() == 7);
  for (const Variant& joint : joints()) {
    INFO(joint.id);
    CHECK(&find_variant(joint.id) == &joint);
    CHECK(std::ranges::find(variants(), joint.id, &Variant::id) == variants().end());
    CHECK_THROWS_AS(find_variant(joint.id, variants().first(3)), InputError);
  }
}

TEST_CASE("a rule that only adds takes a strength: its outputs are those for values times β", "[rail]") {
  for (const char* id : {"linear", "retnet", "scalar_decay", "gla", "hgrn2", "value_decay"}) {
    const Variant* const strong = with_strength(id);
    REQUIRE(strong);
    INFO(id);
    CHECK(&find_variant(strong->id) == strong);
    CHECK(without_strength(strong->id) == id);
    CHECK(std::ranges::find(variants(), strong->id, &Variant::id) == variants().end());
    const Case own =
        random_case(*strong, {}, {.tokens = 41, .dk = 5, .dv = 3, .initial_state = true, .seed = 3});
    const Array& beta = own.arrays->at("beta");
    const Case scaled = changed(
        own, "v", [&](double v, std::size_t i) { return v * beta[static_cast<Index>(i) / own.sequence.dv]; });
    const Case plain = taken_by(find_variant(id), scaled);
    for (const Form form : own.forms())  // one product is rounded elsewhere
      CHECK(compare(own.run(form, Precision::f64, 7), plain.run(form, Precision::f64, 7)).error < 1e-13);
  }
  for (const char* id : {"softmax", "kernel", "deltanet", "titans", "mesanet", "lact"})
    CHECK_FALSE(with_strength(id));
  // Between GLA and DeltaNet the strength moves in; of rules that have it already only the erase does.
  const Variant* const joint = with_strength("gla_to_deltanet");
  REQUIRE(joint);
  CHECK(strengthened_joints().size() == 4);
  const Case at_start = case_at(*joint, 0, awkward[2]);
  CHECK(compare(at_start.run(Form::chunkwise, Precision::f64, 7),
                taken_by(*with_strength("gla"), at_start).run(Form::chunkwise, Precision::f64, 7))
            .error == 0);
}

TEST_CASE("places on the rail and rules are each other's", "[rail]") {
  for (std::size_t stop = 0; stop < rail().size(); ++stop) {
    const auto place = static_cast<double>(stop);
    CHECK(rule_at(place).variant == rail()[stop].variant);
    CHECK_FALSE(rule_at(place).position);
    CHECK(rail_place(rail()[stop].variant, {}) == place);
    if (stop + 1 == rail().size()) continue;
    const RailRule between = rule_at(place + 0.25);
    if (!joint_after(stop)) {
      CHECK(between.variant == rail()[stop].variant);
      CHECK(rule_at(place + 0.75).variant == rail()[stop + 1].variant);
      continue;
    }
    REQUIRE(between.position);
    CHECK(*between.position == 0.25);
    CHECK(rail_place(between.variant, {.parameters = {{rail_parameter, 0.25}}}) == place + 0.25);
    CHECK(rail_place(between.variant, {}) == place + 0.5);
  }
  CHECK_FALSE(rail_place("softmax", {}));
  CHECK_THROWS_AS(rule_at(-0.1), InputError);
  CHECK_THROWS_AS(rule_at(8.1), InputError);
  CHECK_THROWS_AS(rule_at(std::nan("")), InputError);
}

TEST_CASE("a sentence says which symbol moves and where it stands, or why the rail jumps", "[rail]") {
  CHECK_THAT(rail_sentence(0), says("adds all writes"));
  CHECK_THAT(rail_sentence(0.4), says("γ") && says("0.40"));
  CHECK_THAT(rail_sentence(1.25), says("α of each token") && says("0.25"));
  CHECK_THAT(rail_sentence(2.5), says("one per channel") && says("0.50"));
  CHECK_THAT(rail_sentence(3.1), says("removed") && says("0.70"));
  CHECK_THAT(rail_sentence(3.5), says("strength β") && says("0.50"));
  CHECK_THAT(rail_sentence(3.9), says("erase") && says("0.70"));
  CHECK_THAT(rail_sentence(4.75), says("α") && says("0.75"));
  CHECK_THAT(rail_sentence(6.3), says("jump") && says("momentum") && says("0.30"));
  CHECK_THAT(rail_sentence(7.5), says("jump") && says("batch"));
}

TEST_CASE("at its ends what joins two rules is them, bit for bit, in every form", "[rail]") {
  for (const AwkwardSizes& sizes : awkward) {
    for (std::size_t stop = 0; stop + 1 < rail().size(); ++stop) {
      const Variant* joint = joint_after(stop);
      if (!joint) continue;
      INFO(joint->id << " T=" << sizes.tokens << " K=" << sizes.dk << " V=" << sizes.dv);
      if (stop <= last_joined) {
        const Case lower = case_at(*joint, 0, sizes);
        check_same(lower, taken_by(find_variant(rail()[stop].variant), lower));
      }
      const Case upper = case_at(*joint, 1, sizes);
      check_same(upper, taken_by(find_variant(rail()[stop + 1].variant), upper));
    }
  }
}

TEST_CASE("between its ends it is what its definition says", "[rail]") {
  for (const AwkwardSizes& sizes : awkward) {
    for (std::size_t stop = 0; stop <= last_joined; ++stop) {
      for (const double position : positions) {
        const Case each = case_at(*joint_after(stop), position, sizes);
        INFO(each.variant->id << " at " << position << " T=" << sizes.tokens);
        CHECK(largest_error(each, defined(each, stop, position)) <= 1e-12);
      }
    }
  }
}

TEST_CASE("a symbol that stands a little elsewhere is noticed", "[rail]") {
  for (std::size_t stop = 0; stop <= last_joined; ++stop) {
    const Case each = case_at(*joint_after(stop), 0.8, {41, 5, 3, true});
    INFO(each.variant->id);
    CHECK(largest_error(each, defined(each, stop, 0.85)) > 1e-4);
  }
}

TEST_CASE("the momentum moves from 0: without it Titans forgets and corrects, no more", "[rail]") {
  const Case each = case_at(*joint_after(6), 0, {41, 5, 3, false});
  Matrix<double> S = each.sequence.at("initial_S").all<double>();
  for (Index t = 0; t < each.sequence.tokens; ++t) {
    const Matrix<double> k = each.row("k", t);
    const Matrix<double> missing = each.row("v", t) - k * S;
    S *= 1 - each.row("forget", t)(0, 0);
    S += each.row("theta", t)(0, 0) * k.transpose() * missing;
  }
  CHECK(furthest_apart(each.run(Form::recurrent).states.front().second, S) <= 1e-12);
}

TEST_CASE("every form between two stops is what the recurrence is, and what its formulas say", "[rail]") {
  for (const Variant& joint : joints()) {
    for (const double position : {0.0, 0.2, 1.0 / 3, 0.5, 0.9, 1.0}) {
      const Case each = case_at(joint, position, {41, 5, 3, true});
      for (const Precision precision : scalar_precisions) {
        ReferenceRun reference(joint, held_inputs(joint, each.arrays, each.settings, precision), precision);
        for (const Form form : each.forms()) {
          INFO(joint.id << " at " << position << " " << name(form) << " " << name(precision));
          const Output got = joint.rule->run(reference.sequence(), form, precision, 7);
          CHECK(reference.judge(got, form, 7, tolerance(joint, each.settings, precision)).passed());
          if (precision != Precision::f64) continue;
          CHECK(compare(interpret(*each.trace(form, 7)), each.run(Form::recurrent)).error <= 1e-10);
        }
      }
    }
  }
}

// Reads before a token's own update: o_t = S_{t-1}^T q_t.

namespace {

/// f64 forms sum the same terms in another order.
constexpr double rounding = 1e-12;

bool has_order(const Variant& variant) {
  return std::ranges::find(variant.options, read_order_option, &Option::name) != variant.options.end();
}

/// Every choice of options of the row programs with which tokens read before their update.
std::vector<std::pair<const Variant*, Settings>> choices() {
  std::vector<std::pair<const Variant*, Settings>> all;
  for (const Variant& variant : variants()) {
    if (!has_order(variant) || !variant.rule->row_program()) continue;
    for (const Settings& given : option_choices(variant)) {
      if (given.options.at(read_order_option) == reads_before && no_read_order(variant, given).empty())
        all.emplace_back(&variant, given);
    }
  }
  return all;
}

Settings with_order(Settings settings, const char* order) {
  settings.options[read_order_option] = order;
  return settings;
}

/// The same data under the same settings but for the order.
Case in_other_order(const Case& each, const char* order) {
  return bound(*each.variant, with_order(each.settings, order), *each.arrays, each.words);
}

/// o_t = S_{t-1}^T q_t, written plainly: the states are those that the engine visits, which do not depend on
/// the order, the queries those of the program.
Matrix<double> read_before(const Case& each) {
  const auto& rule = dynamic_cast<const RowRule&>(*each.variant->rule);
  const Matrix<double> q = rule.encode<double>(each.sequence, 0, each.sequence.tokens).q;
  Matrix<double> o(each.sequence.tokens, each.sequence.dv);
  rule.walk_states(each.sequence,
                   [&](Index tokens, const NamedStates& states) {
                     const Matrix<double>& S = states.front().second;  // after so many tokens
                     if (tokens < o.rows()) o.row(tokens) = q.row(tokens) * S;
                     return true;
                   },
                   {});
  return o;
}

}  // namespace

TEST_CASE("every row program may read before its own update, and the default is after") {
  std::set<std::string> with;
  for (const Variant& variant : variants()) {
    INFO(variant.id);
    if (variant.id == "lact") continue;  // has an order of its own, of batches
    if (has_order(variant)) with.insert(variant.id);
    const auto* rows = dynamic_cast<const RowRule*>(variant.rule.get());
    CHECK(has_order(variant) == (rows && !rows->normalised()));
    if (has_order(variant)) CHECK(resolve(variant, {}).options.at(read_order_option) == reads_after);
    CHECK(no_read_order(variant, resolve(variant, {})).empty() == has_order(variant));
  }
  CHECK(with.size() > 10);
}

TEST_CASE("the order changes what is read, not what is written") {
  for (const auto& [variant, given] : choices()) {
    const Case before = random_case(*variant, given, {.tokens = 17, .initial_state = true});
    const Case after = in_other_order(before, reads_after);
    for (const Form form : all_forms) {
      INFO(before.words << " " << name(form));
      const Output one = before.run(form, Precision::f64, 5);
      const Output other = after.run(form, Precision::f64, 5);
      CHECK(one.states == other.states);
      CHECK(furthest_apart(one.o, other.o) > 1e-3);
    }
  }
}

TEST_CASE("no token weighs its own value where it reads before its update") {
  for (const auto& [variant, given] : choices()) {
    const Case each = random_case(*variant, given, {.tokens = 17, .initial_state = true});
    INFO(each.words);
    const Matrix<double> on_tokens =
        variant->rule->effective_attention(each.sequence, {.rows = 17, .columns = 17, .channel = 1})
            .on_tokens();
    for (Index t = 0; t < 17; ++t) CHECK(on_tokens.row(t).tail(17 - t).isZero(0));
    CHECK(largest(on_tokens) > 1e-3);
  }
}

TEST_CASE("without a causal read the order has no effect, and it is said why") {
  const Variant& linear = find_variant("linear");
  const Settings given{.options = {{"causal", "false"}, {read_order_option, reads_before}}};
  const Case before = random_case(linear, given, {.tokens = 9});
  const Case after = in_other_order(before, reads_after);
  for (const Form form : all_forms) CHECK(before.run(form).o == after.run(form).o);
  CHECK(no_read_order(linear, before.settings).find("last") != std::string::npos);
  for (const char* id : {"softmax", "fox", "kernel", "mamba", "ttt_linear", "mesanet"}) {
    INFO(id);
    const Variant& variant = find_variant(id);
    const Settings settings = random_settings(variant, {}, 1);
    CHECK_FALSE(no_read_order(variant, settings).empty());
    CHECK_THROWS_AS(resolve(variant, with_order({}, reads_before)), InputError);
  }
}

TEST_CASE("a rule of the rail between two stops reads before its update too") {
  for (const Variant& joint : joints()) {
    if (!has_order(joint)) continue;
    const Case before =
        random_case(joint, with_order({}, reads_before), {.tokens = 9, .initial_state = true});
    const Case after = in_other_order(before, reads_after);
    for (const Form form : all_forms) {
      INFO(before.words << " " << name(form));
      const Matrix<double> plain = read_before(before);
      CHECK(deviation(before.run(form, Precision::f64, 4).o, plain) <= rounding);
      CHECK(furthest_apart(after.run(form, Precision::f64, 4).o, plain) > 1e-3);
    }
  }
}
