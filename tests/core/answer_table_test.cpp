// What a memory answers: the table, the words that are asked, and what is said of them.

#include "core/insight/answers.h"

#include <fmt/format.h>

#include <Eigen/SVD>

#include "core/base/text.h"
#include "core/insight/learning.h"
#include "core/io/array_file.h"
#include "core/rules/row_rule.h"
#include "core/rules/stored_pairs.h"
#include "tests/capture_file.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/folders.h"

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
      std::get<0>(q.own_values())[static_cast<std::size_t>((q.shape[0] - 1) * key.cols() + i)] =
          key(0, i) / sequence.parameter("scale");
    if (tokens == 0) std::get<0>(arrays["eta"].own_values())[0] = 0;
    return bound(*each.variant, each.settings, arrays).run(Form::recurrent).o.bottomRows(1);
  }
  return key * state_of(states, "S") / key.squaredNorm();
}

/// Labels that come again.
std::vector<std::string> few_texts(Index tokens) {
  std::vector<std::string> labels;
  for (Index t = 0; t < tokens; ++t)
    labels.push_back(fmt::format(" {} ", static_cast<char>('a' + t * 7 % 5)));
  return labels;
}

/// The memory of a case, with the trace that it is read from.
struct Remembered {
  std::unique_ptr<Trace> recurrence;
  RecurrentMemory memory;

  explicit Remembered(const Case& each)
      : recurrence(each.trace(Form::recurrent, 1)), memory(*each.variant, each.sequence, *recurrence) {}

  MemoryChange around(Index token, TokenPart part = TokenPart::all) const {
    return memory.around(token, part);
  }
  /// The first of its states.
  Matrix<double> after(Index tokens) const { return memory.after(tokens)[0].second; }
};

/// One head of a capture, as `id` computes it.
struct CapturedHead {
  Capture capture;
  Case head;
  Vector<double> strengths;

  CapturedHead(const char* name, const char* id, std::size_t index, const Settings& settings = {})
      : capture(read_capture(assets_folder() + "/captures/" + name)) {
    const Variant& variant = find_variant(id);
    auto arrays = std::make_shared<const Arrays>(capture.arrays);
    const SequenceBatch batch = palimpsest::bind(variant, arrays, settings);
    head = {&variant, settings, arrays, batch.heads[index], id};
    strengths = write_strengths(variant, head.sequence).of_token;
  }

  std::vector<AskedWord> words(Index token, const WordChoice& choice = {}) const {
    return asked_words(capture.tokens, {.written = strengths}, token, choice);
  }

  AnswerTable table(Index token, const WordChoice& choice = {}, TokenPart part = TokenPart::all) const {
    return answer_table(*head.variant, head.sequence, Remembered(head).around(token, part),
                        words(token, choice));
  }
};

using Numbers = std::vector<double>;

/// Linear attention over so many tokens with as many channels.
Case linear_rows(Index tokens, Numbers q, Numbers k, Numbers v) {
  const std::vector<Index> shape = {tokens, tokens};
  const Variant& linear = find_variant("linear");
  return bound(linear, resolve(linear, {}),
               {{"q", Array(shape, std::move(q))},
                {"k", Array(shape, std::move(k))},
                {"v", Array(shape, std::move(v))}});
}

/// Its tokens as words that are called a, b, c.
std::vector<AskedWord> letters(const Case& each, Index token, const WordChoice& choice) {
  static const std::vector<std::string> labels = {"a", "b", "c"};
  return asked_words(labels, word_strengths(*each.variant, each.sequence), token, choice);
}

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
  CHECK(
      answer_sentence(table) ==
      "With the key of “The red jar holds a key”, the memory now returns mostly “drum” (0.58; “key” 0.35).");
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
      CapturedHead(capture, "retnet", 0, {.parameters = {{"gamma", 1 - std::pow(2, -5)}}}).table(42, facts);
  CHECK(rounded(retnet.after(0, 0)) == "0.30");
  CHECK(rounded(retnet.after(0, 5)) == "0.68");
}

TEST_CASE("The table is its definition, for every rule that answers") {
  int rules = 0;
  for (const Case& each : all_cases({.tokens = 17, .dk = 6, .dv = 6, .seed = 5})) {
    INFO(each.words);
    const std::vector<std::string> labels = few_texts(17);
    const Vector<double> strengths = write_strengths(*each.variant, each.sequence).of_token;
    const Remembered memory(each);
    ++rules;
    for (const Index token : {0, 8, 16}) {
      INFO(token);
      const std::vector<AskedWord> words = asked_words(labels, {.written = strengths}, token, {.most = 3});
      const AnswerTable table = answer_table(*each.variant, each.sequence, memory.around(token), words);
      REQUIRE(table.words.size() == words.size());
      const auto n = static_cast<Index>(words.size());

      std::vector<Index> of_word;
      Matrix<double> V(0, each.sequence.dv);
      for (Index word = 0; word < n; ++word) {
        for (const Index occurrence : entry(words, word).occurrences) {
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
          const Index asked = entry(words, i).token;
          const Matrix<double> key = stored_pairs(*each.variant, each.sequence, asked, 1).keys.bottomRows(1);
          const Matrix<double> answer = plain_answer(each, states, tokens, key);
          const Matrix<double> amounts = answer * inverse;
          for (Index j = 0; j < amounts.cols(); ++j) C(i, entry(of_word, j)) += amounts(0, j);
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

TEST_CASE("Before and change add up to after exactly where reading is linear") {
  int linear = 0;
  int others = 0;
  for (const Case& each : all_cases({.tokens = 9, .dk = 6, .dv = 6, .seed = 8})) {
    INFO(each.words);
    MemoryChange change = Remembered(each).around(8);
    const AnswerTable table =
        answer_table(*each.variant, each.sequence, change,
                     asked_words(few_texts(9), word_strengths(*each.variant, each.sequence), 8));
    const double size = 1 + table.before.cwiseAbs().maxCoeff() + table.after.cwiseAbs().maxCoeff();
    CHECK((table.before + table.change - table.after).cwiseAbs().maxCoeff() <= 1e-15 * size);
    if (each.variant->id == "softmax" || each.variant->id == "fox") continue;  // a cache is no sum
    // The table of the difference of the memories, asked by itself.
    for (std::size_t i = 0; i < change.before.size(); ++i)
      change.before[i].second = change.after[i].second - change.before[i].second;
    change.after = change.before;
    const AnswerTable written = answer_table(*each.variant, each.sequence, change, table.words);
    const double apart = (written.after - table.change).cwiseAbs().maxCoeff();
    const bool is_divided = each.variant->id == "kernel" || each.variant->id == "mesanet";
    const bool is_network = each.variant->id == "ttt_linear" || each.variant->id == "ttt_mlp";
    CHECK(table.is_linear == !(is_divided || is_network));
    if (table.is_linear) {
      ++linear;
      CHECK(apart <= 1e-12 * size);
    } else if (is_divided && table.change.cwiseAbs().maxCoeff() > 0.01) {
      ++others;
      CHECK(apart > 1e-6);
    }
  }
  CHECK(linear > 50);
  CHECK(others > 5);
}

TEST_CASE("A token that takes several steps is followed step by step") {
  const Case each = random_case("deltaproduct", {.tokens = 5, .dk = 6, .dv = 4});
  const Remembered remembered(each);
  const Index steps = remembered.recurrence->block_of(1, 0);
  REQUIRE(steps > 1);
  const auto at = [&](Index block) { return remembered.memory.around_block(block); };
  CHECK(at(2 * steps).before[0].second == states_at(*each.variant, each.sequence, 2)[0].second);
  for (Index step = 1; step < steps; ++step)
    CHECK(at(2 * steps + step).before[0].second == at(2 * steps + step - 1).after[0].second);
  CHECK(at(3 * steps - 1).after[0].second == states_at(*each.variant, each.sequence, 3)[0].second);
  CHECK(at(2 * steps).after[0].second != states_at(*each.variant, each.sequence, 3)[0].second);
}

TEST_CASE("A gathered batch is in the memory once it is written") {
  for (const char* order : {"apply_first", "update_first"}) {
    const Case each = random_case(find_variant("lact"), {{{"order", order}}, {{"batch", 4}}},
                                  {.tokens = 11, .dk = 6, .dv = 4});
    INFO(order);
    const Remembered remembered(each);
    const auto written = [&](Index tokens) {
      return states_at(*each.variant, each.sequence, tokens)[0].second;
    };
    for (const Index tokens : {0, 1, 3}) CHECK(remembered.after(tokens) == written(0));
    for (const Index tokens : {4, 7}) CHECK(remembered.after(tokens) == written(4));
    for (const Index tokens : {8, 10}) CHECK(remembered.after(tokens) == written(8));
    CHECK(remembered.after(11) == written(11));
    CHECK(written(11) != written(8));
    CHECK(written(4) != written(3));
    // The one block that changes it is the write of the batch.
    Index changes = 0;
    for (Index block = 0; block < remembered.recurrence->block_count(); ++block) {
      const MemoryChange change = remembered.memory.around_block(block);
      if (change.before[0].second == change.after[0].second) continue;
      ++changes;
      CHECK(remembered.recurrence->block(block).phase == 1);
    }
    CHECK(changes == 3);
  }
}

TEST_CASE("The parts of a token's change follow each other, with every rule") {
  for (const Case& each : all_cases({.tokens = 7, .dk = 6, .dv = 6, .initial_state = true, .seed = 9})) {
    INFO(each.words);
    const Remembered memory(each);
    const MemoryChange all = memory.around(5);
    const MemoryChange decay = memory.around(5, TokenPart::decay);
    const MemoryChange write = memory.around(5, TokenPart::write);
    CHECK(decay.before[0].second == all.before[0].second);
    CHECK(decay.after[0].second == write.before[0].second);
    CHECK(write.after[0].second == all.after[0].second);
    const RowRule* rows = each.variant->rule->row_program();
    if (!rows) continue;
    const Program<double> program = rows->encode<double>(each.sequence, 5, 1);
    const Structure& structure = program.structure;
    const bool fades = structure.decay != Decay::none || structure.value_decay || structure.part_count() > 1;
    if (!fades) CHECK(decay.before[0].second == decay.after[0].second);
    if (structure.decay == Decay::scalar && structure.rows_per_read == 1 && !structure.value_decay) {
      const Matrix<double> expected = program.alpha()(0, 0) * decay.before[0].second;
      CHECK((decay.after[0].second - expected).cwiseAbs().maxCoeff() <= 1e-14);
    }
  }
}

TEST_CASE("Every place of every form has a memory before and after it") {
  for (const Case& each : all_cases({.tokens = 5, .dk = 6, .dv = 6, .seed = 11})) {
    INFO(each.words);
    const Remembered remembered(each);
    const std::string state = states_of(*each.variant, each.sequence.settings).front();
    for (const Form form : each.forms()) {
      const auto trace = each.trace(form, 2);
      INFO(name(form));
      Cursor cursor = trace->first();
      while (true) {
        const MemoryChange change = remembered.memory.at(*trace, cursor);
        REQUIRE(change.before.size() == change.after.size());
        if (form != Form::recurrent) {
          const Block block = trace->block(cursor.block);
          const bool is_carried = trace->operation(cursor).equation.result == trace->after(state);
          const Index first = is_carried ? block.first_token : trace->token(cursor);
          CHECK(change.before[0].second == remembered.after(first));
          CHECK(change.after[0].second == remembered.after(first + (is_carried ? block.count : 1)));
        }
        const Cursor next = trace->next(cursor);
        if (next == cursor) break;
        cursor = next;
      }
    }
  }
}

TEST_CASE("Words are those of the strongest writes so far, a text once") {
  const std::vector<std::string> labels = {"The", " red", "jar ", " red", " a", "key", " ", " jar", "red"};
  Vector<double> strengths(9);
  strengths << 0.5, 0.9, 0.4, 0.6, 1.0, 0.8, 0.45, 0.7, 0.2;
  const auto asked = [&](Index token, const WordChoice& choice = {}) {
    std::string words;
    for (const AskedWord& word : asked_words(labels, {.written = strengths}, token, choice)) {
      words += fmt::format("{}{}[", word.text, word.token);
      for (const Index occurrence : word.occurrences) words += fmt::format(" {}", occurrence);
      words += word.is_present ? " ]* " : " ] ";
    }
    return words;
  };
  // Of 0.4 at token 2 half of the strongest is 0.45 by then.
  CHECK(asked(2) == "The0[ 0 ] red1[ 1 ] jar2[ 2 ]* ");
  CHECK(asked(8) == "The0[ 0 ] red1[ 1 3 ]* a4[ 4 ] key5[ 5 ] jar7[ 7 ] ");
  // The present word takes the place of the last if it is strong.
  CHECK(asked(8, {.most = 2}) == "red1[ 1 3 ]* a4[ 4 ] ");
  CHECK(asked(7, {.most = 2}) == "a4[ 4 ] jar7[ 7 ]* ");
  CHECK(asked(7, {.most = 0}).empty());
  // Pinned ones are asked at their own token; what else is strong of their text counts.
  CHECK(asked(8, {.pinned = {8, 2}}) == "jar2[ 2 7 ] red8[ 1 3 8 ]* ");
  CHECK(asked(4, {.pinned = {8, 2, 1}}) == "red1[ 1 3 8 ] jar2[ 2 ] ");
  CHECK(asked(8, {.pinned = {5}, .most = 1}) == "key5[ 5 ] ");
  CHECK_THROWS_WITH(asked(8, {.pinned = {9}}), says("token 9"));
  CHECK_THROWS_WITH(asked(9), says("9 tokens"));
  CHECK_THROWS_AS(asked(-1), InputError);
  strengths.setZero();
  CHECK(asked(8).empty());
  CHECK(word_text("  ") == "  ");
  CHECK(word_text("\n a b\t") == "a b");

  // However often a text comes, its 64 strongest occurrences are enough.
  const std::vector<std::string> same(200, " the");
  Vector<double> rising = Vector<double>::LinSpaced(200, 1, 1.5);
  const std::vector<AskedWord> words = asked_words(same, {.written = rising}, 199);
  REQUIRE(words.size() == 1);
  CHECK(words[0].token == 0);
  CHECK(words[0].occurrences.size() == 65);
  CHECK(words[0].occurrences[1] == 136);
}

// With most = 2 one word is stronger than "jar" at token 2, which writes weakly.
TEST_CASE("The word at the cursor is asked if it writes at all") {
  const std::vector<std::string> labels = {"a", " b", " jar", " c"};
  Vector<double> strengths(4);
  strengths << 1, 0.9, 0.1, 0;
  const auto texts = [&](Index token, const WordChoice& choice) {
    std::vector<std::string> all;
    for (const AskedWord& word : asked_words(labels, {.written = strengths}, token, choice))
      all.push_back(word.text);
    return all;
  };
  using Texts = std::vector<std::string>;
  CHECK(texts(2, {}) == Texts{"a", "b", "jar"});
  CHECK(texts(2, {.most = 2}) == Texts{"a", "jar"});
  CHECK(texts(2, {.with_present = false}) == Texts{"a", "b"});
  CHECK(texts(3, {}) == Texts{"a", "b"});  // it writes nothing
}

TEST_CASE("Words that have faded by three half-lives are not asked about, as long as others are there") {
  std::vector<std::string> labels;
  for (Index t = 0; t < 40; ++t) labels.push_back(std::to_string(t + 1));
  WordStrengths strengths = {.written = Vector<double>::Ones(40)};
  strengths.written(2) = 2;  // the strongest, and forgotten
  strengths.written(33) = 0.4;
  const auto asked = [&](Index token) {
    std::vector<Index> tokens;
    for (const AskedWord& word : asked_words(labels, strengths, token, {.most = 4}))
      tokens.push_back(word.token);
    return tokens;
  };
  CHECK(asked(39) == std::vector<Index>{0, 1, 2, 39});       // nothing fades
  strengths.faded = Vector<double>::LinSpaced(40, 0, 19.5);  // half a half-life at every token
  CHECK(asked(39) == std::vector<Index>{34, 35, 36, 39});    // 33 is there, and weak
  CHECK(asked(6) == std::vector<Index>{0, 1, 2, 6});
  strengths.faded.tail(10).array() += 1e3;  // a gate takes all at token 30
  CHECK(asked(31) == std::vector<Index>{30, 31});
  CHECK(asked(30) == std::vector<Index>{30});

  // Of a rule, by the channel that stays longest.
  Arrays arrays;
  for (const char* const name : {"q", "k", "v"}) arrays[name] = Array({3, 2}, std::vector<double>(6, 1));
  arrays["alpha"] = Array({3, 2}, std::vector<double>{1, 0.5, 0.5, 0, 0, 0});
  const Case gla = bound(find_variant("gla"), resolve(find_variant("gla"), {}), arrays);
  const WordStrengths of_rule = word_strengths(*gla.variant, gla.sequence);
  CHECK(of_rule.faded(0) == 0);
  CHECK(of_rule.faded(1) == 1);
  CHECK(of_rule.faded(2) == 1001);
  arrays.erase("alpha");
  const Case linear = bound(find_variant("linear"), resolve(find_variant("linear"), {}), arrays);
  CHECK(word_strengths(*linear.variant, linear.sequence).faded.size() == 0);
}

TEST_CASE("A token without a label is named once") {
  const std::vector<std::string> labels = {"1", "2", "3", "four", "5"};
  CHECK(phrase_before(labels, 2) == "3");
  CHECK(phrase_before(labels, 3) == "1 2 3 four");
  CHECK(quoted_label("3", 2) == "token 3");
  CHECK(numbered_label("3", 2) == "3");
  CHECK(quoted_label("3", 3) == "“3”");  // a word of the text
  CHECK(numbered_label("four", 3) == "4 “four”");
  const AnswerTable table = {.words = {{.token = 7, .text = "8", .phrase = "8"}},
                             .before = Matrix<double>::Zero(1, 1),
                             .change = Matrix<double>::Ones(1, 1),
                             .after = Matrix<double>::Ones(1, 1),
                             .most_changed = 0};
  CHECK(answer_sentence(table) == "With the key of token 8, the memory now returns token 8 (1.00).");
}

TEST_CASE("A word has the words before it in its sentence, as far as they are short") {
  const auto at_end = [](const std::vector<std::string>& labels) {
    return phrase_before(labels, static_cast<Index>(labels.size()) - 1);
  };
  CHECK(at_end({"<|doc|>", "The", " red", " jar", " holds", " a", " key"}) == "The red jar holds a key");
  CHECK(at_end({"blue → shell", "red → key"}) == "red → key");
  CHECK(at_end({" bell", ".", " Now", " the", " red", " jar", " holds", " a", " drum"}) ==
        "…the red jar holds a drum");
  CHECK(at_end({" holds", " a", " key", "."}) == "holds a key.");
  CHECK(at_end({" a", " b", "\n", " c"}) == "c");
  CHECK(at_end({" a", " st", "ored"}) == "a stored");  // a part of a word brings no space
  CHECK(at_end({"k1", "v1", "k2"}) == "k1 v1 k2");     // labels without spaces are words
  CHECK(at_end({" ä", " ääääääääääääääääääääää"}) == "ä ääääääääääääääääääääää");  // 24 letters
  CHECK(at_end({" ab", " ääääääääääääääääääääää"}) == "…ääääääääääääääääääääää");
  CHECK_THROWS_WITH(phrase_before(std::vector<std::string>{"a"}, 1), says("token 1"));
}

TEST_CASE("A write is as strong as its rule says") {
  const std::map<std::string, std::string> rates = {{"gated_deltanet", "beta"},
                                                    {"mesanet", "beta"},
                                                    {"rls", "beta"},
                                                    {"titans", "theta"},
                                                    {"ttt_mlp", "eta"},
                                                    {"ttt_linear", "eta"},
                                                    {"lact", "eta"},
                                                    {"longhorn", "delta"},
                                                    {"linear", ""},
                                                    {"retnet", ""},
                                                    {"softmax", ""}};
  for (const Case& each : all_cases({.tokens = 5, .dk = 6, .dv = 6, .seed = 10})) {
    INFO(each.words);
    const WriteStrengths written = write_strengths(*each.variant, each.sequence);
    REQUIRE(written.of_token.size() == 5);
    CHECK(written.of_token.minCoeff() >= 0);
    CHECK(written.symbol == (written.rate.empty() ? "" : "\\" + written.rate));
    const std::string* const rate = value_at(rates, each.variant->id);
    if (!rate) continue;
    CHECK(written.rate == *rate);
    if (!rate->empty() && !each.sequence.has(*rate)) continue;  // the rule makes it
    if (each.variant->id == "ttt_linear") continue;             // its bias writes too
    const Matrix<double> k = each.sequence.at("k").rows<double>(0, 5);
    const Matrix<double> v = each.sequence.at("v").rows<double>(0, 5);
    for (Index t = 0; t < 5; ++t) {
      const double expected = rate->empty() ? k.row(t).norm() * v.row(t).norm()
                                            : each.sequence.at(*rate)(t, 0) * k.row(t).squaredNorm();
      CHECK(written.of_token(t) == Approx(expected).epsilon(1e-14));
    }
  }
}

TEST_CASE("An output is made of stored values, and what is left is said") {
  const Case each =
      linear_rows(3, {1, 0, 0, 0, 1, 0, 1, 1, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 1, 1, 0, 0, 2, 0});
  const auto answer_to = [&](const Matrix<double>& o, std::vector<Index> pinned) {
    return output_answer(*each.variant, each.sequence, o, letters(each, 2, {.pinned = std::move(pinned)}));
  };
  const auto said = [&](const Matrix<double>& o, std::vector<Index> pinned) {
    return output_sentence(answer_to(o, std::move(pinned)));
  };
  const Matrix<double> o{{3, 2, 1}};  // = 1 a + 2 b and one beside them
  const OutputAnswer answer = answer_to(o, {0, 1});
  CHECK(answer.amounts(0) == Approx(1).epsilon(1e-13));
  CHECK(answer.amounts(1) == Approx(2).epsilon(1e-13));
  CHECK(answer.explained == Approx(1 - 1.0 / 14).epsilon(1e-13));
  CHECK(said(o, {0, 1}) == "The output resembles “b”: these 2 values explain 93 % of its direction.");
  CHECK_THAT(said(Matrix<double>{{1, 0.9, 4}}, {0, 1}),
             says("resembles none of these values: these 2 values explain 10 %"));
  // 0.9 a + 1 b
  CHECK_THAT(said(Matrix<double>{{1.9, 1, 0}}, {0, 1}), says("a mixture of “b” and “a”"));
  CHECK(output_sentence({}).empty());  // answer_sentence() says so
  // One word is spoken of as one.
  CHECK(said(Matrix<double>{{3, 0, 4}}, {0}) ==
        "The output resembles “a”: its value explains 36 % of the direction.");
  CHECK(said(Matrix<double>{{1, 0, 4}}, {0}) ==
        "The output resembles “a” only weakly: its value explains 6 % of the direction.");
  CHECK(said(Matrix<double>{{0, 0, 0}}, {0}) == "The output is 0: this token reads nothing.");
}

TEST_CASE("A word that reads is asked with its query") {
  // Two pairs at right angles; the third token stores nothing of them and asks for the second.
  const Case each =
      linear_rows(3, {1, 0, 0, 0, 1, 0, 0, 5, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 2}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  const NamedStates memory = Remembered(each).memory.after(3);
  const auto asked = [&](std::optional<Index> query) {
    return answer_table(*each.variant, each.sequence, {memory, memory},
                        letters(each, 2, {.pinned = {0, 1, 2}, .query = query}));
  };
  const AnswerTable by_keys = asked({});
  CHECK(by_keys.after.isApprox(Matrix<double>::Identity(3, 3), 1e-13));
  const AnswerTable by_query = asked(2);
  CHECK(by_query.after.topRows(2) == by_keys.after.topRows(2));
  // Along the query, as long as the key of length 2: half of what a key of length 1 finds.
  CHECK(by_query.after(2, 1) == Approx(0.5).epsilon(1e-13));
  CHECK(std::abs(by_query.after(2, 2)) < 1e-13);
  CHECK(answer_sentence(by_query) == "With the query of “a b c”, the memory returns “b” (0.50).");
}

TEST_CASE("A word that is written later explains nothing yet") {
  const Case each = linear_rows(2, {1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 1, 1});
  const auto words = [&](std::vector<Index> pinned) {
    return letters(each, 0, {.pinned = std::move(pinned)});
  };
  const Matrix<double> o{{1, 1}};  // the value of the word to come
  const OutputAnswer both = output_answer(*each.variant, each.sequence, o, words({0, 1}));
  REQUIRE(both.words.size() == 1);
  CHECK(both.words[0].token == 0);
  CHECK(both.explained == Approx(0.5).epsilon(1e-13));
  CHECK(output_sentence(output_answer(*each.variant, each.sequence, o, words({1}))).empty());
  AnswerTable table{.words = words({1})};
  CHECK(answer_sentence(table) == "None of these tokens has been written yet.");
}

TEST_CASE("The sentence says what the largest changes mean") {
  Matrix<double> before{{0.7, 0.1, 0}, {0.05, 0.8, 0}, {0.5, 0, 0}};
  Matrix<double> after = before;
  std::optional<Index> present = 2;
  const auto said = [&] {
    AnswerTable table{.before = before, .change = after - before, .after = after, .present = present};
    double most = 0;
    for (Index row = 0; row < before.rows(); ++row) {
      table.words.push_back({.token = row, .text = std::string(1, static_cast<char>('a' + row))});
      const double largest = table.change.row(row).cwiseAbs().maxCoeff();
      if (row == present || largest <= most) continue;
      most = largest;
      table.most_changed = row;
    }
    return answer_sentence(table);
  };
  CHECK(said() == "This step changes no stored association.");
  after(1, 1) = 0.7999;
  CHECK(said() == "No stored association changed by more than 0.01.");
  after(1, 1) = 0.64;
  CHECK(said() == "No stored association changed by more than 0.16.");
  after(2, 2) = 0.9;
  CHECK(said() ==
        "With the key of “c”, the memory now returns mostly “c” (0.90; “a” 0.50). "
        "No other association changed by more than 0.16.");
  after(1, 1) = 0.8;
  CHECK(said() ==
        "With the key of “c”, the memory now returns mostly “c” (0.90; “a” 0.50). "
        "No other association changed.");
  after(0, 0) = 0.3;
  after(0, 2) = 0.6;
  CHECK(said() == "With the key of “a”, the memory now returns mostly “c” (0.60; “a” 0.30).");
  after(0, 0) = 0.79;
  after(0, 2) = 0.55;
  CHECK(said() == "With the key of “a”, the memory now returns a mixture: “a” 0.79 and “c” 0.55.");
  after.row(0) << 0.4, 0.1, 0.1;
  CHECK(said() == "With the key of “a”, the memory still returns “a” (0.40, before 0.70).");
  // What the write adds is told, also where what was there is still the answer.
  after.row(0) << 0.94, 0.1, 0.6;
  CHECK(said() == "With the key of “a”, the memory still returns “a” (0.94), now mixed with “c” (0.60).");
  before.row(0) << 0.9, 0.1, 0.25;
  after.row(0) << 0.9, 0.1, 0.55;
  CHECK(said() ==
        "With the key of “a”, the memory still returns “a” (0.90), now mixed with “c” (0.55, before 0.25).");
  before.row(0) << 0.9, 0.6, 0.1;
  after.row(0) << 0.9, 0.1, 0.1;
  CHECK(said() == "With the key of “a”, the memory still returns “a” (0.90, as before).");
  before.row(0) << 0.7, 0.1, 0.1;
  after.row(0) << 1.2, 0.1, 0.1;
  CHECK_THAT(said(), says("still returns “a” (1.20, before 0.70)."));
  after.row(0) << 1.83, 0.1, 0.1;
  CHECK(said() == "With the key of “a”, the memory still returns “a”, overshooting (1.83, before 0.70).");
  after.row(0) << 0.1, 0.1, 1.3;
  CHECK(said() == "With the key of “a”, the memory now returns “c” and overshoots: 1.30.");
  after.row(0) << 1.3, 0.1, 1.2;
  CHECK_THAT(said(), says("now returns a mixture and overshoots: “a”"));
  after.row(0).setZero();
  CHECK(said() == "With the key of “a”, the memory now returns none of these values (“a” was 0.70).");
  before *= 0.1;
  after *= 0.1;
  CHECK(said() == "The memory returns none of these values (all coefficients below 0.2).");
  after(1, 1) = quiet_nan;
  CHECK_THAT(said(), says("diverged"));
  before = Matrix<double>::Zero(1, 1);
  after = Matrix<double>::Constant(1, 1, 0.5);
  present = 0;
  CHECK(said() == "With the key of “a”, the memory now returns “a” (0.50).");
  CHECK(answer_sentence({}) == "No token has been written yet.");
}

TEST_CASE("Legible is a table in which every word answers itself") {
  CHECK(legibility(Matrix<double>::Identity(3, 3)) == 1);
  CHECK(legibility(Matrix<double>::Constant(3, 3, -2)) == 0);
  const Matrix<double> table{{0.5, -0.1}, {0.3, -0.7}};  // 0.6 and 0.2
  CHECK(legibility(table) == Approx(0.5).epsilon(1e-14));
  CHECK(legibility(Matrix<double>::Zero(2, 2)) == 0);
  CHECK(legibility(Matrix<double>::Ones(1, 1)) == 0);
  CHECK(legibility(Matrix<double>()) == 0);
}

TEST_CASE("A table that there is not is refused in words") {
  const Case each = random_case("kda", {.tokens = 4, .dk = 5, .dv = 3});
  const auto [recurrence, memory] = Remembered(each);
  CHECK_THROWS_WITH(memory.around(4), says("token 4; expected 0 to 3"));
  CHECK_THROWS_AS(memory.around(-1), InputError);
  CHECK_THROWS_AS(memory.after(5), InputError);
  CHECK_THROWS_AS(memory.around_block(4), InputError);
  CHECK_THROWS_AS(RecurrentMemory(*each.variant, each.sequence, *recurrence, stopped()).after(2), Cancelled);

  Variant silent = *each.variant;
  silent.memory.none = "It tells nobody.";
  CHECK_THROWS_WITH(write_strengths(silent, each.sequence), says("It tells nobody."));
  CHECK_THROWS_WITH(answer_table(silent, each.sequence, {}, {}), says("It tells nobody."));
  // Without words there is an empty table, and nothing is divided by.
  const AnswerTable empty = answer_table(*each.variant, each.sequence, {}, {});
  CHECK(empty.after.size() == 0);
  CHECK_FALSE(empty.most_changed);
}
