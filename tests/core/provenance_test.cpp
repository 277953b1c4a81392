// Who made an entry of the memory, against the engine run on one token's write alone.

#include <fmt/format.h>

#include "core/engines/row_engines.h"
#include "core/insight/learning.h"
#include "core/insight/memory_change.h"
#include "core/insight/provenance.h"
#include "core/rules/stored_pairs.h"
#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Rows by the recurrent engine.
Matrix<double> after_row(const Program<double>& rows, Matrix<double> state) {
  recurrent(rows, state);
  return state;
}

/// The channel of a case; nothing where its rule has none.
std::optional<Channel> channel_of(const Case& each, Index column) {
  try {
    return each.variant->rule->channel(each.sequence, column);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

Index parts_of(const Channel& channel) { return channel.rows(0, 0).structure.part_count(); }

/// What the engine makes of the whole channel.
Matrix<double> state_of(const Channel& channel) {
  return after_row(channel.rows(0, channel.tokens), channel.initial);
}

/// The entry at `place` of a state whose parts stand one above the other.
StateEntry entry_at(const Channel& channel, Index place, Index column) {
  const Index K = channel.initial.rows() / parts_of(channel);
  return {.tokens = channel.tokens, .part = place / K, .row = place % K, .column = column};
}

Provenance provenance_of(const Case& each, const StateEntry& entry) {
  return provenance(*each.variant->rule, each.sequence, entry);
}

/// Rows without what they write.
Program<double> silent(Program<double> program) {
  program.v.setZero();
  program.v_plain.setZero();
  return program;
}

/// Rows that only decay and mix: they neither erase nor write.
Program<double> fading(Program<double> program) {
  program = silent(std::move(program));
  program.structure.erase = Erase::none;
  return program;
}

/// The share of one token in an entry by the definition: its write alone goes through the engine, row by row,
/// and every row is asked what it does to it.
Share followed(const Channel& channel, const StateEntry& entry, Index token) {
  Program<double> rows = channel.rows(0, channel.tokens);
  rows.q = Matrix<double>::Zero(channel.tokens, rows.k.cols());  // nobody asks
  const Index K = channel.initial.rows() / parts_of(channel);
  const Index place = entry.part * K + entry.row;
  Matrix<double> state =
      token == initial_token ? channel.initial : Matrix<double>::Zero(channel.initial.rows(), 1);
  Share share;
  if (token == initial_token) share.written = state(place, 0);
  const Index h = channel.rows_per_token;
  for (Index r = std::max<Index>(0, token) * h; r < entry.tokens * h; ++r) {
    const Program<double> row = rows.row(r);
    Matrix<double> others = state;
    others(place, 0) = 0;
    const Matrix<double> faded = after_row(fading(row), state);
    const double from_others = after_row(fading(row), others)(place, 0);
    const Matrix<double> erased = after_row(silent(row), state);
    share.mixed += from_others;
    share.decayed += state(place, 0) - (faded(place, 0) - from_others);
    share.erased += faded(place, 0) - erased(place, 0);
    state = r / h == token ? after_row(row, state) : erased;
    share.written += state(place, 0) - erased(place, 0);
  }
  share.remaining = state(place, 0);
  return share;
}

void check_same(const Share& got, const Share& expected, double tolerance) {
  for (const auto part : {&Share::written, &Share::mixed, &Share::decayed, &Share::erased, &Share::remaining})
    CHECK(std::abs(got.*part - expected.*part) <= tolerance);
}

/// written + mixed - decayed - erased - remaining.
double imbalance(const Share& share) {
  return share.written + share.mixed - share.decayed - share.erased - share.remaining;
}

}  // namespace

TEST_CASE("provenance: the shares of all tokens add up to the engine's state") {
  int entries = 0;
  for (const Index tokens : {0, 1, 2, 17, 65}) {
    for (const Case& each : all_cases({.tokens = tokens, .dk = 4, .dv = 3, .seed = 31})) {
      const auto channel = channel_of(each, 1);
      if (!channel) continue;
      const Matrix<double> state = state_of(*channel);
      for (Index place = 0; place < state.rows(); ++place) {
        const Provenance all = provenance_of(each, entry_at(*channel, place, 1));
        const double size = std::max(1.0, largest(state));
        INFO(each.words << " place " << place);
        CHECK(std::abs(all.value - state(place, 0)) <= 1e-9 * size);
        double sum = all.initial.remaining;
        for (const Share& share : all.shares) {
          sum += share.remaining;
          CHECK(std::abs(imbalance(share)) <= 1e-9 * size);
        }
        CHECK(std::abs(imbalance(all.initial)) <= 1e-9 * size);
        CHECK(std::abs(sum - all.value) <= 1e-12 * size);
        ++entries;
      }
    }
  }
  CHECK(entries > 1000);
}

TEST_CASE("provenance: the entry is that of the state which the rule hands on") {
  int compared = 0;
  for (const Case& each : all_cases({.tokens = 33, .dk = 4, .dv = 3, .seed = 32})) {
    const auto channel = channel_of(each, 2);
    if (!channel || parts_of(*channel) > 1) continue;
    const Output output = each.run(Form::recurrent);
    const auto of_values =
        std::ranges::find_if(output.states, [](const auto& state) { return state.second.cols() == 3; });
    REQUIRE(of_values != output.states.end());
    const Matrix<double>& S = of_values->second;
    for (Index row = 0; row < S.rows(); ++row) {
      INFO(each.words << " row " << row);
      CHECK(std::abs(provenance_of(each, {.tokens = 33, .row = row, .column = 2}).value - S(row, 2)) <=
            1e-9 * std::max(1.0, largest(S)));
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("provenance: every share is what the engine makes of that write alone") {
  for (const Case& each : all_cases({.tokens = 19, .dk = 4, .dv = 3, .seed = 33})) {
    const auto channel = channel_of(each, 0);
    if (!channel) continue;
    for (Index part = 0; part < parts_of(*channel); ++part) {
      const StateEntry entry{.tokens = 17, .part = part, .row = 2, .column = 0};
      const Provenance all = provenance_of(each, entry);
      double size = 1;
      for (const Share& share : all.shares)
        size = std::max({size, std::abs(share.written), std::abs(share.erased)});
      INFO(each.words << " part " << part);
      check_same(all.initial, followed(*channel, entry, initial_token), 1e-9 * size);
      for (const Index token : {0, 1, 7, 16})
        check_same(palimpsest::entry(all.shares, token), followed(*channel, entry, token), 1e-9 * size);
    }
  }
}

TEST_CASE("provenance: the history of a share, token by token, sums up to it") {
  for (const Case& each : all_cases({.tokens = 70, .dk = 4, .dv = 3, .seed = 34})) {
    const auto channel = channel_of(each, 1);
    if (!channel) continue;
    for (Index part = 0; part < parts_of(*channel); ++part) {
      const StateEntry entry{.tokens = 70, .part = part, .row = 1, .column = 1};
      const Provenance all = provenance_of(each, entry);
      for (const Index token : {initial_token, Index{0}, Index{5}, Index{69}}) {
        const std::vector<Share> steps = history(*each.variant->rule, each.sequence, entry, token);
        REQUIRE(steps.size() == 70);
        const bool is_initial = token == initial_token;
        const Share& expected = is_initial ? all.initial : palimpsest::entry(all.shares, token);
        Share sum{.written = is_initial ? expected.written : 0, .remaining = steps.back().remaining};
        for (Index t = 0; t < 70; ++t) {
          const Share& step = palimpsest::entry(steps, t);
          for (const auto gone : {&Share::written, &Share::mixed, &Share::decayed, &Share::erased})
            sum.*gone += step.*gone;
          if (t < token) CHECK((step.decayed == 0 && step.erased == 0 && step.remaining == 0));
          if (t > token) CHECK(step.written == 0);
          // What was left until the token is what was left of the entry then.
          if (t == 40 && token < 40) {
            const Provenance until = provenance_of(each, {.tokens = 41, .part = part, .row = 1, .column = 1});
            const Share& share = is_initial ? until.initial : palimpsest::entry(until.shares, token);
            CHECK(std::abs(step.remaining - share.remaining) <= 1e-9);
          }
        }
        INFO(each.words << " part " << part << " token " << token);
        check_same(
            sum, expected,
            1e-9 * std::max({1.0, std::abs(sum.written), std::abs(sum.decayed), std::abs(sum.erased)}));
      }
    }
  }
}

TEST_CASE("provenance: a token is erased by the one that writes its key anew") {
  const auto column = [](std::vector<double> values) {
    const auto rows = static_cast<Index>(values.size());
    return Array({rows, 1}, std::move(values));
  };
  const Case each = bound(find_variant("deltanet"), resolve(find_variant("deltanet"), {}),
                          {{"q", column({1, 1, 1})},
                           {"k", column({1, 1, 1})},
                           {"v", column({4, 10, 3})},
                           {"beta", Array({3}, std::vector<double>{1, 0.25, 0.5})}});
  // S: 4, then 4 - 1 + 2.5 = 5.5, then half of it and 1.5: 4.25.
  const StateEntry entry{.tokens = 3};
  const Provenance all = provenance_of(each, entry);
  CHECK(all.value == 4.25);
  check_same(all.shares[0], {.written = 4, .erased = 2.5, .remaining = 1.5}, 0);
  check_same(all.shares[1], {.written = 2.5, .erased = 1.25, .remaining = 1.25}, 0);
  check_same(all.shares[2], {.written = 1.5, .remaining = 1.5}, 0);
  const std::vector<Share> steps = history(*each.variant->rule, each.sequence, entry, 0);
  CHECK(steps[1].erased == 1);
  CHECK(steps[2].erased == 1.5);
}

TEST_CASE("provenance: rules without such a memory say why") {
  // Without a memory, or with one that is no linear function of the values.
  std::set<std::string> expected = {"ttt_linear", "ttt_mlp", "lact"};
  for (const Variant& variant : variants())
    if (!variant.memory.none.empty()) expected.insert(variant.id);
  std::set<std::string> refused;
  for (const Case& each : all_cases({.tokens = 5, .dk = 4, .dv = 4})) {
    if (channel_of(each, 0)) continue;
    refused.insert(each.variant->id);
    INFO(each.words);
    CHECK_THROWS_WITH(provenance_of(each, {.tokens = 5}), says("state") || says("memory"));
  }
  CHECK(refused == expected);
}

TEST_CASE("provenance: an entry that there is not is refused by name") {
  const Case each = random_case("gated_deltanet", {.tokens = 17, .dk = 5, .dv = 3});
  const auto ask = [&](const StateEntry& entry) { return provenance_of(each, entry); };
  CHECK_THROWS_WITH(ask({.tokens = 18}), says("number of tokens 18") && says("0 .. 17"));
  CHECK_THROWS_WITH(ask({.tokens = 17, .part = 1}), says("part 1") && says("0 .. 0"));
  CHECK_THROWS_WITH(ask({.tokens = 17, .row = 5}), says("row 5") && says("0 .. 4"));
  CHECK_THROWS_WITH(ask({.tokens = 17, .column = 3}), says("column 3") && says("0 .. 2"));
  CHECK_THROWS_WITH(history(*each.variant->rule, each.sequence, {.tokens = 4}, 4), says("token 4"));
}

TEST_CASE("provenance: stops when asked to") {
  const Case each = random_case("gated_deltanet", {.tokens = 17});
  CHECK_THROWS_AS(provenance(*each.variant->rule, each.sequence, {.tokens = 17}, stopped()), Cancelled);
  CHECK_THROWS_AS(history(*each.variant->rule, each.sequence, {.tokens = 17}, 0, stopped()), Cancelled);
}

TEST_CASE("provenance: the comparison with the engine notices a fault") {
  int noticed = 0;
  for (const Case& each : all_cases({.tokens = 17, .dk = 4, .dv = 3, .seed = 35})) {
    const auto channel = channel_of(each, 1);
    if (!channel) continue;
    const Matrix<double> state = state_of(*channel);
    const Case off =
        with_changed(each, each.arrays->contains("k") ? "k" : "v",
                     each.arrays->contains("k") ? each.arrays->at("k").size() - 2 : 16 * 3 + 1, 1e-3);
    if (state_of(*channel_of(off, 1)) == state)
      continue;  // a feature map does not see the change: relu of a negative number
    ++noticed;
    double worst = 0;
    for (Index place = 0; place < state.rows(); ++place)
      worst =
          std::max(worst, std::abs(provenance_of(off, entry_at(*channel, place, 1)).value - state(place, 0)));
    INFO(off.words);
    CHECK(worst > 1e-7);
  }
  CHECK(noticed > 50);
}

// What a reading owes to every token, against provenance and the state itself.

TEST_CASE("a reading is the sum of what its entries owe to every token", "[read_shares]") {
  int compared = 0;
  for (const Case& each : all_cases({.tokens = 19, .dk = 4, .dv = 3, .seed = 81})) {
    ReadShares reading;
    const Index tokens = 17;
    const Vector<double> weights = Vector<double>::LinSpaced(4, -1, 2);
    try {
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
      const Provenance entry = provenance_of(each, {.tokens = tokens, .row = row, .column = 1});
      value += weights(row) * entry.value;
      size = std::max(size, std::abs(entry.value));
      for (std::size_t t = 0; t < expected.size(); ++t)
        expected[t] += weights(row) * entry.shares[t].remaining;
    }
    CHECK(std::abs(reading.value - value) <= 1e-9 * size);
    CHECK(furthest_apart(reading.of_token, expected) <= 1e-9 * size);
    ++compared;
  }
  CHECK(compared > 10);
}

TEST_CASE("a reading of another shape or after more tokens than there are is refused", "[read_shares]") {
  const Case each = random_case("deltanet", {.tokens = 5, .dk = 4, .dv = 3, .seed = 1});
  const Rule& rule = *each.variant->rule;
  CHECK_THROWS_WITH(read_shares(rule, each.sequence, 5, Vector<double>::Ones(3), 0), says("3 weights"));
  CHECK_THROWS_WITH(read_shares(rule, each.sequence, 6, Vector<double>::Ones(4), 0), says("0 to 5"));
  CHECK_THROWS_AS(read_shares(rule, each.sequence, 5, Vector<double>::Ones(4), 0, stopped()), Cancelled);
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
    CHECK(furthest_apart(sum, whole) <= 1e-14);
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
  const auto cases = all_cases({.tokens = 3, .dk = 4, .dv = 3, .seed = 82});
  CHECK_THROWS_AS(write_strengths(*cases.front().variant, cases.front().sequence, stopped()), Cancelled);
}

// What a query gets before and after its token's own write.

namespace {

constexpr double exact_read = 1e-12;
constexpr RandomCase random_sizes = {.tokens = 9, .dk = 5, .dv = 5};

double apart(const Vector<double>& x, const Matrix<double>& row) {
  return furthest_apart(x.transpose(), row);
}

}  // namespace

TEST_CASE("outputs read the memory after the token's own write", "[reading]") {
  for (const char* id : {"linear", "retnet", "gla", "deltanet", "gated_deltanet", "kda", "titans",
                         "ttt_linear", "ttt_mlp", "mesanet"}) {
    CAPTURE(id);
    const Case each = random_case(id, random_sizes);
    const Output output = each.run(Form::recurrent);
    for (const Index token : {0, 4, 8}) {
      const ReadMoments read = read_moments(*each.variant, each.sequence, token);
      CHECK(apart(read.after, output.o.row(token)) <= exact_read);
      CHECK(read.difference() > 0);
    }
  }
}

TEST_CASE("outputs with the order apply_first read the memory before the token's own write", "[reading]") {
  for (const char* id : {"linear", "gla", "deltanet", "kda", "value_decay", "deltaproduct", "titans"}) {
    CAPTURE(id);
    const Case each = random_case(find_variant(id), {.options = {{"order", "apply_first"}}}, random_sizes);
    const Output output = each.run(Form::recurrent);
    for (const Index token : {0, 4, 8})
      CHECK(apart(read_moments(*each.variant, each.sequence, token).before, output.o.row(token)) <=
            exact_read);
  }
}

TEST_CASE("linear attention read before its write lacks (q k) v", "[reading]") {
  const Case each = random_case("linear", random_sizes);
  const ReadMoments read = read_moments(*each.variant, each.sequence, 6);
  const double own = each.sequence.parameter("scale") * each.row("q", 6).row(0).dot(each.row("k", 6).row(0));
  CHECK(apart(read.after - read.before, own * each.row("v", 6)) <= exact_read);
  CHECK(std::abs(read.difference() - (own * each.row("v", 6)).norm() / read.after.norm()) <= exact_read);
}

TEST_CASE("LaCT reads before its batch is written or after it, as it is told", "[reading]") {
  for (const char* order : {"apply_first", "update_first"}) {
    CAPTURE(order);
    const Case each = random_case(
        find_variant("lact"), {.options = {{"order", order}}, .parameters = {{"batch", 3}}}, random_sizes);
    const Output output = each.run(Form::recurrent);
    const bool is_before = std::string_view(order) == "apply_first";
    for (const Index token : {0, 4, 5, 7, 8}) {
      const ReadMoments read = read_moments(*each.variant, each.sequence, token);
      CHECK(apart(is_before ? read.before : read.after, output.o.row(token)) <= exact_read);
      CHECK(read.difference() > 1e-3);
    }
  }
}

TEST_CASE("a rule without a memory says why nothing is read from it", "[reading]") {
  const Case each = random_case("softmax", random_sizes);
  CHECK_THROWS_AS(read_moments(*each.variant, each.sequence, 2), Unsupported);
  const Case linear = random_case("linear", random_sizes);
  CHECK_THROWS_AS(read_moments(*linear.variant, linear.sequence, 9), InputError);
}
