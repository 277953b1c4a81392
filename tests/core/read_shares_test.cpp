// What a reading owes to every token, against provenance and the state itself.

#include "core/insight/provenance.h"

#include "core/base/error.h"
#include "core/formula/rewriting.h"
#include "core/insight/keeping.h"
#include "core/insight/stability.h"
#include "core/rules/stored_pairs.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("a reading is the sum of what its entries owe to every token", "[read_shares]") {
  int compared = 0;
  for (const Case& each : all_cases({.tokens = 19, .dk = 4, .dv = 3, .seed = 81})) {
    ReadShares reading;
    const Index tokens = 17;
    Vector<double> weights;
    try {
      const Provenance one = provenance(*each.variant->rule, each.sequence, {.tokens = tokens, .column = 1});
      weights = Vector<double>::LinSpaced(4, -1, 2);
      reading = read_shares(*each.variant->rule, each.sequence, tokens, weights, 1);
    } catch (const Unsupported&) {
      continue;
    } catch (const InputError&) {
      continue;  // another number of rows
    }
    INFO(each.words);
    double value = 0;
    double size = 1;
    std::vector<double> expected(static_cast<std::size_t>(tokens));
    for (Index row = 0; row < 4; ++row) {
      const Provenance entry =
          provenance(*each.variant->rule, each.sequence, {.tokens = tokens, .row = row, .column = 1});
      value += weights(row) * entry.value;
      size = std::max(size, std::abs(entry.value));
      for (std::size_t t = 0; t < expected.size(); ++t)
        expected[t] += weights(row) * entry.shares[t].remaining;
    }
    CHECK(std::abs(reading.value - value) <= 1e-9 * size);
    REQUIRE(reading.of_token.size() == expected.size());
    for (std::size_t t = 0; t < expected.size(); ++t)
      CHECK(std::abs(reading.of_token[t] - expected[t]) <= 1e-9 * size);
    ++compared;
  }
  CHECK(compared > 10);
}

TEST_CASE("a reading of another shape or after more tokens than there are is refused", "[read_shares]") {
  const Case each = random_case(find_variant("deltanet"), {}, {.tokens = 5, .dk = 4, .dv = 3, .seed = 1});
  const Rule& rule = *each.variant->rule;
  CHECK_THROWS_WITH(read_shares(rule, each.sequence, 5, Vector<double>::Ones(3), 0), says("3 weights"));
  CHECK_THROWS_WITH(read_shares(rule, each.sequence, 6, Vector<double>::Ones(4), 0), says("0 to 5"));
  std::stop_source stopped;
  stopped.request_stop();
  CHECK_THROWS_AS(read_shares(rule, each.sequence, 5, Vector<double>::Ones(4), 0, stopped.get_token()),
                  Cancelled);
}

TEST_CASE("an expression multiplied out adds up to itself", "[additive_parts]") {
  Record record;
  record.set("beta", Matrix<double>::Constant(1, 1, 0.5));
  record.set("k", (Matrix<double>(2, 1) << 3, -1).finished());
  record.set("v", (Matrix<double>(3, 1) << 1, 2, 4).finished());
  record.set("old", (Matrix<double>(3, 1) << 0.5, -2, 1).finished());
  record.set("S", Matrix<double>::Constant(2, 3, 0.25));
  const Expression update = (tensor("beta") * tensor("k")) * transpose(tensor("v") - tensor("old"));
  struct Expected {
    Expression whole;
    std::size_t parts;
  };
  const Expected all[] = {{update, 2},
                          {tensor("S") + update, 3},
                          {tensor("S") - (tensor("S") - update), 4},
                          {named("update", update), 2},
                          {hadamard(tensor("S") + update, tensor("S")), 3},
                          {transpose(tensor("S")), 1}};
  for (const Expected& each : all) {
    INFO(to_string(each.whole));
    const std::vector<AdditivePart> parts = additive_parts(each.whole);
    CHECK(parts.size() == each.parts);
    const Matrix<double> whole = evaluate(each.whole, record);
    Matrix<double> sum = Matrix<double>::Zero(whole.rows(), whole.cols());
    for (const AdditivePart& part : parts) sum += part.sign * evaluate(part.expression, record);
    CHECK((sum - whole).cwiseAbs().maxCoeff() <= 1e-14);
  }
}

TEST_CASE("strengths are the same however many tokens are looked at together", "[write_strength]") {
  int rules = 0;
  for (const Case& each : all_cases({.tokens = 300, .dk = 4, .dv = 3, .seed = 82})) {
    INFO(each.words);
    const WriteStrengths written = write_strengths(*each.variant, each.sequence);
    REQUIRE(written.of_token.size() == 300);
    const StoredPairs pairs = stored_pairs(*each.variant, each.sequence, 0, 300);
    const Index steps = pairs.keys.rows() / 300;
    for (const Index t : {0, 255, 256, 299}) {
      const Index last = (t + 1) * steps - 1;
      const double k = pairs.keys.row(last).norm();
      double expected = k * pairs.values.row(last).norm();
      if (written.rate == "beta" && steps == 1)
        expected = std::abs(each.sequence.at("beta").rows<double>(t, 1)(0, 0)) * k * k;
      else if (!written.rate.empty())
        continue;
      ++rules;
      CHECK(std::abs(written.of_token(t) - expected) <= 1e-12 * std::max(1.0, expected));
    }
  }
  CHECK(rules > 40);
  std::stop_source stop;
  stop.request_stop();
  const auto cases = all_cases({.tokens = 3, .dk = 4, .dv = 3, .seed = 82});
  CHECK_THROWS_AS(write_strengths(*cases.front().variant, cases.front().sequence, stop.get_token()),
                  Cancelled);
}

TEST_CASE("half-lives") {
  CHECK(half_life(0.5) == 1);
  CHECK(half_life(0) == 0);
  CHECK(std::isinf(half_life(1)));
  CHECK(half_life(1) > 0);
}
