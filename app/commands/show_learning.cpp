#include <fmt/format.h>

#include <cmath>

#include "app/commands/columns.h"
#include "app/commands/show_views.h"
#include "app/session/learn_answers.h"
#include "core/base/error.h"

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
  const auto answer = key.compute(effort);
  if (!*answer) throw Unsupported(fmt::format("token {} makes no step", place.token));
  const LearningMoment& moment = **answer;
  const LearningStep& step = moment.step;
  HarmNow harm_key;
  harm_key.of = place.computation;
  harm_key.token = place.token;
  const auto harm = harm_key.compute(effort);

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

}  // namespace palimpsest
