#include "app/words/answers.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace palimpsest {

namespace {

/// Whether a row stands for several tokens of the text.
bool comes_again(const AskedWord& word) { return word.occurrences.size() > 1; }

std::string_view thick_frame_words(const AnswerTable& table) {
  const bool again = table.present && comes_again(entry(table.words, *table.present));
  return again ? "the text at the cursor" : "the token at the cursor";
}

/// “The red jar holds a key” (token 7); "token 7"
std::string quoted_and_numbered(const AskedWord& word) {
  const std::string quoted = quoted_label(word.phrase, word.token);
  return only_counts(word.phrase, word.token) ? quoted : fmt::format("{} (token {})", quoted, word.token + 1);
}

/// What the frame of a row means; empty if it has none.
std::string mark_words(const AnswerTable& table, Index row) {
  if (row == table.present) return fmt::format(" Thick frame: {}.", thick_frame_words(table));
  if (row == noticeably_changed(table)) return " Thin frame: the other token whose value changes most.";
  return {};
}

}  // namespace

std::optional<Index> noticeably_changed(const AnswerTable& table) {
  const auto& row = table.most_changed;
  const bool is_seen = row && !(table.change.row(*row).cwiseAbs().maxCoeff() < least_number);
  return is_seen ? row : std::nullopt;
}

std::string row_number(const AskedWord& word) {
  if (word.by_query) return "query of";
  return comes_again(word) || word.is_again ? std::to_string(word.token + 1) : "";
}

std::string column_number(const AskedWord& word, bool briefly) {
  if (!comes_again(word)) return word.is_again ? std::to_string(word.token + 1) : "";
  const Index first = word.occurrences.front() + 1;
  return briefly ? fmt::format("{}…", first) : fmt::format("{}…{}", first, word.occurrences.back() + 1);
}

std::string row_words(const AnswerTable& table, Index row) {
  const AskedWord& word = entry(table.words, row);
  std::string words =
      fmt::format("{}: the memory is queried with {}.", quoted_and_numbered(word),
                  word.by_query ? "the query of this token; other rows use keys" : "the key of this token");
  if (comes_again(word))
    words += fmt::format(" {} is written {} times so far. The row uses this key; the column sums all values.",
                         quoted_label(word.text, word.token), word.occurrences.size());
  return words + mark_words(table, row);
}

std::string how_to_read_words(const AnswerTable& table, double scale, bool has_output) {
  const bool again = std::ranges::any_of(table.words, comes_again);
  const bool reads = std::ranges::any_of(table.words, &AskedWord::by_query);
  return fmt::format(
      "Row: the token whose key{} queries the memory.{} Column: the coefficient of {} in the returned value. "
      "Thick frame: {}; thin frame: the largest other change. {}{}",
      reads ? ", or query at “query of”," : "", again ? " Repeated text: the key of the numbered token." : "",
      again ? "all its values" : "that token's value", thick_frame_words(table), scale_words(scale),
      has_output ? " Attend shows which tokens are read." : "");
}

std::string title_with_scale(std::string_view title, double scale) {
  return scale == 1 ? std::string(title) : fmt::format("{}, to ±{}", title, answer_number(scale));
}

std::string scale_words(double scale) {
  if (scale == 1) return "Colours from −1 to 1.";
  const std::string end = answer_number(scale);
  return fmt::format("Colours from −{} to {}: keys of small norm give coefficients above 1.", end, end);
}

std::string answer_number(double value) {
  if (!std::isfinite(value)) return "none";
  const double size = std::abs(value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return size < 9999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.0e}", value);
}

std::string answer_words(const AnswerTable& table, std::string_view title, const Matrix<double>& values,
                         Index row, Index column) {
  const AskedWord& asked = entry(table.words, row);
  const AskedWord& found = entry(table.words, column);
  return fmt::format(
      "{}: with the {} of {}, {} {} × the value of {}, fitted with the other "
      "values. After this step these values explain {:.0f} % of the returned direction.{}",
      title, asked.by_query ? "query" : "key", quoted_and_numbered(asked),
      &values == &table.change ? "what the memory returns changes by" : "the memory returns",
      fixed_number(values(row, column), 4), quoted_label(found.text, found.token),
      100 * std::max(table.explained_after(row), 0.0), mark_words(table, row));
}

}  // namespace palimpsest
