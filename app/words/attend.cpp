#include "app/words/attend.h"

namespace palimpsest {

const char* attend_legend(const AttentionFacts& facts) {
  return facts.is_finished ? "rows: queries · columns: keys/values · in what the memory returns, of which "
                             "the output is made"
                           : "rows: queries · columns: keys/values";
}

std::string weight_words(double number, bool is_share) {
  if (!std::isfinite(number)) return "none";
  if (!is_share) return plain_number(number, 2);
  const double percent = 100 * number;
  const double size = std::abs(percent);
  if (size < 0.0095) return "0 %";
  return size >= 0.95 ? fmt::format("{:.0f} %", percent) : fmt::format("{:.1g} %", percent);
}

std::string square_words(WeighedBy by, bool gates_are_1, double scale, Index weights, bool briefly) {
  std::string words;
  if (by == WeighedBy::rule) {
    words = briefly ? "warm adds, cool subtracts"
                    : "the weight of each value in the output: warm adds, cool subtracts";
    if (gates_are_1) words += "; every gate is 1";
  } else {
    words = briefly ? "all weights are positive"
                    : fmt::format("of the same q and k, scale {:.3g}: all weights are positive", scale);
  }
  if (weights > 1)
    words += briefly ? fmt::format("; largest of {}", weights)
                     : fmt::format("; a pixel shows the largest of {} weights", weights);
  return words;
}

std::string cell_words(const std::string& query, const std::string& key, std::optional<double> weight,
                       bool is_share, Index weights) {
  std::string words = fmt::format("The query of {} and the key of {}", query, key);
  if (weight)
    words += fmt::format("\n{} {}{}", is_share ? "share" : "weight",
                         is_share ? fmt::format("{:.3g} %", 100 * *weight) : fmt::format("{:.3g}", *weight),
                         weights > 1 ? fmt::format(", the largest of {} here", weights) : std::string());
  return words + "\nClick to go to this query.";
}

std::vector<std::string> recall_words(const LeftOfWrite& left) {
  const auto percent = [](double share) { return std::round(100 * share) + 0.0; };  // no −0
  const double first = percent(left.shares.front());
  const double last = percent(left.shares.back());
  return {fmt::format("recalled {:.0f} %, now {:.0f} %", first, last),
          fmt::format("{:.0f} → {:.0f} %", first, last)};
}

std::vector<std::string> most_lost_words(const LeftOfWrite& left, const std::string& quoted) {
  const std::string number = fmt::format(": {:.0f} %", 100 * left.lost_there);
  const char* const how = left.is_erased ? "lowered by" : "decayed at";
  return {fmt::format("{} token {} {}{}", how, left.lost_most_at + 1, quoted, number),
          fmt::format("{} {}{}", how, quoted, number), number.substr(2)};
}

std::string together_words(const RowOfWeights& row, const std::string& softmax_most) {
  std::string words;
  if (row.reason.empty() && !row.words.empty()) {
    words = fmt::format("Together they have {} of this row", weight_words(row.together, true));
    if (row.softmax_weights.size() > 0)
      words += fmt::format(", {} of softmax's", weight_words(row.softmax_together, true));
    words += row.subtracts == 0 ? ". No weight is negative."
                                : fmt::format(". Negative weights: {}.", weight_words(row.subtracts, true));
  }
  if (!softmax_most.empty())
    words += fmt::format(" The largest softmax weight: {}, {}.", softmax_most,
                         weight_words(row.softmax_weights(row.softmax_most), true));
  return words;
}

}  // namespace palimpsest
