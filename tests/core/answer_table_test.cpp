// What a memory answers: the table, the words that are asked, and what is said of them.

#include "core/insight/answer_table.h"

#include <fmt/format.h>

#include <Eigen/SVD>
#include <cmath>

#include "core/base/error.h"
#include "core/insight/answer_words.h"
#include "core/io/capture.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/rules/softmax_rule.h"
#include "core/rules/stored_pairs.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// V^+ as the definition has it: singular values below 5 % of the largest cut off.
Matrix<double> plain_pseudo_inverse(const Matrix<double>& V) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(V, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Vector<double> inverses = svd.singularValues();
  for (double& value : inverses) value = value < 0.05 * svd.singularValues()(0) || value == 0 ? 0 : 1 / value;
  return svd.matrixV() * inverses.asDiagonal() * svd.matrixU().transpose();
}

/// The states after `tokens` tokens of a run that ends there. LaCT writes whole batches.
NamedStates plain_states(const Case& each, Index tokens) {
  const Index batch = inner_batch(each.sequence.settings);
  const bool gathers = each.variant->id == "lact" && tokens < each.sequence.tokens;
  return first_tokens(each, gathers ? tokens / batch * batch : tokens).run(Form::recurrent).states;
}

/// What the rule reads with the row `key`, rule by rule.
Matrix<double> plain_answer(const Case& each, const NamedStates& states, Index tokens,
                            const Matrix<double>& key) {
  const std::string& id = each.variant->id;
  const Sequence& sequence = each.sequence;
  if (id == "softmax" || id == "fox") {
    const Matrix<double>& K = states[0].second;
    Matrix<double> sum = Matrix<double>::Zero(1, sequence.dv);
    double weights = 0;
    for (Index j = 0; j < K.rows(); ++j) {
      double score = sequence.parameter("scale") * K.row(j).dot(key.row(0));
      for (Index later = j + 1; id == "fox" && later < K.rows(); ++later) score += states[2].second(later, 0);
      weights += std::exp(score);
      sum += std::exp(score) * states[1].second.row(j);
    }
    return weights > 0 ? Matrix<double>(sum / weights) : sum;
  }
  if (id == "kernel") {
    const double weight = (key * states[1].second)(0, 0) + sequence.parameter("eps");
    return weight == 0 ? Matrix<double>::Zero(1, sequence.dv)
                       : Matrix<double>(key * states[0].second / weight);
  }
  if (id == "mesanet") {
    const Matrix<double> A = states[0].second + square(sequence.at("ridge"));
    return key * A.inverse() * states[1].second;
  }
  if (id == "ttt_linear" || id == "ttt_mlp") {
    // The output of the last token for this query; before the first, of a token that does not learn.
    Case asking = first_tokens(each, std::max<Index>(tokens, 1));
    Arrays arrays = *asking.arrays;
    Array& q = arrays["q"];
    for (Index i = 0; i < key.cols(); ++i)
      std::get<0>(q.values)[static_cast<std::size_t>((q.shape[0] - 1) * key.cols() + i)] =
          key(0, i) / sequence.parameter("scale");
    if (tokens == 0) std::get<0>(arrays["eta"].values)[0] = 0;
    return bound(*each.variant, each.settings, arrays).run(Form::recurrent).o.bottomRows(1);
  }
  const auto S = std::ranges::find(states, "S", &NamedStates::value_type::first);
  return key * S->second / key.squaredNorm();
}

/// Labels that come again.
std::vector<std::string> few_texts(Index tokens) {
  std::vector<std::string> labels;
  for (Index t = 0; t < tokens; ++t)
    labels.push_back(fmt::format(" {} ", static_cast<char>('a' + t * 7 % 5)));
  return labels;
}

/// One head of a capture, as `id` computes it.
struct CapturedHead {
  Capture capture;
  Case head;
  std::unique_ptr<Trace> recurrence;
  Vector<double> strengths;

  CapturedHead(const char* name, const char* id, std::size_t index,
               const std::map<std::string, double, std::less<>>& parameters = {})
      : capture(read_capture(std::string(PALIMPSEST_ASSETS_SOURCE) + "/captures/" + name)) {
    const Variant& variant = find_variant(id);
    Settings settings;
    for (const auto& [parameter, value] : parameters) settings.parameters[parameter] = value;
    auto arrays = std::make_shared<const Arrays>(capture.arrays);
    const SequenceBatch batch = palimpsest::bind(variant, arrays, settings);
    head = {&variant, settings, arrays, batch.heads[index], id};
    recurrence = head.trace(Form::recurrent, 1);
    strengths = write_strengths(variant, head.sequence);
  }

  std::vector<AskedWord> words(Index token, const WordChoice& choice = {}) const {
    return asked_words(capture.tokens, strengths, token, choice);
  }

  AnswerTable table(Index token, const WordChoice& choice = {}, TokenPart part = TokenPart::all) const {
    return answer_table(*head.variant, head.sequence,
                        memory_around(*head.variant, head.sequence, *recurrence, token, part),
                        words(token, choice));
  }
};

const WordChoice facts = {.pinned = {6, 13, 20, 27, 34, 42}};  // key, shell, map, bell, book, drum

std::string rounded(double value) { return fmt::format("{:.2f}", value); }

}  // namespace

TEST_CASE(
    "Asked for the red jar's key, the memory of the overwritten fact answers drum after drum is written") {
  const char* capture = "gated_deltanet_overwrite_l1.npz";
  const CapturedHead gated(capture, "gated_deltanet", 0);
  const AnswerTable table = gated.table(42);
  std::vector<std::string> texts;
  for (const AskedWord& word : table.words) texts.push_back(word.text);
  CHECK(texts == std::vector<std::string>{"key", "shell", "map", "bell", "book", "drum"});
  CHECK(rounded(table.before(0, 0)) == "0.71");
  CHECK(rounded(table.after(0, 0)) == "0.35");
  CHECK(rounded(table.after(0, 5)) == "0.58");
  for (const Index word : {1, 2, 3, 4, 5}) {
    CHECK(table.after(word, word) > 0.695);
    CHECK(table.after(word, word) < 0.855);
  }
  CHECK(table.present == 5);
  CHECK(table.most_changed == 0);
  CHECK(answer_sentence(table) == "Asked where “key” was written, it now answers “drum”.");
  // The write alone does nearly all of that: the memory fades by less than 1 %.
  CHECK(rounded(gated.table(42, {}, TokenPart::write).before(0, 0)) == "0.71");

  const AnswerTable delta = CapturedHead(capture, "deltanet", 0).table(42);
  CHECK(rounded(delta.after(0, 0)) == "0.37");
  CHECK(rounded(delta.after(0, 5)) == "0.58");

  // What erases nothing keeps both.
  const AnswerTable linear = CapturedHead(capture, "linear", 0).table(42, facts);
  CHECK(rounded(linear.after(0, 0)) == "0.94");
  CHECK(rounded(linear.after(0, 5)) == "0.60");
  const AnswerTable retnet =
      CapturedHead(capture, "retnet", 0, {{"gamma", 1 - std::pow(2, -5)}}).table(42, facts);
  CHECK(rounded(retnet.after(0, 0)) == "0.30");
  CHECK(rounded(retnet.after(0, 5)) == "0.68");
}

TEST_CASE("The table is its definition, for every rule that answers") {
  int rules = 0;
  for (const Case& each : all_cases({.tokens = 17, .dk = 6, .dv = 6, .seed = 5})) {
    INFO(each.words);
    const std::vector<std::string> labels = few_texts(17);
    const Vector<double> strengths = write_strengths(*each.variant, each.sequence);
    const auto recurrence = each.trace(Form::recurrent, 1);
    ++rules;
    for (const Index token : {0, 8, 16}) {
      INFO(token);
      const std::vector<AskedWord> words = asked_words(labels, strengths, token, {.most = 3});
      const MemoryChange change = memory_around(*each.variant, each.sequence, *recurrence, token);
      const AnswerTable table = answer_table(*each.variant, each.sequence, change, words);
      REQUIRE(table.words.size() == words.size());
      const auto n = static_cast<Index>(words.size());

      std::vector<Index> of_word;
      Matrix<double> V(0, each.sequence.dv);
      for (Index word = 0; word < n; ++word) {
        for (const Index occurrence : words[static_cast<std::size_t>(word)].occurrences) {
          const Matrix<double> values = stored_pairs(*each.variant, each.sequence, occurrence, 1).values;
          V.conservativeResize(V.rows() + 1, Eigen::NoChange);
          V.bottomRows(1) = values.bottomRows(1);
          of_word.push_back(word);
        }
      }
      const Matrix<double> inverse = plain_pseudo_inverse(V);
      const auto plain = [&](Index tokens, Vector<double>& explained) {
        const NamedStates states = plain_states(each, tokens);
        Matrix<double> C = Matrix<double>::Zero(n, n);
        explained = Vector<double>::Zero(n);
        for (Index i = 0; i < n; ++i) {
          const Index asked = words[static_cast<std::size_t>(i)].token;
          const Matrix<double> key = stored_pairs(*each.variant, each.sequence, asked, 1).keys.bottomRows(1);
          const Matrix<double> answer = plain_answer(each, states, tokens, key);
          const Matrix<double> amounts = answer * inverse;
          for (Index j = 0; j < amounts.cols(); ++j)
            C(i, of_word[static_cast<std::size_t>(j)]) += amounts(0, j);
          const double squares = answer.squaredNorm();
          if (squares > 0) explained(i) = 1 - (answer - amounts * V).squaredNorm() / squares;
        }
        return C;
      };
      Vector<double> explained;
      const Matrix<double> before = plain(token, explained);
      const double size = std::max(1.0, before.cwiseAbs().maxCoeff());
      CHECK((table.before - before).cwiseAbs().maxCoeff() <= 1e-9 * size);
      CHECK((table.explained_before - explained).cwiseAbs().maxCoeff() <= 1e-9);
      const Matrix<double> after = plain(token + 1, explained);
      CHECK((table.after - after).cwiseAbs().maxCoeff() <= 1e-9 * size);
      CHECK((table.explained_after - explained).cwiseAbs().maxCoeff() <= 1e-9);
    }
  }
  CHECK(rules > 100);
}
