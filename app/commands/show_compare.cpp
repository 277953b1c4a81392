#include <fmt/format.h>

#include <cmath>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/compare_questions.h"
#include "app/session/compared_sides.h"
#include "app/session/computation.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

/// One of the sides, computed and asked at the place.
struct ShownSide {
  Side side;
  std::shared_ptr<const Computation> computation;
  std::shared_ptr<const SideMoment> moment;
  std::shared_ptr<const RecallOfTokens::Value> recall;
};

ShownSide shown_side(const ShownPlace& place, const Side& side, std::size_t index) {
  const Effort effort{.stop = place.stop, .progress = {}};
  ShownSide shown{.side = side, .computation = place.computation, .moment = {}, .recall = {}};
  if (index > 0) {
    Choice choice = place.computation->choice;
    static_cast<Side&>(choice) = side;
    shown.computation = begin(place.computation->data, choice, place.stop);
  }
  SideAtWord key;
  key.of = shown.computation;
  key.reference = place.computation;
  key.asking = place.computation;
  key.token = place.token;
  key.words = {.pinned = place.words};
  shown.moment = find_out(key, effort);
  RecallOfTokens recall;
  recall.of = shown.computation;
  shown.recall = find_out(recall, effort);
  return shown;
}

std::optional<std::pair<double, double>> error_of(const ShownSide& shown, Index token) {
  if (shown.recall->tokens.empty()) return std::nullopt;
  const Recall& recall = shown.recall->tokens[static_cast<std::size_t>(token)];
  return std::pair(std::sqrt(2 * recall.before), std::sqrt(2 * recall.after));
}

Json errors_json(const ShownSide& shown) {
  if (shown.recall->tokens.empty()) return nullptr;
  auto errors = Json::array();
  for (const Recall& recall : shown.recall->tokens) errors.push_back(std::sqrt(2 * recall.after));
  return errors;
}

Json side_json(const ShownPlace& place, const ShownSide& shown) {
  const SideMoment& moment = *shown.moment;
  Json json = {{"variant", shown.side.variant},
               {"form", name(shown.side.form)},
               {"device", shown.computation->choice.device},
               {"precision", name(shown.side.precision)},
               {"parameters", shown.computation->sequence.settings.parameters},
               {"does", side_sentence(*shown.computation)},
               {"memory", nullptr},
               {"answers", nullptr},
               {"error", nullptr},
               {"errors_after", errors_json(shown)}};
  if (const auto error = error_of(shown, place.token))
    json["error"] = {{"before", error->first}, {"after", error->second}};
  if (!moment.no_memory.empty()) {
    json["no_memory"] = moment.no_memory;
    return json;
  }
  json["memory"] = {{"state", moment.state},
                    {"length_before", moment.before.length},
                    {"length_after", moment.after.length},
                    {"before", json_of(moment.before.S)},
                    {"after", json_of(moment.after.S)}};
  if (moment.no_difference.empty())
    json["memory"]["difference_length"] = moment.after.apart_length;
  else
    json["memory"]["no_difference"] = moment.no_difference;
  if (!moment.no_table.empty()) {
    json["no_answers"] = moment.no_table;
    return json;
  }
  auto words = Json::array();
  for (const AskedWord& word : moment.table.words)
    words.push_back({{"token", word.token}, {"text", place.text(word.token)}});
  json["answers"] = {{"words", words},
                     {"before", json_of(moment.table.before)},
                     {"after", json_of(moment.table.after)},
                     {"sentence", moment.sentence}};
  return json;
}

}  // namespace

ShownNumbers show_compare(const ShownPlace& place) {
  SessionState state;
  state.set_choice(place.computation->choice);
  state.sides.insert(state.sides.end(), place.beside.begin(), place.beside.end());
  ShownNumbers shown;
  auto sides = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"side", "length of the memory", "difference to the first", "error before", "after"}};
  std::string sentences;
  std::size_t index = 0;
  for (const Side& side : compared_sides(state)) {
    const ShownSide each = shown_side(place, side, index++);
    const SideMoment& moment = *each.moment;
    sides.push_back(side_json(place, each));
    const bool has_memory = moment.no_memory.empty();
    const auto error = error_of(each, place.token);
    rows.push_back(
        {each.computation->variant->label, has_memory ? fmt::format("{:.4g}", moment.after.length) : "-",
         has_memory && moment.no_difference.empty() ? fmt::format("{:.4g}", moment.after.apart_length) : "-",
         error ? fmt::format("{:.4g}", error->first) : "-",
         error ? fmt::format("{:.4g}", error->second) : "-"});
    sentences += fmt::format("{}: {}\n", each.computation->variant->label,
                             has_memory ? moment.sentence + moment.no_table : moment.no_memory);
  }
  shown.json = {{"sides", sides}};
  shown.text = fmt::format("Sides after {}:\n", place.numbered(place.token)) + columns(rows) + sentences;
  return shown;
}

}  // namespace palimpsest
