#include "core/insight/answer_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/plain_number.h"

namespace palimpsest {

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
