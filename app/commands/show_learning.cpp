#include "app/commands/show_views.h"

#include <fmt/format.h>
#include <cmath>

#include "app/commands/columns.h"
#include "app/session/learn_questions.h"
#include "core/base/error.h"
#include "core/insight/memory_change.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity.
Json finite(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }

Json stability_json(const std::optional<Stability>& stability) {
  if (!stability) return nullptr;
  return {{"sharpness", stability->sharpness}, {"exact", stability->exact},
          {"reach", stability->reach},         {"eigenvalue", stability->eigenvalue},
          {"growth", stability->growth},       {"largest_rate", finite(stability->largest_rate)}};
}

}  // namespace

ShownNumbers show_learning(const ShownPlace& place) {
  const Effort effort = {.stop = place.stop, .progress = {}};
  LearningNow key;
  key.of = place.computation;
  key.token = place.token;
  const auto answer = find_out(key, effort);
  if (!*answer) throw Unsupported(fmt::format("token {} makes no step", place.token));
  const LearningMoment& moment = **answer;
  const LearningStep& step = moment.step;
  HarmNow harm_key;
  harm_key.of = place.computation;
  harm_key.token = place.token;
  const auto harm = find_out(harm_key, effort);

  ShownNumbers shown;
  shown.json = {{"steps", moment.step_count},
                {"loss_before", finite(step.loss_before)},
                {"loss_after", finite(step.loss_after)},
                {"rate", step.problem.rate},
                {"taken", step.taken},
                {"off_axis", step.off_axis},
                {"gradient_norm", finite(step.gradient_norm)},
                {"momentum_norm", finite(step.momentum_norm)},
                {"gradient_check", {{"places", moment.check.places}, {"error", finite(moment.check.error)}}},
                {"edge", finite(moment.edge)},
                {"parabola_edge", finite(moment.parabola_edge)},
                {"stability", stability_json(step.stability)},
                {"rates", moment.rates},
                {"losses", moment.losses},
                {"singular_values", json_of(step.singular_values)},
                {"harmed", nullptr}};
  std::vector<std::vector<std::string>> rows = {
      {"loss", fmt::format("{:.4g} before the step, {:.4g} after it", step.loss_before, step.loss_after)},
      {"learning rate", fmt::format("{:.4g}; on the line along the gradient the step goes to {:.4g}",
                                    step.problem.rate, step.taken)},
      {"gradient", fmt::format("length {:.4g}; agrees with finite differences: {:.1e}", step.gradient_norm,
                               moment.check.error)},
      {"edge", fmt::format("{:.4g}, where the loss is back at that of no step", moment.edge)}};
  if (step.stability) {
    const char* alone = step.problem.moving.empty() ? "" : " without momentum";
    rows.push_back(
        {"stability",
         fmt::format(
             "rate x curvature {:.4g}; errors are multiplied by {:.4g} along the sharpest direction{}, by "
             "at most {:.4g} along any; stable up to a rate of {:.4g}",
             step.stability->reach, step.stability->eigenvalue, alone, step.stability->growth,
             step.stability->largest_rate)});
  }
  if (step.momentum_norm > 0) rows.push_back({"momentum", fmt::format("length {:.4g}", step.momentum_norm)});
  if (*harm) {
    const HarmedPair& pair = (*harm)->pair;
    shown.json["harmed"] = {{"token", pair.token},      {"text", place.text(pair.token)},
                            {"step", pair.step},        {"before", pair.before},
                            {"after", pair.after},      {"rates", (*harm)->rates},
                            {"losses", (*harm)->losses}};
    rows.push_back({"harms most", fmt::format("{}: its loss goes from {:.4g} to {:.4g}",
                                              place.numbered(pair.token), pair.before, pair.after)});
  } else {
    rows.push_back({"harms most", "no pair that was stored before is answered worse"});
  }
  shown.text = columns(rows, 0);
  std::vector<std::vector<std::string>> line = {{"rate", "loss"}};
  for (std::size_t i = 0; i < moment.rates.size(); i += 10)
    line.push_back({fmt::format("{:.4g}", moment.rates[i]), fmt::format("{:.4g}", moment.losses[i])});
  shown.text += '\n' + columns(line);
  return shown;
}

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
  const auto courses = find_out(key, {.stop = place.stop, .progress = {}});
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
