// What Attend shows: the weights of the engine, shares of them, and what became of the words that are read.

#include "app/session/attention_questions.h"

#include <fmt/format.h>

#include <cmath>

#include "app/session/inputs.h"
#include "core/base/error.h"
#include "core/operator/channel.h"
#include "core/rules/effective_attention.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Found<RowOfWeights> row_at(const std::shared_ptr<Computation>& computation, Index token) {
  return find_out(RowAtToken{.of = computation, .token = token});
}

constexpr const char* small_overwrite = "preset:overwrite?T=21&K=5&V=3&seed=4";

/// A head of random inputs with everything that a rule takes, gates of every channel too.
std::pair<std::shared_ptr<const DataSet>, Choice> own_data(const Variant& variant, Index tokens) {
  Choice choice{{.variant = variant.id}};
  if (variant.id == "deltaproduct")  // several keys a token: no file of heads holds them
    return {shared(open_data(fmt::format("preset:random?T={}&K=4&V=3", tokens))), choice};
  choice.settings = random_settings(variant, {}, 1);
  const VerifyCase made{
      .variant = &variant,
      .given = choice.settings,
      .random = fitted(variant, choice.settings, {.tokens = tokens, .dk = 4, .dv = 3, .seed = 5})};
  return {shared(data_of_case(made)), choice};
}

/// What the rows of a value channel write, a token's rows alike: v itself for most rules.
Matrix<double> written_values(const Computation& computation, Index channel) {
  const Sequence& sequence = computation.sequence;
  try {
    const Program<double> rows =
        computation.variant->rule->channel(sequence, channel).rows(0, sequence.tokens);
    REQUIRE(rows.v.rows() == sequence.tokens);
    const bool is_plain = rows.structure.plain_write && !rows.structure.writes_value;
    if (rows.structure.plain_write && !is_plain) REQUIRE(rows.v_plain.isZero(0));
    return is_plain ? rows.v_plain : rows.v;
  } catch (const Unsupported&) {  // softmax has no memory with channels
    return sequence.at("v").all<double>().col(channel);
  }
}

/// The parts that Attend asks for of a block on the screen, and what weights times values give of the
/// outputs.
struct Tiles {
  const Computation& computation;
  AttentionPart key;
  Matrix<double> outputs = {};
  Index rows = 0;

  void add(BandPlace place, const Matrix<double>& values, const Matrix<double>& expected) {
    place.channel = key.place.channel;
    key.place = place;
    const auto part = find_out(key);
    REQUIRE(place.tokens_per_cell == 1);
    const Matrix<double> columns = values.middleRows(place.first_column, place.columns);
    const Matrix<double> read = part->weights * columns;
    // Shares are the weights on another scale, a whole row's together 1.
    const Vector<double> of_weights = part->weights.rowwise().lpNorm<1>();
    const Vector<double> of_shares = part->shares.rowwise().lpNorm<1>();
    const Matrix<double> apart =
        of_weights.asDiagonal() * part->shares - of_shares.asDiagonal() * part->weights;
    CHECK(apart.cwiseAbs().maxCoeff() <= 1e-12 * std::max(1.0, of_weights.maxCoeff()));
    for (Index row = 0; row < place.rows && place.columns == values.rows(); ++row)
      REQUIRE(std::abs(of_shares(row) - (of_weights(row) == 0 ? 0 : 1)) <= 1e-12);
    for (Index row = 0; row < place.rows; ++row) outputs.row(place.token(row)) += read.row(row);
    rows += place.rows;
    if (place.columns < values.rows()) return;  // the rest of these rows stands in other blocks
    for (Index row = 0; row < place.rows; ++row)
      REQUIRE(std::abs(read(row) - expected(place.token(row))) <=
              1e-9 * std::max(1.0, expected.cwiseAbs().maxCoeff()));
  }
};

}  // namespace

TEST_CASE(
    "attention answers: weights times values give the outputs tile by tile, for every rule that has them") {
  constexpr Index tokens = 530;  // coarse at first, then in three strips
  constexpr Index pixels = 640;
  int rules = 0;
  for (const Variant& variant : variants()) {
    const auto [data, choice] = own_data(variant, tokens);
    const auto computation = begin(data, choice);
    for (const bool gates_are_1 : {false, true}) {
      const auto facts = find_out(FactsOfAttention{computation});
      if (!facts->reason.empty() || (gates_are_1 && !facts->has_gates)) continue;
      INFO(variant.id << (gates_are_1 ? " with gates of 1" : ""));
      if (gates_are_1 && variant.id == "retnet") continue;  // no array: compared with linear below
      Choice stays = choice;
      stays.edits = {{.kind = "scale_decay", .numbers = {0}}};
      const auto read = gates_are_1 ? begin(data, stays) : computation;
      const Index channel = 1;
      const Matrix<double> values = written_values(*read, channel);
      const Matrix<double> expected = read->reference->expected().o.col(channel);
      const auto tiles = [&] {
        Tiles made{*computation, {.of = computation}, Matrix<double>::Zero(tokens, 1)};
        made.key.reading.gates_are_1 = gates_are_1;
        made.key.place.channel = channel;
        return made;
      };
      const AttentionParts whole = attention_parts({.count = tokens}, tokens, pixels, 300);
      REQUIRE(whole.coarse);
      REQUIRE(whole.fine.size() == 3);
      Tiles coarse = tiles();
      coarse.add(*whole.coarse, values, expected);
      CHECK(coarse.rows > 100);
      Tiles fine = tiles();
      for (const BandPlace& place : whole.fine) fine.add(place, values, expected);
      CHECK(fine.rows == tokens);
      // Zoomed in, four blocks side by side are the whole.
      Tiles zoomed = tiles();
      for (const Index row : {Index{0}, tokens / 2}) {
        for (const Index column : {Index{0}, tokens / 2}) {
          const AttentionBlock block{row, column, tokens / 2};
          const AttentionParts parts = attention_parts(block, tokens, pixels, 300);
          CHECK_FALSE(parts.coarse);
          for (const BandPlace& place : parts.fine) zoomed.add(place, values, expected);
        }
      }
      CHECK(zoomed.rows == 2 * tokens);
      CHECK((zoomed.outputs - expected).cwiseAbs().maxCoeff() <=
            1e-9 * std::max(1.0, expected.cwiseAbs().maxCoeff()));
      if (!gates_are_1) ++rules;
    }
  }
  CHECK(rules >= 25);
}

TEST_CASE("attention answers: a large block comes coarsely at first, then the rows around the cursor") {
  const AttentionParts parts = attention_parts({.count = 4096}, 4096, 640, 3000);
  REQUIRE(parts.coarse);
  CHECK(parts.coarse->row_step == 32);
  CHECK(parts.coarse->rows == 128);
  CHECK(parts.coarse->tokens_per_cell == 6);
  CHECK(parts.coarse->columns == 4096);
  CHECK(parts.rows_per_cell == 6);
  REQUIRE(parts.fine.size() == 16);
  CHECK(parts.fine.back().first_row == 2816);  // asked for last, and so answered first
  CHECK(parts.fine.front().first_row == 0);
  const AttentionParts few = attention_parts({.first_row = 40, .first_column = 30, .count = 8}, 100, 640, 3);
  CHECK_FALSE(few.coarse);
  REQUIRE(few.fine.size() == 1);
  CHECK(few.fine.front().tokens_per_cell == 1);
  CHECK(few.rows_per_cell == 1);
}

TEST_CASE(
    "attention answers: of a long text as many rows are kept as there are pixels, and none is passed over") {
  for (const Index tokens : {513, 1283, 9001, 100'003, 1'000'003}) {
    for (const Index pixels : {1, 120, 411, 640, 1800}) {
      const Index half = tokens / 2;
      for (const AttentionBlock& block :
           {AttentionBlock{.count = tokens},
            AttentionBlock{.first_row = tokens - half, .first_column = 7, .count = half}}) {
        CAPTURE(tokens, pixels, block.count);
        const AttentionParts parts = attention_parts(block, tokens, pixels, tokens / 3);
        std::vector<BandPlace> fine = parts.fine;
        std::ranges::sort(fine, {}, &BandPlace::first_row);
        const Index per_pixel = std::max<Index>(block.count / pixels, 1);
        Index computed = 0;
        Index next = block.first_row;
        for (const BandPlace& place : fine) {
          CHECK(place.first_row == next);  // without a gap
          CHECK(place.cells() <= 2 * pixels);
          if (per_pixel <= 16) CHECK(place.row_step == 1);
          computed += place.rows;
          next = place.token(place.rows);
        }
        CHECK(parts.rows_per_cell * fine.front().row_step <= per_pixel);
        CHECK(parts.rows_per_cell >= std::min<Index>(per_pixel, 8));
        CHECK(computed <= std::min<Index>(block.count, 2 * 16 * pixels));
        CHECK(computed / parts.rows_per_cell <= 4 * pixels);
        const auto reaches_the_end = [&](const BandPlace& last) {
          return last.token(last.rows - 1) < block.first_row + block.count &&
                 last.token(last.rows) >= block.first_row + block.count;
        };
        CHECK(reaches_the_end(fine.back()));
        if (!parts.coarse) continue;
        CHECK(parts.coarse->rows <= 2 * 128);
        CHECK(reaches_the_end(*parts.coarse));
      }
    }
  }
}

TEST_CASE(
    "attention answers: where a pixel stands for several words it shows the strongest of their weights") {
  constexpr Index tokens = 1283;
  const auto computation = begun("gated_deltanet", "preset:random?T=1283&K=5&V=3&seed=6");
  const Matrix<double> A =
      computation->variant->rule
          ->effective_attention(computation->sequence, {.rows = tokens, .columns = tokens})
          .on_tokens();
  const Matrix<double> shares = A.rowwise().lpNorm<1>().cwiseInverse().asDiagonal() * A;
  const AttentionParts parts = attention_parts({.count = tokens}, tokens, 200, 700);
  REQUIRE(parts.rows_per_cell == 6);
  const double largest = A.cwiseAbs().maxCoeff();
  Index rows = 0;
  for (const BandPlace& place : parts.fine) {
    const auto part =
        find_out(AttentionPart{.of = computation, .place = place, .rows_per_cell = parts.rows_per_cell});
    REQUIRE(part->weights.rows() == (place.rows + 5) / 6);
    for (Index row = 0; row < part->weights.rows(); ++row) {
      const Index first = place.first_row + 6 * row;
      const Index height = std::min<Index>(6, place.first_row + place.rows - first);
      rows += height;
      for (Index cell = 0; cell < place.cells(); ++cell) {
        const Index width = std::min<Index>(6, tokens - cell * 6);
        const auto strongest = [&](const Matrix<double>& of) {
          return of.block(first, cell * 6, height, width).cwiseAbs().maxCoeff();
        };
        // The strip's queries are carried back together: sums in another order.
        REQUIRE(std::abs(std::abs(part->weights(row, cell)) - strongest(A)) <= 1e-12 * largest);
        REQUIRE(std::abs(std::abs(part->shares(row, cell)) - strongest(shares)) <= 1e-12);
      }
    }
  }
  CHECK(rows == tokens);
}

TEST_CASE("attention answers: a row has the words with the largest weights, and what became of each") {
  const auto computation = begun("gated_deltanet", overwriting_capture);
  const auto row = row_at(computation, 63);
  REQUIRE(row->reason.empty());
  REQUIRE(row->weights.size() == computation->sequence.tokens);
  const Matrix<double> A =
      computation->variant->rule
          ->effective_attention(computation->sequence,
                                {.first_row = 63, .rows = 1, .columns = computation->sequence.tokens})
          .on_tokens();
  CHECK((row->weights.transpose() - A.row(0)).cwiseAbs().maxCoeff() <= 1e-15);
  CHECK(std::abs(row->total - A.cwiseAbs().sum()) <= 1e-14 * row->total);
  REQUIRE(row->words.size() == 5);
  double least = 1;
  for (const ReadWord& word : row->words) {
    CHECK(word.token < 63);
    CHECK(std::abs(word.share - A(0, word.token) / A.cwiseAbs().sum()) <= 1e-14);
    CHECK(std::abs(word.share) <= least);  // in their order
    least = std::abs(word.share);
    REQUIRE(word.left);
    CHECK(std::ssize(word.left->shares) == 63 - word.token + 1);
  }
  for (Index t = 0; t < 63; ++t) {
    const bool is_read = std::ranges::count(row->words, t, &ReadWord::token) > 0;
    if (!is_read) CHECK(std::abs(A(0, t)) / A.cwiseAbs().sum() <= least);
  }
  CHECK(std::abs(row->softmax_weights.sum() - 1) <= 1e-14);
  // The red jar's key is erased by the drum.
  CHECK(row->words.front().token == 42);
  const auto key = std::ranges::find(row->words, 6, &ReadWord::token);
  REQUIRE(key != row->words.end());
  CHECK(key->left->lost_most_at == 42);
  CHECK(key->left->is_erased);
  CHECK(key->left->shares.back() < key->left->shares.front());
}

TEST_CASE("attention answers: what softmax reads most is told also where the rule reads other words") {
  // The second half asks for what the first half wrote; the gates have forgotten it long before.
  const auto computation = begun("gated_deltanet", "preset:random?T=300&K=16&V=4&seed=1");
  const auto row = row_at(computation, 160);
  Index most = 0;
  row->softmax_weights.head(160).maxCoeff(&most);
  CHECK(row->softmax_most == most);
  CHECK(std::ranges::count(row->words, most, &ReadWord::token) == 0);
  CHECK(row_at(computation, 0)->softmax_most == -1);
}

TEST_CASE("attention answers: of a row that only adds nothing subtracts, not even -0") {
  const auto computation = begun("softmax", overwriting_capture);
  const auto row = row_at(computation, 63);
  CHECK(row->subtracts == 0);
  CHECK_FALSE(std::signbit(row->subtracts));
}

TEST_CASE("attention answers: without gates a rule is computed as if nothing faded") {
  // Plain linear attention is RetNet whose gamma is 1.
  const auto retnet = begun("retnet", small_overwrite);
  const auto linear = begun("linear", small_overwrite);
  const auto whole = [](const std::shared_ptr<Computation>& of, bool gates_are_1) {
    return find_out(AttentionPart{
        .of = of, .reading = {.gates_are_1 = gates_are_1}, .place = {.rows = 21, .columns = 21}});
  };
  const auto with_gates = whole(retnet, false);
  const auto without = whole(retnet, true);
  const auto expected = whole(linear, false);
  CHECK((without->weights - expected->weights).cwiseAbs().maxCoeff() <= 1e-14);
  CHECK((with_gates->weights - expected->weights).cwiseAbs().maxCoeff() > 1e-3);
  // And where an array holds the gates they are set to 1, as the slider does it.
  const auto gated = begun("gated_deltanet", small_overwrite);
  const auto stays = begun(Choice{{}, 0, {{.kind = "scale_decay", .numbers = {0}}}}, small_overwrite);
  CHECK(whole(gated, true)->weights == whole(stays, false)->weights);
}

TEST_CASE("attention answers: a rule without weights says why, and softmax still has some") {
  const auto computation = begun("ttt_mlp", small_overwrite);
  const auto facts = find_out(FactsOfAttention{computation});
  CHECK_THAT(facts->reason, says("values"));
  const auto row = row_at(computation, 20);
  CHECK(row->reason == facts->reason);
  CHECK(row->weights.size() == 0);
  CHECK(row->words.size() == 5);
  CHECK(std::abs(row->softmax_weights.sum() - 1) <= 1e-14);
}

TEST_CASE("attention answers: without a mask later words are read, of whose writes nothing is left yet") {
  const Choice choice{{.variant = "linear", .settings = {.options = {{"causal", "false"}}}}};
  const auto row = row_at(begun(choice, small_overwrite), 0);
  CHECK(row->words.size() == 5);
  for (const ReadWord& word : row->words) {
    CHECK(word.token > 0);
    CHECK_FALSE(word.left);
  }
}

TEST_CASE("attention answers: the first word reads none before it") {
  for (const char* variant : {"linear", "gated_deltanet", "softmax", "ttt_mlp"}) {
    const auto row = row_at(begun(variant, "preset:random?T=1&K=1&V=1&seed=1"), 0);
    CHECK(row->words.empty());
    CHECK(row->softmax_weights.size() == 1);
  }
}

TEST_CASE("attention answers: facts about a rule") {
  const auto facts = [](const char* variant, const char* data = small_overwrite) {
    return *find_out(FactsOfAttention{begun(variant, data)});
  };
  CHECK(facts("value_decay").by_channel);
  CHECK_FALSE(facts("gla").by_channel);
  CHECK(facts("gla").has_gates);
  CHECK_FALSE(facts("deltanet").has_gates);
  CHECK(facts("gated_deltanet", overwriting_capture).usual_sharpness == 8);
}
