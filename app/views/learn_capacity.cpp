// How much fits into the memory: pairs are stored one after the other, and all are asked for.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "app/gl/context_local.h"
#include "app/scene/plot.h"
#include "app/session/learn_questions.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index most_channels = 32;  // more take long and say the same

/// What was asked for with the button; it goes on until it is there or stopped.
struct WantedSweeps {
  std::optional<CapacitySweep> asked;
};

struct NamedKeys {
  const char* words;
  Keys keys;
};

constexpr std::array<NamedKeys, 3> kinds = {{{"random keys", Keys::random},
                                             {"keys at right angles", Keys::orthonormal},
                                             {"keys alike, cosine 0.5", Keys::correlated}}};

ImU32 ink_of(std::size_t kind) {
  const style::Palette& c = style::colours();
  return std::array{c.key, c.good, c.error}[kind];
}

Plot empty_plot(Index channels) {
  const auto pairs = static_cast<double>(channels);
  Plot plot{
      .name = "capacity",
      .x = {.title = {"pairs stored"}, .scale = PlotAxis::Scale::octaves, .low = 0.93, .high = 4.3 * pairs},
      .y = {.title = {"error of recall, |answer − v| / |v|: mean of all pairs", "dashed the worst"},
            .low = 0,
            .high = 1.6}};
  PlotMark full = upright_mark("as many as channels", pairs,
                               {.colour = style::colours().faint, .width = style::line, .dash = 5});
  full.label = {.words = {full.name}, .colour = style::colours().dim};
  full.wish = {0, 0.85F};
  plot.marks.push_back(full);
  return plot;
}

/// How well pairs of a kind are recalled, and how badly the worst of them.
void add_points(Plot& plot, const std::vector<CapacityPoint>& points, ImU32 ink, const std::string& words) {
  PlotSeries mean{.name = words,
                  .look = {.colour = ink, .width = 2.5F, .marker = PlotMarker::circle},
                  .label = {.words = {words}}};
  PlotSeries worst{.look = {.colour = style::with_alpha(ink, 0.5F), .width = 1.2F, .dash = 5}};
  for (const CapacityPoint& point : points) {
    mean.x.push_back(static_cast<double>(point.pairs));
    mean.y.push_back(point.mean);
    worst.y.push_back(point.worst);
  }
  worst.x = mean.x;
  plot.series.push_back(std::move(worst));
  plot.series.push_back(std::move(mean));
}

}  // namespace

void draw_capacity_page(Application& application, const LearnRoom& room) {
  const style::Palette& c = style::colours();
  const Computation& computed = *application.session.computed();
  Session& session = application.session;
  CapacitySweep present{.variant = computed.variant->id,
                        .channels = std::min({computed.sequence.dk, computed.sequence.dv, most_channels}),
                        .settings = session.choice().settings};
  auto& wanted = context_local<WantedSweeps>();
  const bool is_asked = wanted.asked && !(*wanted.asked < present) && !(present < *wanted.asked);
  ImGui::SetCursorScreenPos(room.from);
  if (!is_asked) {
    style::paragraph(fmt::format(
        "{} to {} pairs of {} channels go into an empty memory of {} that keeps everything and learns "
        "with a full step; then every one is asked for. Four draws for each kind of keys.",
        1, 4 * present.channels, present.channels, computed.variant->label));
    if (style::pill_button("measure")) wanted.asked = present;
    return;
  }
  Plot plot = empty_plot(present.channels);
  double progress = 0;
  bool under_way = false;
  std::string reason;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CapacitySweep key = present;
    key.keys = kinds[i].keys;
    const Known<CapacitySweep::Value> answer = session.questions().ask(key, Urgency::later);
    under_way = under_way || answer.under_way;
    progress += (answer.value ? 1 : answer.progress) / static_cast<double>(kinds.size());
    if (answer.value) add_points(plot, *answer.value, ink_of(i), kinds[i].words);
    if (!answer.reason.empty()) reason = answer.reason;
  }
  draw_plot(plot, {{room.from.x, room.from.y + px(34)}, room.to});
  ImGui::SetCursorScreenPos(room.from);
  const auto each = [&](const auto& act) {
    for (const NamedKeys& kind : kinds) {
      CapacitySweep key = present;
      key.keys = kind.keys;
      act(key);
    }
  };
  if (under_way) {
    if (style::pill_button("stop")) each([&](const CapacitySweep& key) { session.questions().give_up(key); });
    const ImVec2 from = {room.from.x + px(84), room.from.y + px(12)};
    const float width = px(220);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(from, {from.x + width, from.y + px(4)}, c.edge, px(2));
    list->AddRectFilled(from, {from.x + width * static_cast<float>(progress), from.y + px(4)}, c.good, px(2));
  } else if (style::pill_button("again")) {
    each([&](const CapacitySweep& key) { session.questions().forget(key); });
  }
  if (!reason.empty() && !under_way) {
    ImGui::SetCursorScreenPos({room.from.x + px(96), room.from.y + px(4)});
    style::paragraph(reason);
  }
}

}  // namespace palimpsest
