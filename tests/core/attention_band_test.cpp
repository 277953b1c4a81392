// Pictures of what outputs weigh values with, against the whole matrix of weights and a plain softmax.

#include "core/insight/attention_band.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/rules/effective_attention.h"
#include "core/rules/read_order.h"
#include "core/rules/row_rule.h"
#include "tests/catch.h"
#include "tests/core/linear_cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The weight of largest magnitude of row i among columns from .. to-1; 0 if there is none.
double strongest(const Matrix<double>& A, Index i, Index from, Index to, bool no_diagonal) {
  double found = 0;
  for (Index j = from; j < to; ++j) {
    if ((j != i || !no_diagonal) && std::abs(A(i, j)) > std::abs(found)) found = A(i, j);
  }
  return found;
}

/// The same case with reads after the own update, if it is a row program.
Case reading_late(const Case& each) {
  const bool is_row_program = dynamic_cast<const RowRule*>(each.variant->rule.get()) != nullptr;
  if (!is_row_program || !each.settings.options.contains(read_order_option)) return each;
  Settings settings = each.settings;
  settings.options[read_order_option] = reads_after;
  return bound(*each.variant, settings, *each.arrays, each.words);
}

}  // namespace

// The same operations; strips begin elsewhere, so that exp may round the last bit otherwise.
constexpr double rounding_alone = 1e-12;

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
  for (const Case& each : all_cases({.tokens = tokens, .dk = 5, .dv = 3, .seed = 71})) {
    if (!refusal(each).empty()) continue;
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
      const double largest = std::max(1.0, A.cwiseAbs().maxCoeff());
      double error = 0;
      double share_error = 0;
      for (Index row = 0; row < place.rows; ++row) {
        const Index i = place.token(row);
        const double total = A.row(i).cwiseAbs().sum();
        error = std::max(error, std::abs(band.totals(row) - total) / static_cast<double>(tokens));
        error = std::max(
            error, std::abs(band.negative(row) - (total - A.row(i).sum()) / 2) / static_cast<double>(tokens));
        for (Index cell = 0; cell < place.cells(); ++cell) {
          const Index from = place.first_column + cell * place.tokens_per_cell;
          const Index to = std::min(from + place.tokens_per_cell, place.first_column + place.columns);
          const double expected = strongest(A, i, from, to, place.no_diagonal);
          // Of weights that differ by rounding alone either may be the larger.
          error = std::max(error, std::abs(std::abs(band.strongest(row, cell)) - std::abs(expected)));
          share_error = std::max(share_error, std::abs(std::abs(shares(row, cell)) -
                                                       (total > 0 ? std::abs(expected) / total : 0)));
        }
      }
      CHECK(error <= rounding_alone * largest);
      CHECK(share_error <= 1e-9);  // totals may be small beside the largest weight
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("attention band: without the mask every output reads what the last memory answers") {
  constexpr Index tokens = 70;
  int compared = 0;
  for (const Case& each : all_cases({.tokens = tokens, .dk = 4, .dv = 3, .seed = 76})) {
    if (!refusal(each).empty()) continue;
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
    CHECK((A - masked).row(tokens - 1).cwiseAbs().maxCoeff() <= rounding_alone * largest);
    // And every other one reads it with its own query: exchanged with the last one's, it gives its row.
    const Index other = 3;
    Arrays arrays = *each.arrays;
    Array& q = arrays.at("q");
    for (Index channel = 0; channel < each.sequence.dk; ++channel) {
      auto& numbers = std::get<0>(q.values);
      std::swap(numbers[static_cast<std::size_t>(other * each.sequence.dk + channel)],
                numbers[static_cast<std::size_t>((tokens - 1) * each.sequence.dk + channel)]);
    }
    const Case exchanged = bound(*each.variant, late.settings, std::move(arrays), each.words);
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
  for (const Case& each : all_cases({.tokens = 33, .dk = 4, .dv = 3, .seed = 72})) {
    if (!refusal(each).empty()) continue;
    const AttentionBand band =
        attention_band(*each.variant->rule, each.sequence, {.rows = 33, .columns = 33, .channel = 1});
    const Vector<double> sums = shares_of_rows(band).cwiseAbs().rowwise().sum();
    INFO(each.words);
    for (Index row = 0; row < 33; ++row) CHECK((sums(row) == 0 || std::abs(sums(row) - 1) <= 1e-12));
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
  auto arrays = std::make_shared<Arrays>();
  for (const char* name : {"q", "k", "v"}) {
    std::vector<double> numbers(12, 0.5);
    if (std::string_view(name) != "v") numbers[2 * 3] = 1e200;  // of token 2: its own score overflows
    (*arrays)[name] = Array({4, 3}, std::move(numbers));
  }
  const Sequence sequence = bind(find_variant("softmax"), arrays, {}).heads.front();
  const AttentionBand band = attention_band(*find_variant("softmax").rule, sequence,
                                            {.rows = 4, .columns = 4, .tokens_per_cell = 2});
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
  Case each = all_cases({.tokens = 9, .dk = 16, .dv = 3, .seed = 74}).front();
  const auto with_keys = [&](double length) {
    Matrix<double> k = each.sequence.at("k").all<double>();
    auto arrays = std::make_shared<Arrays>();
    k = length * k.rowwise().normalized();
    (*arrays)["k"] = Array({9, 16}, std::vector<double>(k.data(), k.data() + k.size()));
    for (const char* name : {"q", "v"}) {
      const Matrix<double> rows = each.sequence.at(name).all<double>();
      (*arrays)[name] = Array({9, rows.cols()}, std::vector<double>(rows.data(), rows.data() + rows.size()));
    }
    return usual_sharpness(bind(find_variant("softmax"), arrays, {}).heads.front());
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
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(attention_band(rule, each.sequence, {.rows = 9, .columns = 9}, source.get_token()),
                  Cancelled);
}
