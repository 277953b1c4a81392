#include <fmt/format.h>

#include <cmath>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/learn_answers.h"
#include "core/insight/keeping.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

std::string tokens_text(double half_life) {
  return std::isfinite(half_life) ? fmt::format("{:.3g}", half_life) : "for ever";
}

Json keeping_json(const std::optional<Keeping>& keeping) {
  if (!keeping) return nullptr;
  auto half_lives = Json::array();
  for (const double kept : keeping->mean) {
    const double tokens = half_life(kept);
    half_lives.push_back(std::isfinite(tokens) ? Json(tokens) : Json(nullptr));
  }
  return {{"array", keeping->array},        {"channels", keeping->channels},
          {"mean", json_of(keeping->mean)}, {"least", json_of(keeping->least)},
          {"most", json_of(keeping->most)}, {"half_lives", half_lives}};
}

}  // namespace

ShownNumbers show_gates(const ShownPlace& place) {
  CoursesOfTokens key;
  key.of = place.computation;
  const auto courses = key.compute({.stop = place.stop, .progress = {}});
  const auto& strengths = courses->strengths;
  const auto& keeping = courses->keeping;
  ShownNumbers shown;
  shown.json = {{"keeping", keeping_json(keeping)}, {"strength", nullptr}};
  if (strengths) {
    shown.json["strength"] = {{"array", strengths->array},
                              {"reach", json_of(strengths->reach)},
                              {"squares", json_of(strengths->squares)}};
  } else {
    shown.json["no_strength"] = courses->no_strengths;
  }
  if (!keeping) shown.text += "This rule takes no gate.\n";
  if (!strengths) shown.text += courses->no_strengths + '\n';
  std::vector<std::string> header = {""};
  if (keeping) header.insert(header.end(), {"kept", "half is left after tokens"});
  if (keeping && keeping->channels > 1) header.insert(header.end(), {"least kept", "most kept"});
  if (strengths) header.emplace_back("rate x curvature");
  header.emplace_back("");
  std::vector<std::vector<std::string>> rows = {header};
  for (Index t = 0; t < place.computation->sequence.tokens; ++t) {
    std::vector<std::string> row = {place.numbered(t)};
    if (keeping)
      row.insert(row.end(),
                 {fmt::format("{:.4f}", keeping->mean(t)), tokens_text(half_life(keeping->mean(t)))});
    if (keeping && keeping->channels > 1)
      row.insert(row.end(),
                 {fmt::format("{:.4f}", keeping->least(t)), fmt::format("{:.4f}", keeping->most(t))});
    if (strengths) row.push_back(fmt::format("{:.3f}", strengths->reach(t)));
    row.emplace_back("");
    rows.push_back(std::move(row));
  }
  shown.text += columns(rows);
  return shown;
}

}  // namespace palimpsest
