// How much fits into the memory: pairs are stored one after the other, and all are asked for.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "app/gl/context_local.h"
#include "app/session/learn_questions.h"
#include "app/views/learn.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index most_channels = 32;  // more take long and say the same
constexpr float axis = 46;

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

void draw_points(const Chart& chart, const std::vector<CapacityPoint>& points, ImU32 ink,
                 const std::string& words, float& labels_end) {
  std::vector<double> xs;
  std::vector<double> mean;
  std::vector<double> worst;
  for (const CapacityPoint& point : points) {
    xs.push_back(std::log2(static_cast<double>(point.pairs)));
    mean.push_back(point.mean);
    worst.push_back(point.worst);
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  curve(list, chart, xs, worst, style::with_alpha(ink, 0.5F), px(1.2F), true);
  curve(list, chart, xs, mean, ink, px(2.5F));
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (mean[i] <= chart.top) list->AddCircleFilled({chart.x(xs[i]), chart.y(mean[i])}, px(3), ink);
  }
  const style::TextStyle text(style::Text::caption);
  learn_text({chart.from.x + px(10), labels_end}, ink, words);
  labels_end += text_extent("x").y + px(4);
}

void draw_axes(const Chart& chart, Index channels) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const style::TextStyle text(style::Text::number_small);
  const float height = text_extent("0").y;
  for (const double value : {0.0, 0.5, 1.0, 1.5}) {
    const float y = std::round(chart.y(value));
    list->AddLine({chart.from.x, y}, {chart.to.x, y}, style::mix(c.panel, c.edge, 0.6F), px(style::line));
    learn_text_right({chart.from.x - px(6), y - height / 2}, c.dim, fmt::format("{:.1f}", value));
  }
  for (double power = 0; power <= chart.right; ++power) {
    const std::string words = fmt::format("{:g}", std::exp2(power));
    learn_text({chart.x(power) - text_extent(words).x / 2, chart.to.y + px(5)}, c.dim, words);
  }
  const float x = chart.x(std::log2(static_cast<double>(channels)));
  dashed_line(list, {x, chart.from.y}, {x, chart.to.y}, c.faint, px(style::line));
  const style::TextStyle caption(style::Text::caption);
  const std::string words = "as many as channels";
  learn_text_right({x - px(6), chart.to.y - height - px(8)}, c.dim, words);
  const std::string below = shortened(
      "pairs stored; upwards the error of recall, |answer − v| / |v|: mean of all pairs, dashed the worst",
      chart.to.x - chart.from.x);
  learn_text({(chart.from.x + chart.to.x - text_extent(below).x) / 2, chart.to.y + px(22)}, c.dim, below);
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
  const Chart chart{.from = {room.from.x + px(axis), room.from.y + px(34)},
                    .to = {room.to.x - px(12), room.to.y - px(axis)},
                    .left = -0.1,
                    .right = std::log2(4.0 * static_cast<double>(present.channels)) + 0.1,
                    .bottom = 0,
                    .top = 1.6};
  double progress = 0;
  bool under_way = false;
  float labels = chart.from.y + px(8);
  std::string reason;
  draw_axes(chart, present.channels);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CapacitySweep key = present;
    key.keys = kinds[i].keys;
    const Known<CapacitySweep::Value> answer = session.questions().ask(key, Urgency::later);
    under_way = under_way || answer.under_way;
    progress += (answer.value ? 1 : answer.progress) / static_cast<double>(kinds.size());
    if (answer.value) draw_points(chart, *answer.value, ink_of(i), kinds[i].words, labels);
    if (!answer.reason.empty()) reason = answer.reason;
  }
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
