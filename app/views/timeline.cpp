#include <fmt/format.h>
#include <imgui.h>

#include "app/gl/context_local.h"
#include "app/session/learn_questions.h"
#include "app/studio/application.h"
#include "app/views/floor.h"
#include "app/views/form_words.h"
#include "app/views/panels.h"
#include "app/views/timeline_rows.h"
#include "app/views/timeline_scale.h"
#include "app/views/underlined_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float above = 8;  // the words
constexpr float overview_height = 8;
constexpr float overview_gap = 2;  // below the rows, and twice that below itself

constexpr std::size_t most_words = 12;  // that one asks about

constexpr float slowest_scroll = 6;     // tokens a second, while the cursor is dragged beyond an edge
constexpr float scroll_per_column = 4;  // more for each column's width that the pointer is away

/// With Ctrl, a click asks the memory about a word as well, or no more. Returns whether it did.
bool ask_about_word(Application& application, const TimelineColumns& columns) {
  if (!ImGui::GetIO().KeyCtrl || !(ImGui::IsItemActivated() || ImGui::IsItemActive())) return false;
  if (!ImGui::IsItemActivated()) return true;
  SessionState next = application.session.state();
  if (next.words.empty()) next.words = underlined_words(application.session);
  const Index token = columns.token_at(ImGui::GetIO().MousePos.x);
  const auto place = std::ranges::lower_bound(next.words, token);
  if (place != next.words.end() && *place == token)
    next.words.erase(place);
  else if (next.words.size() < most_words)
    next.words.insert(place, token);
  else
    application.refusal = fmt::format("The memory is asked about {} words at most", most_words);
  application.session.change(std::move(next));
  return true;
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

/// The letter of a rate.
std::string letter_of(const std::string& rate) {
  constexpr std::pair<const char*, const char*> letters[] = {
      {"beta", "β"}, {"delta", "δ"}, {"eta", "η"}, {"theta", "θ"}};
  for (const auto& [name, letter] : letters) {
    if (rate == name) return letter;
  }
  return rate;
}

std::string facts_words(const TokenFacts& facts, const Recall* recall, const std::string& written_by) {
  std::string words;
  if (facts.alpha)
    words += fmt::format("\nkept: α = {:.4f}, {}", *facts.alpha, half_life_words(*facts.alpha));
  if (facts.beta) words += fmt::format("\nstrength: β = {:.4f}", *facts.beta);
  if (facts.written)
    words += fmt::format("\nwritten: {} = {}", written_by.empty() ? "‖k‖‖v‖" : letter_of(written_by) + "‖k‖²",
                         fixed_number(*facts.written, 4));
  if (recall) {
    words += fmt::format("\nlength of the error before {:.3g}, after {:.3g}", std::sqrt(2 * recall->before),
                         std::sqrt(2 * recall->after));
  }
  return words;
}

/// "fading since then has left 0.93 of it by “drum”": of the word under the pointer.
std::string kept_words(Session& session, Index token) {
  KeptSince key;
  key.of = session.computed();
  key.first = token;
  key.last = session.token();
  if (!key.of.lock() || key.first >= key.last) return {};
  const Known<KeptSince::Value> kept = session.questions().ask(key);
  if (!kept.value || !*kept.value) return {};
  const KeptBetween& part = **kept.value;
  std::string words = fmt::format("\nfading leaves {:.3g} of it until “{}”", part.mean,
                                  visible_label(session.data().labels[static_cast<std::size_t>(key.last)]));
  if (part.channels > 1)
    words += fmt::format(", {:.2g} to {:.2g} over its {} channels", part.least, part.most, part.channels);
  return words;
}

void describe_token(Session& session, const TimelineColumns& columns, Index bad) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip) || ImGui::IsItemActive()) return;
  const Index token = columns.token_at(ImGui::GetIO().MousePos.x);
  const auto index = static_cast<std::size_t>(token);
  std::string words = fmt::format("word {}: “{}”", token, visible_label(session.data().labels[index]));
  const Computation& computed = *session.computed();
  words += facts_words(computed.tokens[index], computed.recall(token), computed.written_by);
  words += kept_words(session, token);
  if (token == bad) words += "\nHere the forms begin to differ.";
  tooltip(words);
}

/// A strip that stands for the whole text: what is in view, and the cursor. Dragging it scrolls.
void overview(TimelineView& view, const TimelineColumns& columns, Index token) {
  const ImVec2 position = {columns.position.x, columns.position.y + columns.size.y + style::px(overview_gap)};
  const ImVec2 size = {columns.size.x, style::px(overview_height)};
  ImGui::SetCursorScreenPos(position);
  ImGui::InvisibleButton("overview", size);
  const double tokens = static_cast<double>(columns.tokens);
  const double visible = static_cast<double>(columns.end() - columns.begin());
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

/// Whether some of the text lies outside the panel.
bool is_longer(const TimelineColumns& columns) {
  return columns.first > 0 || columns.end() < columns.tokens ||
         columns.left(columns.tokens) > columns.position.x + columns.size.x + 1;
}

/// The rows, above a transport that begins at `bottom`.
void draw_text_of(Application& application, ImVec2 from, ImVec2 to) {
  Session& session = application.session;
  const Computation& computed = *session.computed();
  auto& view = context_local<TimelineView>();
  const ImVec2 size = {to.x - from.x, to.y - from.y - style::px(overview_height + 3 * overview_gap)};
  if (size.x < style::px(40) || size.y < style::px(60)) return;
  const TimelineColumns columns = timeline_columns(view, session, from, size);
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("timeline", size);
  const Index bad = computed.agree ? -1 : first_bad_token(computed);
  if (!ask_about_word(application, columns)) drag(application, view, columns);
  describe_token(session, columns, bad);
  turn_wheel_over_item(view, columns, session);
  draw_timeline_rows(columns, session, bad);
  if (is_longer(columns)) overview(view, columns, session.token());
}

}  // namespace

void draw_timeline(Application& application) {
  draw_floor_panel(application, "##timeline panel", above, 0, RowsAbove::facts, [&](ImVec2 from, ImVec2 to) {
    from.x += style::px(timeline_gutter - style::panel_padding);
    draw_text_of(application, from, to);
  });
}

}  // namespace palimpsest
