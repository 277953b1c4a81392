#include "app/commands/show_views.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/commands/columns.h"
#include "app/session/learn_questions.h"
#include "app/session/memory_questions.h"
#include "app/session/step_questions.h"
#include "core/base/text.h"
#include "core/insight/memory_change.h"
#include "core/insight/provenance.h"
#include "core/insight/recall.h"

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
  const auto answers = find_out(key, {.stop = place.stop, .progress = {}});
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

namespace {

std::vector<Index> tokens_of(const std::vector<AskedWord>& words) {
  std::vector<Index> tokens;
  for (const AskedWord& word : words) tokens.push_back(word.token);
  return tokens;
}

}  // namespace

ShownNumbers show_recall(const ShownPlace& place) {
  const Effort effort = {.stop = place.stop, .progress = {}};
  RememberedWords key;
  key.of = place.computation;
  key.tokens = place.words.empty() ? tokens_of(words_asked(*place.computation, place.token)) : place.words;
  key.moments.resize(static_cast<std::size_t>(place.computation->sequence.tokens + 1));
  std::iota(key.moments.begin(), key.moments.end(), Index{0});
  const auto recall = find_out(key, effort);
  ShownNumbers shown;
  auto words = nlohmann::ordered_json::array();
  for (const Index token : recall->tokens) words.push_back({{"token", token}, {"text", place.text(token)}});
  shown.json = {{"words", words},
                {"moments", recall->moments},
                {"shares", json_of(recall->shares)},
                {"alignment", recall->is_alignment}};
  shown.text =
      recall->is_alignment
          ? "How well the answer to each word's key lies along its value, after every token.\n" +
                compared_by_direction(*place.computation->variant) + "\n"
          : std::string("How much of each word's value is in the answer to its key, after every token:\n");
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const Index token : recall->tokens) rows.front().push_back(place.numbered(token));
  rows.front().push_back("");
  for (std::size_t moment = 1; moment < recall->moments.size(); ++moment) {
    const Index token = recall->moments[moment] - 1;
    rows.push_back({place.numbered(token)});
    for (std::size_t word = 0; word < recall->tokens.size(); ++word) {
      const double share = recall->shares(static_cast<Index>(word), static_cast<Index>(moment));
      rows.back().push_back(recall->tokens[word] <= token ? fmt::format("{:.2f}", share) : "-");
    }
    rows.back().push_back("");
  }
  shown.text += columns(rows);
  return shown;
}

namespace {

using Json = nlohmann::ordered_json;

/// The largest number of the memory after the token: of S, or of what MesaNet has of the values.
std::pair<Index, Index> largest_cell(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const NamedStates memory =
      RecurrentMemory(*computation.variant, computation.sequence, *computation.recurrence, place.stop)
          .after(place.token + 1);
  std::pair<Index, Index> cell;
  const auto S = std::ranges::find(memory, "S", &NamedStates::value_type::first);
  const Matrix<double>& numbers = S == memory.end() ? memory.back().second : S->second;
  numbers.cwiseAbs().maxCoeff(&cell.first, &cell.second);
  return cell;
}

Json share_json(const Share& share) {
  return {{"written", share.written},
          {"mixed", share.mixed},
          {"decayed", share.decayed},
          {"erased", share.erased},
          {"remaining", share.remaining}};
}

/// "at the start" or "42 drum".
std::string writer_words(const ShownPlace& place, Index token) {
  return token == initial_token ? "at the start" : place.numbered(token);
}

std::string eraser_words(const ShownPlace& place, const WriterShare& writer) {
  return writer.eraser < 0
             ? ""
             : fmt::format("mostly by {}: {:.4f}", place.numbered(writer.eraser), writer.erased_by);
}

}  // namespace

ShownNumbers show_provenance(const ShownPlace& place) {
  const Computation& computation = *place.computation;
  const Rule& rule = *computation.variant->rule;
  const auto [row, column] = place.cell ? *place.cell : largest_cell(place);
  const Provenance made = provenance(rule, computation.sequence,
                                     {.tokens = place.token + 1, .row = row, .column = column}, place.stop);
  const WhoWrote key{place.computation, {.tokens = place.token + 1, .row = row, .column = column}};
  const auto writers = find_out(key, {.stop = place.stop, .progress = {}});
  ShownNumbers shown;
  Json shares = Json::array();
  for (std::size_t t = 0; t < made.shares.size(); ++t) {
    Json share = share_json(made.shares[t]);
    share["token"] = t;
    share["text"] = place.text(static_cast<Index>(t));
    shares.push_back(std::move(share));
  }
  Json strongest = Json::array();
  std::vector<std::vector<std::string>> rows = {{"", "written", "decayed", "erased", "left", ""}};
  for (const WriterShare& writer : writers->strongest) {
    const Share& share = writer.share;
    strongest.push_back({{"token", writer.token},
                         {"remaining", writer.remaining},
                         {"eraser", writer.eraser < 0 ? Json(nullptr) : Json(writer.eraser)},
                         {"erased_by", writer.erased_by}});
    rows.push_back({writer_words(place, writer.token), fmt::format("{:.4f}", share.written),
                    fmt::format("{:.4f}", share.decayed), fmt::format("{:.4f}", share.erased),
                    fmt::format("{:.4f}", writer.remaining), eraser_words(place, writer)});
  }
  if (writers->others > 0) {
    rows.push_back({fmt::format("{} others", writers->others), "", "", "",
                    fmt::format("{:.4f}", writers->others_remaining), ""});
  }
  shown.json = {{"row", row},
                {"column", column},
                {"value", made.value},
                {"strongest", std::move(strongest)},
                {"others", writers->others},
                {"others_remaining", writers->others_remaining},
                {"initial", share_json(made.initial)},
                {"shares", std::move(shares)}};
  shown.text = fmt::format("row {}, column {} of the memory after token {} is {:.4f}:\n", row, column,
                           one_line(place.numbered(place.token)), made.value) +
               columns(rows);
  return shown;
}

}  // namespace palimpsest
