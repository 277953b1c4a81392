#include <fmt/format.h>

#include <numeric>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/learn_answers.h"
#include "app/session/memory_answers.h"
#include "core/insight/recall.h"

namespace palimpsest {

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
  const auto recall = key.compute(effort);
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

}  // namespace palimpsest
