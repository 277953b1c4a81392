#include "core/insight/answer_table.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

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

}  // namespace palimpsest
