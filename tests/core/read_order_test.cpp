// Reads before a token's own update: o_t = S_{t-1}^T q_t.

#include "core/variants/variants.h"

#include <set>

#include "core/base/error.h"
#include "core/cases/random_case.h"
#include "core/rules/effective_attention.h"
#include "core/rules/row_rule.h"
#include "core/variants/rail.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

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

double largest(const Matrix<double>& x) { return x.size() == 0 ? 0 : x.cwiseAbs().maxCoeff(); }

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
      CHECK(largest(one.o - other.o) > 1e-3);
    }
  }
}

TEST_CASE("no token weighs its own value where it reads before its update") {
  for (const auto& [variant, given] : choices()) {
    const Case each = random_case(*variant, given, {.tokens = 17, .initial_state = true});
    INFO(each.words);
    const EffectiveAttention all = variant->rule->effective_attention(
        each.sequence, {.rows = 17, .columns = 17, .channel = 1, .initial = true});
    const Matrix<double> on_tokens = all.on_tokens();
    for (Index t = 0; t < 17; ++t) CHECK(on_tokens.row(t).tail(17 - t).isZero(0));
    CHECK(largest(on_tokens) > 1e-3);

    // What is weighed adds up to what is read, from the first token on.
    const Channel channel = variant->rule->channel(each.sequence, 1);
    const Program<double> rows = channel.rows(0, 17);
    Matrix<double> sum = all.Q0 * channel.initial;
    const bool is_plain = all.values_are_plain;
    if (!is_plain) sum += all.A * rows.v.col(0);
    if (all.A_plain.size() > 0) sum += all.A_plain * rows.v_plain.col(0);
    const Matrix<double> o = each.run(Form::recurrent).o.col(1);
    CHECK(largest(sum - o) <= 1e-11 * std::max(1.0, largest(o)));

    // A few columns are followed forwards, many backwards.
    for (const Index first : {0, 5}) {
      const EffectiveAttention few = variant->rule->effective_attention(
          each.sequence, {.rows = 17, .first_column = first, .columns = 2, .channel = 1});
      CHECK(largest(few.on_tokens() - on_tokens.middleCols(first, 2)) <= 1e-12 * largest(on_tokens));
    }
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
      CHECK(largest(before.run(form, Precision::f64, 4).o - plain) <=
            rounding * std::max(1.0, largest(plain)));
      CHECK(largest(after.run(form, Precision::f64, 4).o - plain) > 1e-3);
    }
  }
}
