#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>  // to own the mouse wheel while it zooms

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/views/form_words.h"
#include "app/views/panels.h"
#include "app/views/timeline_columns.h"
#include "app/views/transport.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float transport_height = 28;
constexpr float overview_height = 8;
constexpr float narrowest_comfort = 48;  // design pixels
constexpr float widest_comfort = 104;
constexpr float widest_column = 120;
constexpr float slowest_scroll = 6;     // tokens a second, while the cursor is dragged beyond an edge
constexpr float scroll_per_column = 4;  // more for each column's width that the pointer is away

/// The range of widths between "all of the text" and "a few words".
float fitting(const Computation& computed, float width) {
  return width / static_cast<float>(std::max<std::size_t>(computed.tokens.size(), 1));
}

/// The longest error among tokens [begin, end), as the scale of the bars.
double largest_error(const Computation& computed, Index begin, Index end) {
  double largest = 0;
  for (Index t = begin; t < end; ++t) {
    const std::optional<Recall>& recall = computed.tokens[static_cast<std::size_t>(t)].recall;
    if (!recall) continue;
    for (const double error : {recall->before, recall->after}) {
      if (std::isfinite(error)) largest = std::max(largest, std::sqrt(2 * error));
    }
  }
  return largest;
}

void measure_facts(TimelineView& view, const Computation& computed) {
  view.version = computed.version;
  // The scale of the bars of all tokens belongs to the data, so that rules can be compared: the error of a
  // memory that answers the very opposite. What is longer is cut off.
  view.largest_error = view.common_error = 2 * computed.scales.value_length;
  view.largest_beta = 1;
  for (const TokenFacts& facts : computed.tokens) {
    if (facts.beta && std::isfinite(*facts.beta))
      view.largest_beta = std::max(view.largest_beta, *facts.beta);
  }
}

/// A width at which most labels of the text are readable.
float comfortable(const std::vector<std::string>& labels) {
  constexpr std::size_t sample = 256;
  const style::TextStyle style(style::Text::body);
  std::vector<float> widths;
  for (const std::string& label : labels) {
    if (widths.size() == sample) break;
    widths.push_back(text_extent(visible_label(label)).x);
  }
  if (widths.empty()) return style::px(narrowest_comfort);
  const auto most = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() * 9 / 10);
  std::nth_element(widths.begin(), most, widths.end());
  return std::clamp(*most + style::px(12), style::px(narrowest_comfort), style::px(widest_comfort));
}

/// Chooses the zoom for new data and keeps it in range when the panel changes its size.
void fit(TimelineView& view, const Session& session, float width) {
  const Computation& computed = *session.computed();
  if (view.version != computed.version) measure_facts(view, computed);
  const float all = std::min(fitting(computed, width), style::px(widest_column));
  if (view.data_id != session.data().id) {
    view.data_id = session.data().id;
    view.column = std::max(all, comfortable(session.data().labels));
    view.first = 0;
    view.followed = -1;
  }
  view.column = std::clamp(view.column, all, style::px(widest_column));
}

void clamp_first(TimelineView& view, Index tokens, float width) {
  const double visible = static_cast<double>(width / view.column);
  view.first = std::clamp(view.first, 0.0, std::max(static_cast<double>(tokens) - visible, 0.0));
}

/// Scrolls as little as needed when the cursor has moved, leaving some of what comes next in sight.
void follow(TimelineView& view, Index token, float width) {
  if (view.followed == token) return;
  view.followed = token;
  const double visible = static_cast<double>(width / view.column);
  const double margin = std::min(2.0, visible / 4);
  const auto at = static_cast<double>(token);
  view.first =
      std::clamp(view.first, at + 1 + margin - visible, std::max(at - margin, at + 1 + margin - visible));
}

/// The wheel zooms around the pointer; sideways it scrolls.
void wheel(TimelineView& view, const TimelineColumns& columns) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsItemHovered()) return;
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelX);
  if (io.MouseWheel != 0) {
    const double pointer = static_cast<double>(io.MousePos.x - columns.position.x);
    const double token = view.first + pointer / static_cast<double>(view.column);
    const float narrowest =
        std::min(columns.size.x / static_cast<float>(columns.tokens), style::px(widest_column));
    view.column =
        std::clamp(view.column * std::pow(1.2F, io.MouseWheel), narrowest, style::px(widest_column));
    view.first = token - pointer / static_cast<double>(view.column);
  }
  if (io.MouseWheelH != 0) view.first -= static_cast<double>(io.MouseWheelH * style::px(60) / view.column);
}

/// The cursor follows the pointer; beyond an edge the text scrolls, faster the farther the pointer is.
void drag(Application& application, TimelineView& view, const TimelineColumns& columns) {
  if (!ImGui::IsItemActive()) return;
  application.playing = false;
  const ImGuiIO& io = ImGui::GetIO();
  const float right = columns.position.x + columns.size.x - 1;
  const float x = std::clamp(io.MousePos.x, columns.position.x, right);
  const float beyond = io.MousePos.x - x;
  if (beyond != 0) {
    const float speed = slowest_scroll + std::abs(beyond) / columns.column * scroll_per_column;
    view.first += static_cast<double>(std::copysign(speed, beyond) * io.DeltaTime);
  }
  const Index token = columns.token_at(x);
  if (token != application.session.token()) {
    application.show_welcome = false;
    application.session.go_to_token(token);
  }
  view.followed = application.session.token();  // what is under the pointer stays there
}

std::string facts_words(const TokenFacts& facts) {
  std::string words;
  if (facts.alpha) words += fmt::format("\nkept α = {:.4f}", *facts.alpha);
  if (facts.beta) words += fmt::format("\nwritten β = {:.4f}", *facts.beta);
  if (facts.recall) {
    words += fmt::format("\nlength of the error before {:.3g}, after {:.3g}",
                         std::sqrt(2 * facts.recall->before), std::sqrt(2 * facts.recall->after));
  }
  return words;
}

void describe_token(const Session& session, const TimelineColumns& columns, Index bad) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip) || ImGui::IsItemActive()) return;
  const Index token = columns.token_at(ImGui::GetIO().MousePos.x);
  const auto index = static_cast<std::size_t>(token);
  std::string words = fmt::format("token {}: “{}”", token, session.data().labels[index]);
  words += facts_words(session.computed()->tokens[index]);
  if (token == bad) words += "\nHere the forms begin to differ.";
  tooltip(words);
}

/// A strip that stands for the whole text: what is in view, and the cursor. Dragging it scrolls.
void overview(TimelineView& view, const TimelineColumns& columns, Index token) {
  const ImVec2 position = ImGui::GetCursorScreenPos();
  const ImVec2 size = {columns.size.x, style::px(overview_height)};
  ImGui::InvisibleButton("overview", size);
  const double tokens = static_cast<double>(columns.tokens);
  const double visible = static_cast<double>(columns.size.x / columns.column);
  const auto x = [&](double at) {
    return position.x + size.x * static_cast<float>(std::clamp(at / tokens, 0.0, 1.0));
  };
  if (ImGui::IsItemActive()) {
    view.first =
        static_cast<double>((ImGui::GetIO().MousePos.x - position.x) / size.x) * tokens - visible / 2;
  }
  const style::Palette& c = style::colours();
  const float middle = std::round(position.y + size.y / 2);
  const float half = style::px(2);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
  list->AddRectFilled({position.x, middle - half}, {position.x + size.x, middle + half},
                      style::mix(c.panel, c.edge, 0.6F), half);
  list->AddRectFilled({x(view.first), middle - half},
                      {std::max(x(view.first + visible), x(view.first) + 4 * half), middle + half},
                      lit ? c.dim : c.faint, half);
  const float cursor = std::round(x(static_cast<double>(token) + 0.5));
  list->AddRectFilled({cursor - style::px(1), position.y}, {cursor + style::px(1), position.y + size.y},
                      c.text);
}

void draw_text_of(Application& application) {
  const Session& session = application.session;
  const Computation& computed = *session.computed();
  auto& view = context_local<TimelineView>();
  const float width = ImGui::GetContentRegionAvail().x;
  const float below = style::px(transport_height) + style::px(12) + style::px(overview_height);
  const float height = ImGui::GetContentRegionAvail().y - below;
  if (width < style::px(40) || height < style::px(60)) return;

  fit(view, session, width);
  follow(view, session.token(), width);
  const auto tokens = static_cast<Index>(computed.tokens.size());
  clamp_first(view, tokens, width);
  const ImVec2 position = ImGui::GetCursorScreenPos();
  const TimelineColumns columns = {position, {width, height}, tokens, view.first, view.column};
  const bool shared = application.view.shared_scale;
  view.largest_error = shared ? view.common_error : largest_error(computed, columns.begin(), columns.end());

  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::InvisibleButton("timeline", columns.size);
  const Index bad = computed.agree ? -1 : first_bad_token(computed);
  drag(application, view, columns);
  describe_token(session, columns, bad);
  wheel(view, columns);
  draw_timeline_columns(columns, view, session, bad);
  if (static_cast<float>(tokens) * view.column > width + 1) {
    overview(view, columns, session.token());
  } else {
    ImGui::Dummy({width, style::px(overview_height)});
  }
  ImGui::Dummy({0, style::px(12)});
  ImGui::PopStyleVar();
}

}  // namespace

void draw_timeline(Application& application) {
  if (style::begin_panel("##timeline panel", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse) &&
      application.session.computed()) {
    draw_text_of(application);
    draw_transport(application);
  }
  style::end_panel();
}

}  // namespace palimpsest
