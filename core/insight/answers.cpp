#include "core/insight/answers.h"

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "core/insight/learning.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr Index most_occurrences = 64;  // of one text: more values add nothing new

constexpr double most_half_lives = 3;  // since a write: an eighth is left

/// The first token whose write has not decayed at `token`.
Index first_not_faded(const Vector<double>& faded, Index token) {
  Index first = token;
  while (first > 0 && faded.size() > 0 && faded(token) - faded(first - 1) <= most_half_lives) --first;
  return faded.size() > 0 ? first : 0;
}

/// The strong occurrences of every text among the tokens first .. count-1.
using Occurrences = std::map<std::string_view, std::vector<Index>>;
Occurrences strong_occurrences(std::span<const std::string> labels, const Vector<double>& strengths,
                               Index first, Index count) {
  Occurrences found;
  const double strongest = strengths.segment(first, count - first).maxCoeff();
  for (Index t = first; t < count; ++t) {
    if (strengths(t) > 0 && strengths(t) >= strongest / 2) found[word_text(entry(labels, t))].push_back(t);
  }
  return found;
}

void by_strength(std::vector<Index>& tokens, const Vector<double>& strengths) {
  std::ranges::stable_sort(tokens, [&](Index x, Index y) { return strengths(x) > strengths(y); });
}

/// The texts of all strong occurrences, the strongest first, no more than `most`. The text at `token`, if it
/// is to be included and writes at all, replaces the last.
std::vector<AskedWord> strongest_words(const Occurrences& strong, const Vector<double>& strengths,
                                       Index token, std::string_view present, const WordChoice& choice) {
  std::vector<Index> heads;  // the strongest occurrence of each text
  std::map<Index, std::string_view> texts;
  for (const auto& [text, tokens] : strong) {
    heads.push_back(
        *std::ranges::max_element(tokens, [&](Index x, Index y) { return strengths(x) < strengths(y); }));
    texts[heads.back()] = text;
  }
  std::ranges::sort(heads);
  by_strength(heads, strengths);
  heads.resize(std::min<std::size_t>(heads.size(), static_cast<std::size_t>(choice.most)));
  std::vector<AskedWord> words;
  for (const Index head : heads) {
    const std::string_view text = texts[head];
    words.push_back({.token = strong.find(text)->second.front(), .text = std::string(text)});
  }
  const bool is_missing = choice.with_present && choice.most > 0 && strengths(token) > 0 &&
                          !is_among(present, words, &AskedWord::text);
  if (!is_missing) return words;
  if (std::ssize(words) == choice.most) words.pop_back();
  const auto known = strong.find(present);
  words.push_back(
      {.token = known == strong.end() ? token : known->second.front(), .text = std::string(present)});
  return words;
}

bool is_space(char byte) { return is_among(byte, {' ', '\t', '\n', '\r'}); }

/// Whether the last labels up to `token` contain the spaces between words.
bool have_spaces(std::span<const std::string> labels, Index token) {
  constexpr Index enough = 64;
  for (Index t = token; t >= std::max<Index>(token - enough, 0); --t) {
    const std::string& label = entry(labels, t);
    if (label.size() > 1 && is_space(label.front())) return true;
  }
  return false;
}

/// One entry per distinct text of the pinned tokens, queried with the first of them.
std::vector<AskedWord> pinned_words(std::span<const std::string> labels, std::vector<Index> pinned) {
  std::ranges::sort(pinned);
  std::vector<AskedWord> words;
  for (const Index token : pinned) {
    require_token(token, std::ssize(labels));
    const std::string text(word_text(entry(labels, token)));
    auto known = std::ranges::find(words, text, &AskedWord::text);
    if (known == words.end()) known = words.insert(words.end(), {.token = token, .text = text});
    known->occurrences.push_back(token);
  }
  return words;
}

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

/// V^+ of V [n, V], singular values below 5 % of the largest cut off.
Matrix<double> pseudo_inverse(const Matrix<double>& V) {
  if (V.size() == 0) return Matrix<double>::Zero(V.cols(), V.rows());
  if (V.rows() <= V.cols()) return V.transpose() * inverse_of_gram(V * V.transpose());
  return inverse_of_gram(V.transpose() * V) * V.transpose();
}

/// The values of texts, and how what is returned is composed of them.
class Basis {
 public:
  Basis(const Variant& variant, const Sequence& sequence, const std::vector<AskedWord>& words)
      : word_count_(static_cast<Index>(words.size())) {
    std::vector<Index> tokens;
    for (Index word = 0; word < word_count_; ++word) {
      const auto& occurrences = entry(words, word).occurrences;
      word_of_.insert(word_of_.end(), occurrences.size(), word);
      tokens.insert(tokens.end(), occurrences.begin(), occurrences.end());
    }
    values_ = tokens.empty() ? Matrix<double>(0, sequence.dv) : last_pairs(variant, sequence, tokens).values;
    inverse_ = pseudo_inverse(values_);
  }

  /// How much of every text is in every answer [N, V]: [N, words].
  Matrix<double> amounts(const Matrix<double>& answers) const {
    const Matrix<double> of_occurrences = answers * inverse_;
    Matrix<double> amounts = Matrix<double>::Zero(answers.rows(), word_count_);
    for (Index i = 0; i < of_occurrences.cols(); ++i)
      amounts.col(entry(word_of_, i)) += of_occurrences.col(i);
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

/// The query of `token` [1, K] for the table: for a linear memory scaled to the norm `key` of the key that
/// the token stores, so that its row compares with the others; else as it reads.
Matrix<double> asking_query(const Variant& variant, const Sequence& sequence, Index token, double key) {
  const Rows<double> row{.sequence = sequence, .first = token, .count = 1};
  if (!answers_linearly(variant)) return row.scaled_q();
  Matrix<double> query = row("q");
  const double length = query.norm();
  if (length > 0 && key > 0) query /= length * key;
  return query;
}

/// The queries of the texts as rows: their keys, divided by |k|^2 for a linear memory, so that a write with
/// beta 1 into an empty memory gives 1 whatever the norm of its key; the query of a token that reads.
Matrix<double> questions_of(const Variant& variant, const Sequence& sequence,
                            const std::vector<AskedWord>& words) {
  std::vector<Index> tokens = made_of(words, &AskedWord::token);
  Matrix<double> keys = last_pairs(variant, sequence, tokens).keys;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto row = static_cast<Index>(i);
    if (words[i].by_query) {
      keys.row(row) = asking_query(variant, sequence, tokens[i], Matrix<double>(keys.row(row)).norm());
    } else if (answers_linearly(variant)) {
      const double squares = keys.row(row).squaredNorm();
      if (squares > 0) keys.row(row) /= squares;
    }
  }
  return keys;
}

/// What the memory returns for such keys: [N, V]; 0 where it has no denominator yet.
Matrix<double> asked_answers(const Variant& variant, const Sequence& sequence, const NamedStates& memory,
                             const Matrix<double>& keys) {
  const Matrix<double> answers = memory_answers(variant, sequence, memory, keys);
  const bool is_empty = std::ranges::all_of(memory, [](const auto& state) { return state.second.isZero(0); });
  if (is_empty && !answers.allFinite()) return Matrix<double>::Zero(answers.rows(), answers.cols());
  return answers;
}

constexpr double mixed = 2.0 / 3;  // of the largest amount: from here on the second counts as equal

constexpr double overshot = 1.25;  // of its own value: above this, more than was written

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
  const AskedWord& asked = entry(words, word);
  return quoted_label(asked.text, asked.token);
}

/// "With the key of “The red jar holds a key”, the memory": a key carries the words before its token.
std::string queried(const AskedWord& word) {
  return fmt::format("With the {} of {}, the memory", word.by_query ? "query" : "key",
                     quoted_label(word.phrase.empty() ? word.text : word.phrase, word.token));
}

std::string mixture(const std::vector<AskedWord>& words, const Vector<double>& amounts,
                    const Largest& largest) {
  return fmt::format("{} {} and {} {}", quoted(words, largest.first), hundredths(amounts(largest.first)),
                     quoted(words, largest.second), hundredths(amounts(largest.second)));
}

std::string changed_row(const AnswerTable& table, Index row) {
  const Vector<double> before = table.before.row(row).transpose();
  const Vector<double> after = table.after.row(row).transpose();
  const Largest was(before);
  const Largest is(after);
  const std::string memory = queried(entry(table.words, row));
  const std::string value = quoted(table.words, is.first);
  const std::string amount = hundredths(after(is.first));
  if (after(is.first) < noticed) {
    return fmt::format("{} now returns none of these values ({} was {}).", memory,
                       quoted(table.words, was.first), hundredths(before(was.first)));
  }
  const bool overshoots = after(is.first) > overshot;
  if (is.is_mixture(after))
    return fmt::format("{} now returns a mixture{}: {}.", memory, overshoots ? " and overshoots" : "",
                       mixture(table.words, after, is));
  if (is.first != was.first || before(was.first) < noticed) {
    if (overshoots) return fmt::format("{} now returns {} and overshoots: {}.", memory, value, amount);
    if (is.second < 0 || after(is.second) < noticed)
      return fmt::format("{} now returns {} ({}).", memory, value, amount);
    return fmt::format("{} now returns mostly {} ({}; {} {}).", memory, value, amount,
                       quoted(table.words, is.second), hundredths(after(is.second)));
  }
  const std::string still =
      fmt::format("{} still returns {}{}", memory, value, overshoots ? ", overshooting" : "");
  Index changed = 0;  // most
  table.change.row(row).cwiseAbs().maxCoeff(&changed);
  const bool gains = table.change(row, changed) >= noticed && after(changed) >= noticed;
  if (gains && changed != is.first) {
    const std::string earlier =
        before(changed) < noticed ? "" : fmt::format(", before {}", hundredths(before(changed)));
    return fmt::format("{} ({}), now mixed with {} ({}{}).", still, amount, quoted(table.words, changed),
                       hundredths(after(changed)), earlier);
  }
  const std::string amount_before = hundredths(before(is.first));
  if (amount == amount_before) return fmt::format("{} ({}, as before).", still, amount);
  return fmt::format("{} ({}, before {}).", still, amount, amount_before);
}

/// What the memory returns for the query of a token; empty where none is asked so.
std::string queried_row(const AnswerTable& table) {
  const auto word = std::ranges::find_if(table.words, &AskedWord::by_query);
  if (word == table.words.end()) return {};
  const Index row = word - table.words.begin();
  const Vector<double> after = table.after.row(row).transpose();
  const Largest is(after);
  const std::string memory = queried(*word);
  if (after(is.first) < noticed) return fmt::format("{} returns none of these values.", memory);
  if (is.is_mixture(after))
    return fmt::format("{} returns a mixture: {}.", memory, mixture(table.words, after, is));
  return fmt::format("{} returns {} ({}).", memory, quoted(table.words, is.first),
                     hundredths(after(is.first)));
}

}  // namespace

StoredPairs last_pairs(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens) {
  StoredPairs pairs;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    require_token(tokens[i], sequence.tokens);
    const StoredPairs own = stored_pairs(variant, sequence, tokens[i], 1);
    if (i == 0) {
      pairs.keys.resize(static_cast<Index>(tokens.size()), own.keys.cols());
      pairs.values.resize(static_cast<Index>(tokens.size()), own.values.cols());
    }
    pairs.keys.row(static_cast<Index>(i)) = own.keys.bottomRows(1);
    pairs.values.row(static_cast<Index>(i)) = own.values.bottomRows(1);
  }
  return pairs;
}

std::string phrase_before(std::span<const std::string> labels, Index token) {
  require_token(token, std::ssize(labels));
  constexpr std::size_t most_letters = 24;
  const bool spaced = have_spaces(labels, token);
  std::string phrase(word_text(entry(labels, token)));
  if (only_counts(phrase, token) || phrase.find(pair_sign) != phrase.npos) return phrase;
  const auto gap_of = [&](const std::string& label) {
    return !spaced || (!label.empty() && is_space(label.front())) ? " " : "";
  };
  std::string gap = gap_of(entry(labels, token));
  for (Index t = token - 1; t >= 0; --t) {
    const std::string& label = entry(labels, t);
    if (ends_sentence(label)) return phrase;
    std::string longer = std::string(word_text(label)) + gap + phrase;
    if (letter_count(longer) > most_letters) return "…" + phrase;
    phrase = std::move(longer);
    gap = gap_of(label);
  }
  return phrase;
}

WordStrengths word_strengths(const Variant& variant, const Sequence& sequence) {
  constexpr double most_at_once = 1e3;  // a gate that is 0 takes all, and sums stay finite
  WordStrengths strengths = {.written = write_strengths(variant, sequence).of_token};
  const std::optional<Keeping> kept = keeping(variant, sequence);
  if (!kept) return strengths;
  strengths.faded.resize(sequence.tokens);
  double passed = 0;
  for (Index t = 0; t < sequence.tokens; ++t)
    strengths.faded(t) = passed += std::clamp(-std::log2(kept->most(t)), 0.0, most_at_once);
  return strengths;
}

std::vector<AskedWord> asked_words(std::span<const std::string> labels, const WordStrengths& of_words,
                                   Index token, const WordChoice& choice) {
  const Vector<double>& strengths = of_words.written;
  require_token(token, std::min<Index>(std::ssize(labels), strengths.size()));
  const std::string_view present = word_text(entry(labels, token));
  const Occurrences strong =
      strong_occurrences(labels, strengths, first_not_faded(of_words.faded, token), token + 1);
  std::vector<AskedWord> words = choice.pinned.empty()
                                     ? strongest_words(strong, strengths, token, present, choice)
                                     : pinned_words(labels, choice.pinned);
  for (AskedWord& word : words) {
    word.is_present = word.text == present;
    word.phrase = phrase_before(labels, word.token);
    word.is_written = word.token <= token;
    word.is_again = word.is_present && word.token != token;
    word.by_query = word.token == choice.query;
    std::vector<Index> others;
    if (const auto found = strong.find(word.text); found != strong.end()) others = found->second;
    by_strength(others, strengths);
    others.resize(std::min<std::size_t>(others.size(), most_occurrences));
    word.occurrences.push_back(word.token);
    word.occurrences.insert(word.occurrences.end(), others.begin(), others.end());
    std::ranges::sort(word.occurrences);
    const auto repeated = std::ranges::unique(word.occurrences);
    word.occurrences.erase(repeated.begin(), repeated.end());
  }
  std::ranges::sort(words, {}, &AskedWord::token);
  return words;
}

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
  double most = 0;
  for (Index row = 0; row < std::ssize(table.words); ++row) {
    const double largest = table.change.row(row).cwiseAbs().maxCoeff();
    if (entry(table.words, row).is_present) {
      table.present = row;
    } else if (largest > most) {
      table.most_changed = row;
      most = largest;
    }
  }
  return table;
}

std::vector<SharedKey> shared_keys(const Variant& variant, const Sequence& sequence,
                                   const std::vector<AskedWord>& words) {
  if (words.empty()) return {};
  Matrix<double> directions = questions_of(variant, sequence, words);
  directions.rowwise().normalize();
  std::vector<SharedKey> keys;
  for (Index row = 0; row < std::ssize(words); ++row) {
    const AskedWord& word = entry(words, row);
    const auto known = std::ranges::find_if(keys, [&](const SharedKey& key) {
      return directions.row(row).dot(directions.row(key.first)) >= same_key;
    });
    if (known == keys.end())
      keys.push_back({row, row});
    else if (word.is_present || (word.is_written && !entry(words, known->row).is_present))
      known->row = row;
  }
  return keys;
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

std::string answer_sentence(const AnswerTable& table) {
  if (table.words.empty()) return "No token has been written yet.";
  if (std::ranges::none_of(table.words, &AskedWord::is_written))
    return "None of these tokens has been written yet.";
  const double largest = std::max(table.before.cwiseAbs().maxCoeff(), table.after.cwiseAbs().maxCoeff());
  if (!std::isfinite(table.before.sum() + table.after.sum()))
    return "The memory has diverged: the values it returns are not finite.";
  if (largest < noticed)
    return fmt::format("The memory returns none of these values (all coefficients below {}).", noticed);
  if (const std::string queried = queried_row(table); !queried.empty()) return queried;
  const double change = table.most_changed ? table.change.row(*table.most_changed).cwiseAbs().maxCoeff() : 0;
  if (change >= noticed) return changed_row(table, *table.most_changed);
  const bool knew_others = table.words.size() > (table.present ? 1U : 0U);
  if (table.present && table.change.row(*table.present).cwiseAbs().maxCoeff() >= noticed) {
    std::string others;
    if (knew_others && change < 0.005) others = " No other association changed.";
    if (knew_others && change >= 0.005)
      others = fmt::format(" No other association changed by more than {}.", bound_number(change, 2));
    return changed_row(table, *table.present) + others;
  }
  if (table.change.isZero(0)) return "This step changes no stored association.";
  const double most = table.change.cwiseAbs().maxCoeff();
  return fmt::format("No stored association changed by more than {}.", bound_number(most, 2));
}

std::string output_sentence(const OutputAnswer& answer) {
  if (answer.is_early || answer.words.empty()) return {};  // answer_sentence() says so
  if (answer.is_nothing) return "The output is 0: this token reads nothing.";
  const bool is_one = answer.words.size() == 1;
  const std::string share = fmt::format("{:.0f} %", 100 * std::max(answer.explained, 0.0));
  const std::string explained =
      is_one ? fmt::format("its value explains {} of the direction", share)
             : fmt::format("these {} values explain {} of its direction", answer.words.size(), share);
  const Largest largest(answer.amounts);
  const std::string first = quoted(answer.words, largest.first);
  if (!(answer.explained >= noticed) || !(answer.amounts(largest.first) > 0))
    return fmt::format("The output resembles {}: {}.",
                       is_one ? first + " only weakly" : "none of these values", explained);
  const bool is_mixed =
      largest.second >= 0 && answer.amounts(largest.second) >= mixed * answer.amounts(largest.first);
  if (is_mixed) {
    return fmt::format("The output resembles a mixture of {} and {}: {}.", first,
                       quoted(answer.words, largest.second), explained);
  }
  return fmt::format("The output resembles {}: {}.", first, explained);
}

}  // namespace palimpsest
