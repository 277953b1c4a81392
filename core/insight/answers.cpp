#include "core/insight/answers.h"

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/text.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr double cut = 0.05;  // singular values below this share of the largest count as 0

/// The pseudo-inverse of a symmetric matrix without negative eigenvalues, those below cut^2 cut off: a Gram
/// matrix has the squares of singular values.
Matrix<double> inverse_of_gram(const Matrix<double>& gram) {
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(gram);
  const Vector<double> eigenvalues = solver.eigenvalues();
  const double least = cut * cut * eigenvalues(eigenvalues.size() - 1);
  const Vector<double> inverses =
      eigenvalues.unaryExpr([&](double value) { return value > 0 && value >= least ? 1 / value : 0.0; });
  return solver.eigenvectors() * inverses.asDiagonal() * solver.eigenvectors().transpose();
}

/// V^+ of V [n, V], by way of the smaller of its Gram matrices.
Matrix<double> pseudo_inverse(const Matrix<double>& V) {
  if (V.size() == 0) return Matrix<double>::Zero(V.cols(), V.rows());
  if (V.rows() <= V.cols()) return V.transpose() * inverse_of_gram(V * V.transpose());
  return inverse_of_gram(V.transpose() * V) * V.transpose();
}

/// The values of words, and how answers are made of them.
class Basis {
 public:
  Basis(const Variant& variant, const Sequence& sequence, const std::vector<AskedWord>& words)
      : word_count_(static_cast<Index>(words.size())) {
    for (Index word = 0; word < word_count_; ++word) {
      const auto& occurrences = words[static_cast<std::size_t>(word)].occurrences;
      word_of_.insert(word_of_.end(), occurrences.size(), word);
    }
    values_.resize(static_cast<Index>(word_of_.size()), sequence.dv);
    Index row = 0;
    for (const AskedWord& word : words) {
      for (const Index token : word.occurrences)
        values_.row(row++) = last_pair(variant, sequence, token).values;
    }
    inverse_ = pseudo_inverse(values_);
  }

  /// How much of every word is in every answer [N, V]: [N, words].
  Matrix<double> amounts(const Matrix<double>& answers) const {
    const Matrix<double> of_occurrences = answers * inverse_;
    Matrix<double> amounts = Matrix<double>::Zero(answers.rows(), word_count_);
    for (Index i = 0; i < of_occurrences.cols(); ++i)
      amounts.col(word_of_[static_cast<std::size_t>(i)]) += of_occurrences.col(i);
    return amounts;
  }

  /// The share of every answer that lies in the values: [N].
  Vector<double> explained(const Matrix<double>& answers) const {
    const Matrix<double> rest = answers - answers * inverse_ * values_;
    Vector<double> shares = Vector<double>::Zero(answers.rows());
    for (Index i = 0; i < answers.rows(); ++i) {
      const double length = answers.row(i).stableNorm();
      if (length > 0) shares(i) = 1 - std::pow(rest.row(i).stableNorm() / length, 2);
    }
    return shares;
  }

 private:
  Index word_count_;
  std::vector<Index> word_of_;  // of every occurrence
  Matrix<double> values_;       // [occurrences, V]
  Matrix<double> inverse_;      // [V, occurrences]
};

/// What the words are asked with, one below the other: their keys, of one that reads its query.
Matrix<double> questions_of(const Variant& variant, const Sequence& sequence,
                            const std::vector<AskedWord>& words) {
  Matrix<double> keys;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Matrix<double> key = last_pair(variant, sequence, words[i].token).keys;
    if (i == 0) keys.resize(static_cast<Index>(words.size()), key.cols());
    keys.row(static_cast<Index>(i)) = key;
  }
  keys = asking_keys(variant, std::move(keys));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].by_query) keys.row(static_cast<Index>(i)) = asking_query(variant, sequence, words[i].token);
  }
  return keys;
}

std::optional<Index> most_changed(const AnswerTable& table) {
  std::optional<Index> found;
  double most = 0;
  for (Index row = 0; row < table.change.rows(); ++row) {
    const double change = table.change.row(row).cwiseAbs().maxCoeff();
    if (row == table.present || !(change > most)) continue;
    found = row;
    most = change;
  }
  return found;
}

}  // namespace

AnswerTable answer_table(const Variant& variant, const Sequence& sequence, const MemoryChange& change,
                         std::vector<AskedWord> words) {
  require_answers(variant);
  AnswerTable table{.words = std::move(words), .is_linear = answers_linearly(variant)};
  if (table.words.empty()) return table;
  const Basis basis(variant, sequence, table.words);
  const Matrix<double> keys = questions_of(variant, sequence, table.words);
  const Matrix<double> before = asked_answers(variant, sequence, change.before, keys);
  const Matrix<double> after = asked_answers(variant, sequence, change.after, keys);
  table.before = basis.amounts(before);
  table.after = basis.amounts(after);
  table.change = table.after - table.before;
  table.explained_before = basis.explained(before);
  table.explained_after = basis.explained(after);
  for (std::size_t i = 0; i < table.words.size(); ++i) {
    if (table.words[i].is_present) table.present = static_cast<Index>(i);
  }
  table.most_changed = most_changed(table);
  return table;
}

double legibility(const Matrix<double>& table) {
  const auto n = static_cast<double>(table.rows());
  if (n < 2) return 0;
  const double diagonal = table.diagonal().cwiseAbs().sum();
  const double own = diagonal / n;
  const double rest = (table.cwiseAbs().sum() - diagonal) / (n * (n - 1));
  return own + rest > 0 ? (own - rest) / (own + rest) : 0;
}

OutputAnswer output_answer(const Variant& variant, const Sequence& sequence, const Matrix<double>& o,
                           std::vector<AskedWord> words) {
  require_answers(variant);
  const bool asks = !words.empty();
  std::erase_if(words, [](const AskedWord& word) { return !word.is_written; });
  OutputAnswer answer{.words = std::move(words), .is_nothing = o.isZero(0)};
  answer.is_early = asks && answer.words.empty();
  const Basis basis(variant, sequence, answer.words);
  answer.amounts = basis.amounts(o).row(0).transpose();
  answer.explained = basis.explained(o)(0);
  return answer;
}

namespace {

constexpr double noticed = noticed_change;
constexpr double mixed = 2.0 / 3;  // of the largest amount: from here on the next one is as good an answer

constexpr const char* none_written = "None of these words has been written yet.";

constexpr double overshot = 1.25;  // of one's own value: more is more than was written

/// The two largest amounts of a row.
struct Largest {
  Index first = -1;
  Index second = -1;  // -1: there is but one word

  explicit Largest(const Vector<double>& amounts) {
    for (Index i = 0; i < amounts.size(); ++i) {
      if (first < 0 || amounts(i) > amounts(first)) {
        second = first;
        first = i;
      } else if (second < 0 || amounts(i) > amounts(second)) {
        second = i;
      }
    }
  }

  /// Whether neither of the two is the answer.
  bool is_mixture(const Vector<double>& amounts) const {
    return second >= 0 && amounts(second) >= noticed && amounts(second) >= mixed * amounts(first);
  }
};

std::string hundredths(double amount) { return fixed_number(amount, 2); }

std::string quoted(const std::vector<AskedWord>& words, Index word) {
  return fmt::format("“{}”", words[static_cast<std::size_t>(word)].text);
}

/// As far as the key carries it: with the words before.
std::string as_at(const AskedWord& word) {
  return fmt::format("sked as at “{}”, it", word.phrase.empty() ? word.text : word.phrase);
}

std::string mixture(const std::vector<AskedWord>& words, const Vector<double>& amounts,
                    const Largest& largest) {
  return fmt::format("{} {} and {} {}", quoted(words, largest.first), hundredths(amounts(largest.first)),
                     quoted(words, largest.second), hundredths(amounts(largest.second)));
}

/// The word that gains most in a row, where that is its largest change and can be noticed.
std::optional<Index> gaining_word(const AnswerTable& table, Index row, const Vector<double>& after) {
  Index column = 0;
  table.change.row(row).cwiseAbs().maxCoeff(&column);
  const bool is_noticed = table.change(row, column) >= noticed && after(column) >= noticed;
  return is_noticed ? std::optional(column) : std::nullopt;
}

/// What the memory answers for one word after the change, and what before.
std::string changed_row(const AnswerTable& table, Index row) {
  const Vector<double> before = table.before.row(row).transpose();
  const Vector<double> after = table.after.row(row).transpose();
  const Largest was(before);
  const Largest is(after);
  const std::string asked = as_at(table.words[static_cast<std::size_t>(row)]);
  const std::string answer = quoted(table.words, is.first);
  if (after(is.first) < noticed) {
    return fmt::format("A{} now answers none of these words: {} was {}.", asked,
                       quoted(table.words, was.first), hundredths(before(was.first)));
  }
  const bool overshoots = after(is.first) > overshot;
  if (is.is_mixture(after))
    return fmt::format("A mixture{}: a{} now answers {}.", overshoots ? " that overshoots" : "", asked,
                       mixture(table.words, after, is));
  const bool is_new = is.first != was.first || before(was.first) < noticed;
  if (is_new && overshoots)
    return fmt::format("A{} now answers {} and overshoots: {}.", asked, answer, hundredths(after(is.first)));
  if (is_new) return fmt::format("A{} now answers {}.", asked, answer);
  const std::string amount = hundredths(after(is.first));
  const std::string amount_before = hundredths(before(is.first));
  const char* sign = overshoots ? " and overshoots 1:" : ",";
  if (const auto gaining = gaining_word(table, row, after); gaining && gaining != is.first) {
    const std::string gained =
        fmt::format("{} {}", quoted(table.words, *gaining), hundredths(after(*gaining)));
    const std::string added = before(*gaining) < noticed
                                  ? fmt::format("now {} as well", gained)
                                  : fmt::format("{} now, {} before", gained, hundredths(before(*gaining)));
    return fmt::format("A{} still answers {}{} {}, and {}.", asked, answer, sign, amount, added);
  }
  if (amount == amount_before)
    return fmt::format("A{} still answers {}{} {} as before.", asked, answer, sign, amount);
  return fmt::format("A{} still answers {}{} {} now, {} before.", asked, answer, sign, amount, amount_before);
}

/// What the memory answers for the query of the row's word; empty where none is asked so.
std::string queried_row(const AnswerTable& table) {
  const auto word = std::ranges::find_if(table.words, &AskedWord::by_query);
  if (word == table.words.end()) return {};
  const Index row = word - table.words.begin();
  const Vector<double> after = table.after.row(row).transpose();
  const Largest is(after);
  const std::string asked = fmt::format("Asked with the query of “{}”, it answers",
                                        word->phrase.empty() ? word->text : word->phrase);
  if (after(is.first) < noticed) return fmt::format("{} none of these words.", asked);
  if (is.is_mixture(after)) return fmt::format("{} a mixture, {}.", asked, mixture(table.words, after, is));
  return fmt::format("{} {}: {}.", asked, quoted(table.words, is.first), hundredths(after(is.first)));
}

}  // namespace

std::string answer_sentence(const AnswerTable& table) {
  if (table.words.empty()) return "No word has been written yet.";
  if (std::ranges::none_of(table.words, &AskedWord::is_written)) return none_written;
  const double largest = std::max(table.before.cwiseAbs().maxCoeff(), table.after.cwiseAbs().maxCoeff());
  if (!std::isfinite(table.before.sum() + table.after.sum()))
    return "The memory has run away: its answers are no numbers any more.";
  if (largest < noticed) return "The memory answers none of these words.";
  if (const std::string queried = queried_row(table); !queried.empty()) return queried;
  const double change = table.most_changed ? table.change.row(*table.most_changed).cwiseAbs().maxCoeff() : 0;
  if (change >= noticed) return changed_row(table, *table.most_changed);
  const bool knew_others = table.words.size() > (table.present ? 1U : 0U);
  if (table.present && table.change.row(*table.present).cwiseAbs().maxCoeff() >= noticed) {
    std::string others;
    if (knew_others && change < 0.005) others = " Nothing else changes.";
    if (knew_others && change >= 0.005)
      others = fmt::format(" Nothing else changes by more than {}.", hundredths(change));
    return changed_row(table, *table.present) + others;
  }
  if (table.change.isZero(0)) return "Nothing changes here.";
  const double most = table.change.cwiseAbs().maxCoeff();
  if (most < 0.005) return "Nothing it knew has changed by as much as 0.01.";
  return fmt::format("Nothing it knew has changed by more than {}.", hundredths(most));
}

std::string output_sentence(const OutputAnswer& answer) {
  if (answer.is_early || answer.words.empty()) return {};  // answer_sentence() says so
  if (answer.is_nothing) return "The output is 0: nothing is read here.";
  const bool is_one = answer.words.size() == 1;
  const std::string share = fmt::format("{:.0f} %", 100 * std::max(answer.explained, 0.0));
  const std::string explained = is_one
                                    ? fmt::format("its value explains {} of the direction", share)
                                    : fmt::format("the values of these {} words explain {} of its direction",
                                                  answer.words.size(), share);
  const Largest largest(answer.amounts);
  const std::string first = quoted(answer.words, largest.first);
  if (!(answer.explained >= noticed) || !(answer.amounts(largest.first) > 0))
    return fmt::format("The output does not resemble {}: {}.", is_one ? first : "any of them", explained);
  const bool is_mixed =
      largest.second >= 0 && answer.amounts(largest.second) >= mixed * answer.amounts(largest.first);
  if (is_mixed) {
    return fmt::format("The output resembles a mixture of {} and {}: {}.", first,
                       quoted(answer.words, largest.second), explained);
  }
  return fmt::format("The output resembles {}: {}.", first, explained);
}

}  // namespace palimpsest
