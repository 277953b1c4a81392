// The weights of outputs on values against what the engine does with the values.

#include <fmt/format.h>

#include "core/insight/attention_band.h"
#include "core/rules/row_rule.h"
#include "tests/catch.h"
#include "tests/core/golden.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

AttentionWindow whole(const Case& each, Index channel) {
  return {.rows = each.sequence.tokens, .columns = each.sequence.tokens, .channel = channel, .initial = true};
}

EffectiveAttention attention(const Case& each, const AttentionWindow& window) {
  return each.variant->rule->effective_attention(each.sequence, window);
}

/// The initial state of a value channel, [p K, 1]; of softmax the values of the earlier cache.
Matrix<double> initial(const Case& each, Index channel) {
  try {
    return each.variant->rule->channel(each.sequence, channel).initial;
  } catch (const Unsupported&) {
    const Index earlier =
        each.sequence.has("initial_v_cache") ? each.sequence.at("initial_v_cache").rows() : 0;
    return earlier == 0 ? Matrix<double>(0, 1)
                        : Matrix<double>(each.sequence.at("initial_v_cache").all<double>().col(channel));
  }
}

/// A w + A+ v+ + Q0 S_0.
Matrix<double> output(const EffectiveAttention& weights, const WrittenColumns& written,
                      const Matrix<double>& initial) {
  Matrix<double> o = weights.A * written.w + weights.Q0 * initial;
  if (written.v_plain.size() > 0) o += weights.A_plain * written.v_plain;
  return o;
}

double error(const Matrix<double>& got, const Matrix<double>& expected) {
  return compare("o", got, expected).error;
}

/// The cases whose outputs are weighted sums of values.
std::vector<Case> weighing_cases(const RandomCase& random) {
  std::vector<Case> cases = all_cases(random);
  std::erase_if(cases, [](const Case& each) { return !refusal(each).empty(); });
  return cases;
}

}  // namespace

// Both sides are sums of the same products in another order: the rounding of at most 65 tokens.
constexpr double rounding_alone = 1e-10;

TEST_CASE("effective attention: the weights on what is written give the engine's outputs") {
  int compared = 0;
  for (const RandomCase& random : {RandomCase{.tokens = 1, .dk = 5, .dv = 3, .seed = 21},
                                   RandomCase{.tokens = 2, .dk = 5, .dv = 3, .seed = 21},
                                   RandomCase{.tokens = 17, .dk = 5, .dv = 3, .seed = 21},
                                   RandomCase{.tokens = 65, .dk = 5, .dv = 3, .seed = 21},
                                   // Sizes that do not fit the blocks, one channel, one key.
                                   RandomCase{.tokens = 64, .dk = 1, .dv = 4, .seed = 25},
                                   RandomCase{.tokens = 65, .dk = 7, .dv = 1, .seed = 26},
                                   RandomCase{.tokens = 129, .dk = 3, .dv = 8, .seed = 27}}) {
    for (const Case& each : weighing_cases(random)) {
      const Matrix<double> o = each.run(Form::recurrent).o;
      for (const Index channel : std::set<Index>{0, each.sequence.dv - 1}) {
        const EffectiveAttention weights = attention(each, whole(each, channel));
        INFO(each.words << " channel " << channel);
        CHECK(error(output(weights, written(each, channel), initial(each, channel)), o.col(channel)) <=
              rounding_alone);
        ++compared;
      }
    }
  }
  CHECK(compared > 650);
}

TEST_CASE("effective attention: a weight is the answer of an output to a change of a value") {
  for (const Index tokens : {2, 17, 33}) {
    for (const Case& each : weighing_cases({.tokens = tokens, .dk = 4, .dv = 3, .seed = 22})) {
      const Matrix<double> o = each.run(Form::recurrent).o;
      const Index channel = 1;
      const EffectiveAttention weights = attention(each, whole(each, channel));
      const Index steps = weights.rows_per_token;
      for (const Index row : {Index{0}, tokens * steps / 2, tokens * steps - 1}) {
        const Case changed = with_changed(each, "v", row * each.sequence.dv + channel, 1);
        const WrittenColumns before = written(each, channel);
        const WrittenColumns after = written(changed, channel);
        // Only this row writes something else, and only where its own gates let it.
        CHECK(((after.w - before.w).array() != 0).count() +
                  ((after.v_plain - before.v_plain).array() != 0).count() <=
              1);
        const double by = weights.values_are_plain ? after.v_plain(row, 0) - before.v_plain(row, 0)
                                                   : after.w(row, 0) - before.w(row, 0);
        const Matrix<double> answer = changed.run(Form::recurrent).o - o;
        INFO(each.words << " row " << row);
        CHECK((answer.col(channel) - by * weights.on_values().col(row)).cwiseAbs().maxCoeff() <=
              1e-9 * std::max(1.0, answer.cwiseAbs().maxCoeff()));
        // And no other channel heeds it.
        for (const Index other : {0, 2}) CHECK(answer.col(other).cwiseAbs().maxCoeff() == 0);
      }
    }
  }
}

TEST_CASE("effective attention: the matrices are those of an independent implementation") {
  int compared = 0;
  const nlohmann::json manifest = golden_manifest();
  for (const nlohmann::json& entry : manifest["cases"]) {
    const Golden golden = read_golden(entry);
    if (!golden.arrays.contains("A")) continue;
    EffectiveAttention weights = attention(golden.given, whole(golden.given, 0));
    if (weights.denominators.size() > 0) {  // the file has the weights before the division
      weights.A.array().colwise() *= weights.denominators.array();
      weights.Q0.array().colwise() *= weights.denominators.array();
    }
    INFO(golden.given.words);
    const Matrix<double> A = as_matrix(golden.arrays.at("A"));
    if (A.cols() == weights.A.cols()) {
      CHECK(error(weights.A, A) <= rounding_alone);
    } else {  // the file spreads a token's write over more rows
      CHECK(error(weights.A * written(golden.given, 0).w, A * as_matrix(golden.arrays.at("prog_w")).col(0)) <=
            rounding_alone);
    }
    if (golden.arrays.contains("Ax"))
      CHECK(error(weights.A_plain, as_matrix(golden.arrays.at("Ax"))) <= rounding_alone);
    if (golden.arrays.contains("Q0")) {
      const Matrix<double> Q0 = as_matrix(golden.arrays.at("Q0"));
      // The first part is the memory; what else there is began with 0.
      CHECK(error(weights.Q0.leftCols(Q0.cols()), Q0) <= rounding_alone);
    }
    ++compared;
  }
  CHECK(compared > 80);
}

TEST_CASE("effective attention: what refuses is not linear in the values, and says why") {
  std::set<std::string> refused;
  for (const Case& each : all_cases({.tokens = 40, .dk = 4, .dv = 4, .seed = 23})) {
    const std::string reason = refusal(each);
    if (reason.empty()) continue;
    refused.insert(each.variant->id);
    INFO(each.words);
    CHECK_THAT(reason, says("values"));
    const Matrix<double> o = each.run(Form::recurrent).o;
    const auto answer = [&](double by) -> Matrix<double> {
      return with_changed(each, "v", 5, by).run(Form::recurrent).o - o;
    };
    const Matrix<double> once = answer(0.5);
    CHECK((answer(1) - 2 * once).cwiseAbs().maxCoeff() > 1e-6 * once.cwiseAbs().maxCoeff());
  }
  CHECK(refused.size() >= 3);
}

TEST_CASE("effective attention: a window anywhere is a part of the whole") {
  const std::vector<AttentionWindow> windows = {
      {.first_row = 0, .rows = 1, .first_column = 0, .columns = 1},
      {.first_row = 40, .rows = 9, .first_column = 3, .columns = 20},
      {.first_row = 90, .rows = 10, .first_column = 88, .columns = 12},
      {.first_row = 3, .rows = 20, .first_column = 30, .columns = 40},  // above the diagonal
      {.first_row = 99, .rows = 1, .first_column = 0, .columns = 100},
      {.first_row = 0, .rows = 100, .first_column = 63, .columns = 2},
      {.first_row = 50, .rows = 0, .first_column = 10, .columns = 5},
      {.first_row = 64, .rows = 5, .first_column = 100, .columns = 0},
      {.first_row = 2, .rows = 33, .row_step = 3, .first_column = 0, .columns = 100},
      {.first_row = 7, .rows = 14, .row_step = 7, .first_column = 60, .columns = 3},
      {.first_row = 99, .rows = 1, .row_step = 50, .first_column = 90, .columns = 10},
  };
  for (const Case& each : weighing_cases({.tokens = 100, .dk = 5, .dv = 3, .seed = 24})) {
    const EffectiveAttention all = attention(each, whole(each, 1));
    const Index h = all.rows_per_token;
    for (AttentionWindow window : windows) {
      window.channel = 1;
      for (const bool with_initial : {false, true}) {
        window.initial = with_initial;
        const EffectiveAttention part = attention(each, window);
        INFO(each.words << fmt::format(" rows {}+{}, every {}., columns {}+{}", window.first_row, window.rows,
                                       window.row_step, window.first_column, window.columns));
        const auto check_same = [](const Matrix<double>& got, const Matrix<double>& of_all) {
          REQUIRE(got.rows() == of_all.rows());
          REQUIRE(got.cols() == of_all.cols());
          // The same operations; blocks begin elsewhere, so that exp may round the last bit otherwise.
          if (got.size() > 0)
            CHECK((got - of_all).cwiseAbs().maxCoeff() <=
                  1e-12 * std::max(1.0, of_all.cwiseAbs().maxCoeff()));
        };
        const auto rows = Eigen::seqN(window.first_row, window.rows, window.row_step);
        const auto in_window = [&](const Matrix<double>& weights) -> Matrix<double> {
          return weights(rows, Eigen::seqN(window.first_column * h, window.columns * h));
        };
        check_same(part.A, in_window(all.A));
        if (all.A_plain.size() > 0) check_same(part.A_plain, in_window(all.A_plain));
        if (with_initial) check_same(part.Q0, all.Q0(rows, Eigen::all));
        if (all.denominators.size() > 0) check_same(part.denominators, all.denominators(rows));
      }
    }
  }
}

TEST_CASE("effective attention: divided weights and the cache add up to 1 where all weights do") {
  const Case softmax = random_case("softmax", {.tokens = 17, .initial_state = true});
  const EffectiveAttention cached = attention(softmax, whole(softmax, 0));
  CHECK(cached.Q0.cols() == 5);
  CHECK((cached.A.rowwise().sum() + cached.Q0.rowwise().sum()).isOnes(1e-12));
  const Case kernel = random_case("kernel", {.tokens = 17});
  CHECK(attention(kernel, whole(kernel, 0)).A.rowwise().sum().isOnes(1e-12));
}

TEST_CASE("effective attention: the steps of a token are added up") {
  Matrix<double> A(1, 6);
  A << 1, 2, 3, 4, 5, 6;
  const EffectiveAttention weights{.rows_per_token = 3, .A = A};
  CHECK(weights.on_tokens() == (Matrix<double>(1, 2) << 6, 15).finished());
}

TEST_CASE("effective attention: a window outside the sequence is refused by name, and stops when asked to") {
  const Case each = random_case("gated_deltanet", {.tokens = 17});
  CHECK_THROWS_WITH(attention(each, {.first_row = 10, .rows = 8}), says("8 rows from 10") && says("0 .. 16"));
  CHECK_THROWS_WITH(attention(each, {.first_column = -1, .columns = 2}), says("2 columns from -1"));
  CHECK_THROWS_WITH(attention(each, {.rows = 1, .columns = 1, .channel = 7}),
                    says("value channel 7") && says("0 .. 6"));
  CHECK_THROWS_AS(attention(each, {.rows = -1}), InputError);
  CHECK_THROWS_AS(each.variant->rule->effective_attention(each.sequence, whole(each, 0), stopped()),
                  Cancelled);
}

TEST_CASE("effective attention: the comparison with the engine notices a fault") {
  int noticed = 0;
  for (const Case& each : weighing_cases({.tokens = 17, .dk = 5, .dv = 3, .seed = 28})) {
    const Matrix<double> o = each.run(Form::recurrent).o;
    for (const auto& [array, values] : *each.arrays) {
      const bool per_token = array != "v" && values.shape.front() == 17;
      if (!per_token || array == "g" || array == "alpha") continue;  // a gate may be 0 after the one changed
      const Case off = with_changed(each, array, values.size() / 2, 1e-3);
      // A feature map may not see the change: relu of a negative number. A gate on what is written is no part
      // of the weights.
      if (error(off.run(Form::recurrent).o.col(1), o.col(1)) <= 1e-7) continue;
      if (written(off, 1).w != written(each, 1).w) continue;
      INFO(off.words);
      CHECK(error(output(attention(off, whole(off, 1)), written(each, 1), initial(each, 1)), o.col(1)) >
            1e-7);
      ++noticed;
    }
  }
  CHECK(noticed > 250);
}

// Pictures of what outputs weigh values with, against the whole matrix of weights and a plain softmax.

namespace {

/// The weight of largest magnitude of row i among columns from .. to-1; 0 if there is none.
double strongest(const Matrix<double>& A, Index i, Index from, Index to, bool no_diagonal) {
  double found = 0;
  for (Index j = from; j < to; ++j) {
    if ((j != i || !no_diagonal) && std::abs(A(i, j)) > std::abs(found)) found = A(i, j);
  }
  return found;
}

/// The largest difference of two matrices; 0 of empty ones.
double band_error(const Matrix<double>& got, const Matrix<double>& expected) {
  return (got - expected).lpNorm<Eigen::Infinity>();
}

/// The same case with reads after the own update, if it is a row program.
Case reading_late(const Case& each) {
  if (!each.variant->rule->row_program() || !each.settings.options.contains(read_order_option)) return each;
  Settings settings = each.settings;
  settings.options[read_order_option] = reads_after;
  return bound(*each.variant, settings, *each.arrays, each.words);
}

}  // namespace

// The same operations; strips begin elsewhere, so that exp may round the last bit otherwise.
constexpr double rounding_of_strips = 1e-12;

TEST_CASE("attention band: cells have the strongest weight, rows their sum") {
  constexpr Index tokens = 131;  // more than two strips of 64 rows
  const std::vector<BandPlace> places = {
      {.rows = tokens, .columns = tokens, .channel = 1},
      {.first_row = 3, .rows = 43, .row_step = 3, .columns = tokens, .tokens_per_cell = 7, .channel = 1},
      {.first_row = 60, .rows = 71, .first_column = 50, .columns = 23, .tokens_per_cell = 4, .channel = 2},
      {.first_row = 0, .rows = 5, .first_column = 100, .columns = 31, .tokens_per_cell = 31},  // above
      {.first_row = 130, .rows = 1, .columns = 1},
      {.rows = tokens, .columns = tokens, .tokens_per_cell = 3, .channel = 1, .no_diagonal = true},
      {.first_row = 7, .rows = 0, .columns = 9},
  };
  int compared = 0;
  for (const Case& each : weighing_cases({.tokens = tokens, .dk = 5, .dv = 3, .seed = 71})) {
    const Rule& rule = *each.variant->rule;
    for (const BandPlace& place : places) {
      const Matrix<double> A =
          rule.effective_attention(each.sequence,
                                   {.rows = tokens, .columns = tokens, .channel = place.channel})
              .on_tokens();
      const AttentionBand band = attention_band(rule, each.sequence, place);
      const Matrix<double> shares = shares_of_rows(band);
      INFO(each.words << fmt::format(" rows {}+{}*{}", place.first_row, place.rows, place.row_step));
      REQUIRE(band.strongest.rows() == place.rows);
      REQUIRE(band.strongest.cols() == place.cells());
      const Matrix<double> read = A(Eigen::seqN(place.first_row, place.rows, place.row_step), Eigen::all);
      const Vector<double> totals = read.cwiseAbs().rowwise().sum();
      const Vector<double> negative = (totals - read.rowwise().sum()) / 2;
      Matrix<double> expected(place.rows, place.cells());
      for (Index row = 0; row < place.rows; ++row) {
        for (Index cell = 0; cell < place.cells(); ++cell) {
          const Index from = place.first_column + cell * place.tokens_per_cell;
          const Index to = std::min(from + place.tokens_per_cell, place.first_column + place.columns);
          expected(row, cell) = std::abs(strongest(A, place.token(row), from, to, place.no_diagonal));
        }
      }
      const double allowed = rounding_of_strips * std::max(1.0, A.cwiseAbs().maxCoeff());
      CHECK(band_error(band.totals, totals) <= tokens * allowed);
      CHECK(band_error(band.negative, negative) <= tokens * allowed);
      // Of weights that differ by rounding alone either may be the larger.
      CHECK(band_error(band.strongest.cwiseAbs(), expected) <= allowed);
      // Totals may be small beside the largest weight.
      const Vector<double> divisors = (totals.array() > 0).select(totals, 1);
      CHECK(band_error(shares.cwiseAbs(), divisors.cwiseInverse().asDiagonal() * expected) <= 1e-9);
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("attention band: without the mask every output reads what the last memory answers") {
  constexpr Index tokens = 70;
  int compared = 0;
  for (const Case& each : weighing_cases({.tokens = tokens, .dk = 4, .dv = 3, .seed = 76})) {
    const Rule& rule = *each.variant->rule;
    const BandPlace place{.rows = tokens, .columns = tokens, .channel = 1, .no_mask = true};
    INFO(each.words);
    Matrix<double> A;
    try {
      A = attention_band(rule, each.sequence, place).strongest;
    } catch (const Unsupported& reason) {
      CHECK_THAT(reason.what(), says("mask"));
      continue;
    }
    // The last output reads that memory in any case, but where reads come before their own update.
    const Case late = reading_late(each);
    const Matrix<double> masked =
        attention_band(rule, late.sequence, {.rows = tokens, .columns = tokens, .channel = 1}).strongest;
    const double largest = std::max(1.0, A.cwiseAbs().maxCoeff());
    CHECK((A - masked).row(tokens - 1).cwiseAbs().maxCoeff() <= rounding_of_strips * largest);
    // And every other one reads it with its own query: exchanged with the last one's, it gives its row.
    const Index other = 3;
    const Case exchanged = changed(late, [&](Arrays& arrays) {
      const auto rows = numbers(arrays, "q").begin();
      std::swap_ranges(rows + other * 4, rows + other * 4 + 4, rows + (tokens - 1) * 4);
    });
    const Matrix<double> of_other =
        attention_band(rule, exchanged.sequence,
                       {.first_row = tokens - 1, .rows = 1, .columns = tokens, .channel = 1})
            .strongest;
    Vector<double> difference = (A.row(other) - of_other.row(0)).transpose();
    difference(other) = 0;  // what an output takes of its own value past the memory
    difference(tokens - 1) = 0;
    CHECK(difference.cwiseAbs().maxCoeff() <= 1e-9 * largest);
    ++compared;
  }
  CHECK(compared > 60);
}

TEST_CASE("attention band: all shares of a row add up to one") {
  for (const Case& each : weighing_cases({.tokens = 33, .dk = 4, .dv = 3, .seed = 72})) {
    const AttentionBand band =
        attention_band(*each.variant->rule, each.sequence, {.rows = 33, .columns = 33, .channel = 1});
    const Vector<double> sums = shares_of_rows(band).cwiseAbs().rowwise().sum();
    INFO(each.words);
    for (const double sum : sums) CHECK((sum == 0 || std::abs(sum - 1) <= 1e-12));
  }
}

TEST_CASE("attention band: softmax beside a rule is softmax of its queries and keys") {
  for (const double sharpness : {0.0, 0.5, 8.0}) {
    const Case each = all_cases({.tokens = 19, .dk = 5, .dv = 3, .seed = 73}).front();
    const Sequence beside = softmax_beside(each.sequence, sharpness);
    const AttentionBand band =
        attention_band(*find_variant("softmax").rule, beside, {.rows = 19, .columns = 19});
    const Matrix<double> q = each.sequence.at("q").all<double>();
    const Matrix<double> k = each.sequence.at("k").all<double>();
    for (Index i = 0; i < 19; ++i) {
      double sum = 0;
      for (Index j = 0; j <= i; ++j) sum += std::exp(sharpness * q.row(i).dot(k.row(j)));
      for (Index j = 0; j < 19; ++j) {
        const double expected = j <= i ? std::exp(sharpness * q.row(i).dot(k.row(j))) / sum : 0;
        CHECK(std::abs(band.strongest(i, j) - expected) <= 1e-14);
      }
      CHECK(std::abs(band.totals(i) - 1) <= 1e-14);
      CHECK(band.negative(i) == 0);
    }
  }
}

TEST_CASE("attention band: what is no number is shown as such, and takes its row's shares along") {
  const Array halves = filled({4, 3}, 0.5);
  Array huge = halves;
  std::get<0>(huge.own_values())[2 * 3] = 1e200;  // of token 2: its own score overflows
  const Case each = bound(find_variant("softmax"), {}, {{"q", huge}, {"k", huge}, {"v", halves}});
  const AttentionBand band =
      attention_band(*each.variant->rule, each.sequence, {.rows = 4, .columns = 4, .tokens_per_cell = 2});
  const Matrix<double> shares = shares_of_rows(band);
  for (const Index row : {0, 1}) {
    CHECK(band.strongest.row(row).allFinite());
    CHECK(shares.row(row).allFinite());
  }
  CHECK(std::isnan(band.strongest(2, 1)));
  CHECK(std::isnan(shares(2, 1)));
  CHECK_FALSE(std::isfinite(band.totals(2)));
}

TEST_CASE("attention band: the usual sharpness of keys of length one and of others") {
  const Case each = random_case("softmax", {.tokens = 9, .dk = 16, .dv = 3, .seed = 74});
  const auto with_keys = [&](double length) {
    const Matrix<double> k = length * each.sequence.at("k").all<double>().rowwise().normalized();
    return usual_sharpness(with(each, {{"k", array_of(k, {9, 16})}}).sequence);
  };
  CHECK(with_keys(1) == 4);
  CHECK(with_keys(1.0005) == 4);
  CHECK(with_keys(1.1) == 0.25);
}

TEST_CASE("attention band: a row that stands for several has the strongest of each column") {
  const double none = std::nan("");
  Matrix<double> numbers(5, 3);
  numbers << 1, -2, 0,  //
      -3, none, 0,      //
      2, 9, 0,          //
      0.5, 4, -1e-300,  //
      -4, 4, none;
  const Matrix<double> of_three = strongest_of_rows(numbers, 3);
  REQUIRE(of_three.rows() == 2);
  CHECK(of_three(0, 0) == -3);
  CHECK(std::isnan(of_three(0, 1)));  // a number that comes later does not hide it
  CHECK(of_three(0, 2) == 0);
  CHECK(of_three(1, 0) == -4);
  CHECK(of_three(1, 1) == 4);
  CHECK(std::isnan(of_three(1, 2)));
  CHECK(strongest_of_rows(numbers, 4)(0, 2) == -1e-300);
  CHECK(strongest_of_rows(numbers.topRows(0), 4).rows() == 0);
  CHECK_THROWS_WITH(strongest_of_rows(numbers, 0), says("0 rows per cell"));
}

TEST_CASE("attention band: what cannot be shown is refused by name") {
  const Case each = all_cases({.tokens = 9, .dk = 4, .dv = 3, .seed = 75}).front();
  const Rule& rule = *each.variant->rule;
  CHECK_THROWS_WITH(attention_band(rule, each.sequence, {.rows = 9, .columns = 9, .tokens_per_cell = 0}),
                    says("0 tokens per cell"));
  CHECK_THROWS_WITH(attention_band(rule, each.sequence, {.first_row = 5, .rows = 5}), says("5 rows from 5"));
  CHECK_THROWS_WITH(attention_band(rule, each.sequence, {.rows = 2, .row_step = 0}), says("every 0-th"));
  CHECK_THROWS_WITH(attention_band(rule, each.sequence, {.rows = 5, .row_step = 1 << 30}), says("9 tokens"));
  CHECK_THROWS_AS(softmax_beside(each.sequence, std::nan("")), InputError);
  CHECK_THROWS_AS(attention_band(rule, each.sequence, {.rows = 9, .columns = 9}, stopped()), Cancelled);
}
