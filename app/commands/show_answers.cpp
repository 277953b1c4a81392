#include <fmt/format.h>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/memory_answers.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

Json words_json(const std::vector<AskedWord>& words) {
  Json json = Json::array();
  for (const AskedWord& word : words) {
    json.push_back({{"token", word.token},
                    {"text", word.text},
                    {"phrase", word.phrase},
                    {"occurrences", word.occurrences},
                    {"present", word.is_present}});
  }
  return json;
}

Json row_json(const std::optional<Index>& row) { return row ? Json(*row) : Json(nullptr); }

/// A table with its words beside the rows and above the columns; the rest says what of each row.
std::string table_text(const AnswerTable& table, const Matrix<double>& numbers,
                       const Vector<double>* explained) {
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const AskedWord& word : table.words) rows.front().push_back(word.text);
  rows.front().insert(rows.front().end(), {explained ? "explained" : "", ""});
  for (Index i = 0; i < numbers.rows(); ++i) {
    const AskedWord& word = table.words[static_cast<std::size_t>(i)];
    rows.push_back({fmt::format("{} {}", word.token, word.text)});
    for (Index j = 0; j < numbers.cols(); ++j) rows.back().push_back(fmt::format("{:.2f}", numbers(i, j)));
    rows.back().insert(rows.back().end(),
                       {explained ? fmt::format("{:.0f} %", 100 * (*explained)(i)) : "", ""});
  }
  return columns(rows);
}

}  // namespace

ShownNumbers show_answers(const ShownPlace& place) {
  const MemoryAnswers key{place.computation, place.form, place.cursor, {.pinned = place.words}};
  const auto answers = key.compute({.stop = place.stop, .progress = {}});
  const AnswerTable& table = answers->table;
  ShownNumbers shown;
  shown.json = {{"words", words_json(table.words)},
                {"linear", table.is_linear},
                {"before", json_of(table.before)},
                {"change", json_of(table.change)},
                {"after", json_of(table.after)},
                {"explained_before", json_of(table.explained_before)},
                {"explained_after", json_of(table.explained_after)},
                {"present", row_json(table.present)},
                {"most_changed", row_json(table.most_changed)},
                {"legibility", answers->legibility},
                {"sentence", answers->sentence},
                {"changed_by", answers->change},
                {"output",
                 {{"words", words_json(answers->output.words)},
                  {"amounts", json_of(answers->output.amounts)},
                  {"explained", answers->output.explained},
                  {"sentence", answers->output_sentence}}}};
  shown.text = one_line(answers->sentence) + '\n';
  if (table.words.empty()) return shown;
  shown.text += "\nbefore\n" + table_text(table, table.before, &table.explained_before);
  shown.text += fmt::format("\n{}\n", answers->change) + table_text(table, table.change, nullptr);
  shown.text += "\nafter\n" + table_text(table, table.after, &table.explained_after);
  shown.text +=
      fmt::format("\nlegibility {:.2f}\n\n{}\n", answers->legibility, one_line(answers->output_sentence));
  std::vector<std::vector<std::string>> rows;
  const std::vector<AskedWord>& words = answers->output.words;
  for (std::size_t i = 0; i < words.size(); ++i)
    rows.push_back({words[i].text, fmt::format("{:.3f}", answers->output.amounts(static_cast<Index>(i)))});
  shown.text += columns(rows);
  return shown;
}

}  // namespace palimpsest
