#include <fmt/format.h>

#include <cmath>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/attention_questions.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : std::string("no number");
}

Json left_json(const std::optional<LeftOfWrite>& left) {
  if (!left || left->shares.empty()) return nullptr;
  Json json = {{"shares", left->shares}};
  if (left->lost_most_at >= 0) {
    json["lost_most_at"] = left->lost_most_at;
    json["lost_there"] = left->lost_there;
    json["erased"] = left->is_erased;
  }
  return json;
}

std::string left_words(const ShownPlace& place, const std::optional<LeftOfWrite>& left) {
  if (!left || left->shares.empty()) return {};
  std::string words =
      fmt::format("recalled {:.0f} %, now {:.0f} %", 100 * left->shares.front(), 100 * left->shares.back());
  if (left->lost_most_at >= 0) {
    words += fmt::format(", {} {}: {:.0f}", left->is_erased ? "erased by" : "lost most at",
                         place.numbered(left->lost_most_at), 100 * left->lost_there);
  }
  return words;
}

}  // namespace

ShownNumbers show_attention(const ShownPlace& place) {
  RowAtToken key;
  key.of = place.computation;
  key.token = place.token;
  const auto row = find_out(key, {.stop = place.stop, .progress = {}});
  FactsOfAttention facts_key;
  facts_key.of = place.computation;
  const auto facts = find_out(facts_key, {.stop = place.stop, .progress = {}});
  auto words = Json::array();
  for (const ReadWord& word : row->words) {
    words.push_back({{"token", word.token},
                     {"text", place.text(word.token)},
                     {"share", word.share},
                     {"softmax_share", word.softmax_share},
                     {"left", left_json(word.left)}});
  }
  ShownNumbers shown;
  shown.json = {{"weights", nullptr},
                {"softmax_weights", json_of(row->softmax_weights)},
                {"sharpness", facts->usual_sharpness},
                {"total", row->total},
                {"subtracts", row->subtracts},
                {"words", words}};
  if (row->reason.empty()) {
    shown.json["weights"] = json_of(row->weights);
    shown.text = fmt::format("What the output of {} is made of; {} of its weights subtract:\n",
                             place.numbered(place.token), percent(row->subtracts));
  } else {
    shown.json["no_weights"] = row->reason;
    shown.text = row->reason + '\n';
  }
  std::vector<std::vector<std::string>> rows = {{"", "this rule", "softmax", "what is left of its write"}};
  for (const ReadWord& word : row->words) {
    rows.push_back({place.numbered(word.token), row->reason.empty() ? percent(word.share) : "-",
                    facts->no_softmax.empty() ? percent(word.softmax_share) : "-",
                    left_words(place, word.left)});
  }
  shown.text += columns(rows);
  if (!facts->no_softmax.empty()) {
    shown.text += facts->no_softmax + '\n';
    return shown;
  }
  shown.text += fmt::format("Softmax of the same q and k, sharpness {:.3g}", facts->usual_sharpness);
  if (row->softmax_most >= 0) {
    shown.json["softmax_most"] = row->softmax_most;
    shown.text += fmt::format(", reads {} most, {}", place.numbered(row->softmax_most),
                              percent(row->softmax_weights(row->softmax_most)));
  }
  shown.text += ".\n";
  return shown;
}

}  // namespace palimpsest
