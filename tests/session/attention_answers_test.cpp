// What Attend shows: the weights of the engine, shares of them, and what became of the words that are read.

#include "app/session/attention_answers.h"

#include <cmath>

#include "core/rules/effective_attention.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::shared_ptr<Computation> begun(const std::string& variant, const std::string& data, Edits edits = {}) {
  Choice choice;
  choice.variant = variant;
  choice.edits = std::move(edits);
  return begin(std::make_shared<const DataSet>(open_data(data)), choice);
}

template <class Key>
Key about(const std::shared_ptr<Computation>& computation) {
  Key key;
  key.of = computation;
  return key;
}

constexpr const char* overwrite = "capture:gated_deltanet_overwrite_l1";
constexpr const char* small = "preset:overwrite?T=21&K=5&V=3&seed=4";

}  // namespace

TEST_CASE("attention answers: weights times values are the outputs, whatever part is asked for") {
  // Rules whose rows write the values themselves: then weights on values and on writes are the same.
  for (const char* variant : {"linear", "retnet", "scalar_decay", "gla", "softmax", "fox", "longhorn"}) {
    const auto computation = begun(variant, small);
    const Matrix<double> v = computation->sequence.at("v").all<double>();
    const Matrix<double> o = computation->reference->expected().o;
    const bool erases = std::string_view(variant) == "longhorn";
    for (const Index first : {0, 7, 20}) {
      auto key = about<AttentionPart>(computation);
      key.place = {.first_row = first, .rows = std::min<Index>(8, 21 - first), .columns = 21};
      const auto part = key.compute({});
      INFO(variant << " rows from " << first);
      REQUIRE(part->band.strongest.rows() == key.place.rows);
      if (erases) continue;  // u, not v, is what it writes: the rule's own test compares that
      const Matrix<double> read = part->band.strongest * v;
      CHECK((read - o.middleRows(first, key.place.rows)).cwiseAbs().maxCoeff() <= 1e-9);
    }
  }
}

TEST_CASE("attention answers: a row has the words with the largest weights, the own one apart") {
  const auto computation = begun("gated_deltanet", overwrite);
  auto key = about<RowAtToken>(computation);
  key.token = 63;
  const auto row = key.compute({});
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
    const bool is_read =
        std::ranges::any_of(row->words, [&](const ReadWord& word) { return word.token == t; });
    if (!is_read) CHECK(std::abs(A(0, t)) / A.cwiseAbs().sum() <= least);
  }
  CHECK(std::abs(row->softmax_weights.sum() - 1) <= 1e-14);
}

TEST_CASE("attention answers: of a row that only adds nothing subtracts, not even -0") {
  const auto computation = begun("softmax", overwrite);
  auto key = about<RowAtToken>(computation);
  key.token = 63;
  const auto row = key.compute({});
  CHECK(row->subtracts == 0);
  CHECK_FALSE(std::signbit(row->subtracts));
}

TEST_CASE("attention answers: the red jar's key is erased by the drum") {
  const auto computation = begun("gated_deltanet", overwrite);
  auto key = about<RowAtToken>(computation);
  key.token = 63;
  const auto row = key.compute({});
  const auto find = [&](Index token) { return std::ranges::find(row->words, token, &ReadWord::token); };
  REQUIRE(find(42) != row->words.end());
  REQUIRE(find(6) != row->words.end());
  CHECK(find(42) == row->words.begin());
  const LeftOfWrite& of_key = *find(6)->left;
  CHECK(of_key.lost_most_at == 42);
  CHECK(of_key.is_erased);
  CHECK(of_key.shares.back() < of_key.shares.front());
}

TEST_CASE("attention answers: without gates a rule is computed as if nothing faded") {
  // Plain linear attention is RetNet whose gamma is 1.
  const auto retnet = begun("retnet", small);
  const auto linear = begun("linear", small);
  auto key = about<AttentionPart>(retnet);
  key.place = {.rows = 21, .columns = 21};
  const auto with_gates = key.compute({});
  key.reading.gates_are_1 = true;
  const auto without = key.compute({});
  auto plain = about<AttentionPart>(linear);
  plain.place = key.place;
  const auto expected = plain.compute({});
  CHECK((without->band.strongest - expected->band.strongest).cwiseAbs().maxCoeff() <= 1e-14);
  CHECK((with_gates->band.strongest - expected->band.strongest).cwiseAbs().maxCoeff() > 1e-3);
  // And where an array holds the gates they are set to 1, as the slider does it.
  const auto gated = begun("gated_deltanet", small);
  const auto stays = begun("gated_deltanet", small, {{.kind = "scale_decay", .numbers = {0}}});
  auto of_gated = about<AttentionPart>(gated);
  of_gated.place = key.place;
  of_gated.reading.gates_are_1 = true;
  auto of_stays = about<AttentionPart>(stays);
  of_stays.place = key.place;
  CHECK(of_gated.compute({})->band.strongest == of_stays.compute({})->band.strongest);
}

TEST_CASE("attention answers: a rule without weights says why, and softmax still has some") {
  const auto computation = begun("ttt_mlp", small);
  const auto facts = about<FactsOfAttention>(computation).compute({});
  CHECK_THAT(facts->reason, says("values"));
  auto key = about<RowAtToken>(computation);
  key.token = 20;
  const auto row = key.compute({});
  CHECK(row->reason == facts->reason);
  CHECK(row->weights.size() == 0);
  CHECK(row->words.size() == 5);
  CHECK(std::abs(row->softmax_weights.sum() - 1) <= 1e-14);
}

TEST_CASE("attention answers: the first word reads none before it") {
  for (const char* variant : {"linear", "gated_deltanet", "softmax", "ttt_mlp"}) {
    const auto row = about<RowAtToken>(begun(variant, "preset:random?T=1&K=1&V=1&seed=1")).compute({});
    CHECK(row->words.empty());
    CHECK(row->softmax_weights.size() == 1);
  }
}

TEST_CASE("attention answers: facts about a rule") {
  CHECK(about<FactsOfAttention>(begun("value_decay", small)).compute({})->by_channel);
  CHECK_FALSE(about<FactsOfAttention>(begun("gla", small)).compute({})->by_channel);
  CHECK(about<FactsOfAttention>(begun("gla", small)).compute({})->has_gates);
  CHECK_FALSE(about<FactsOfAttention>(begun("deltanet", small)).compute({})->has_gates);
  CHECK(about<FactsOfAttention>(begun("gated_deltanet", overwrite)).compute({})->usual_sharpness == 8);
}
