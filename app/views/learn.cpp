#include "app/views/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "app/gl/context_local.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float slack = 1.5F;  // formulas lie between pixels

void note(ImVec2 from, ImVec2 to) {
  LearnMap& map = learn_map();
  map.words.push_back({from, to});
  const Rectangle& panel = map.panel;
  const bool is_inside = from.x >= panel.minimum.x - slack && from.y >= panel.minimum.y - slack &&
                         to.x <= panel.maximum.x + slack && to.y <= panel.maximum.y + slack;
  if (!is_inside) map.beyond.push_back({from, to});
}

std::shared_ptr<const Foundation> foundation_of(const Application& application) {
  return application.session.computed();
}

Role role_of(std::string_view symbol) {
  static constexpr std::pair<std::string_view, Role> roles[] = {
      {"k", Role::key},           {"v", Role::value},          {"q", Role::query},
      {"\\alpha", Role::gate},    {"\\gamma", Role::gate},     {"f", Role::gate},
      {"\\beta", Role::strength}, {"\\theta", Role::strength}, {"\\eta", Role::strength},
      {"\\delta", Role::strength}};
  for (const auto& [name, role] : roles) {
    if (name == symbol) return role;
  }
  return Role::plain;
}

/// How many letters a symbol at the start of `latex` has; a command with its backslash.
std::size_t symbol_length(std::string_view latex) {
  if (latex.front() != '\\') return 1;
  std::size_t length = 1;
  while (length < latex.size() && std::isalpha(static_cast<unsigned char>(latex[length])) != 0) ++length;
  return std::max<std::size_t>(length, 2);
}

/// The length of what stands in braces at the start of `latex`, with them; 1 of a single letter.
std::size_t group_length(std::string_view latex) {
  if (latex.empty() || latex.front() != '{') return latex.empty() ? 0 : symbol_length(latex);
  int depth = 0;
  for (std::size_t i = 0; i < latex.size(); ++i) {
    depth += latex[i] == '{' ? 1 : latex[i] == '}' ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return latex.size();
}

}  // namespace

std::span<const Panel> learn_panels() {
  static constexpr Panel list[] = {
      {"How far may it step?", PanelPlace::center, draw_learn},
      {"Error at this word", PanelPlace::right_top, draw_learn_side},
      {"What each stored word still answers", PanelPlace::bottom, draw_learn_floor},
  };
  return list;
}

LearnMap& learn_map() { return context_local<LearnMap>(); }

void begin_learn_piece() {
  const ImVec2 from = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  learn_map().panel = {from, {from.x + size.x, from.y + size.y}};
}

void learn_text(ImVec2 position, ImU32 colour, std::string_view words) {
  const ImVec2 extent = text_extent(words);
  note(position, {position.x + extent.x, position.y + extent.y});
  draw_text(position, colour, words);
}

void learn_text_right(ImVec2 right_top, ImU32 colour, std::string_view words) {
  learn_text({right_top.x - text_extent(words).x, right_top.y}, colour, words);
}

float learn_link(Application& application, ImVec2 position, ImU32 colour, const std::string& words,
                 Index token) {
  const ImVec2 extent = text_extent(words);
  ImGui::SetCursorScreenPos(position);
  ImGui::InvisibleButton(words.c_str(), {std::max(extent.x, 1.0F), extent.y});
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsItemClicked()) {
    application.playing = false;
    application.show_welcome = false;
    application.session.go_to_token(token);
  }
  tooltip(fmt::format("Go to word {}.", token));
  learn_text(position, colour, words);
  const float line = position.y + extent.y;
  ImGui::GetWindowDrawList()->AddLine({position.x, line}, {position.x + extent.x, line},
                                      style::with_alpha(colour, 0.5F), style::px(style::line));
  learn_map().links.push_back({words, {position, {position.x + extent.x, line}}});
  return extent.x;
}

std::string joined_to_fit(std::span<const std::string> parts, float width) {
  std::string words = parts.front();
  for (const std::string& part : parts.subspan(1)) {
    const std::string more = words + "; " + part;
    if (text_extent(more).x > width) break;
    words = more;
  }
  return shortened(words, width);
}

float learn_formula(ImVec2 baseline, const std::string& latex, float size_px, ImU32 colour) {
  const FormulaSize size = draw_formula(ImGui::GetWindowDrawList(), baseline, latex, size_px, colour);
  note({baseline.x, baseline.y - size.baseline},
       {baseline.x + size.width, baseline.y - size.baseline + size.height});
  return size.width;
}

LearnChoice learn_choice(ImVec2 from, std::span<const char* const> words, std::size_t chosen) {
  LearnChoice choice{.index = chosen, .right = from.x};
  for (std::size_t i = 0; i < words.size(); ++i) {
    ImGui::SetCursorScreenPos({choice.right, from.y});
    if (style::segment_button(words[i], i == chosen, {.first = i == 0, .last = i + 1 == words.size()}))
      choice.index = i;
    const ImVec2 size = style::segment_size(words[i]);
    learn_map().choices.push_back(
        {words[i], {{choice.right, from.y}, {choice.right + size.x, from.y + size.y}}});
    choice.right += size.x;
  }
  note(from, {choice.right, from.y + style::segment_size(words.front()).y});
  return choice;
}

std::string coloured_symbols(std::string_view latex) {
  std::string coloured;
  for (std::size_t i = 0; i < latex.size();) {
    const std::size_t length = symbol_length(latex.substr(i));
    const std::string_view symbol = latex.substr(i, length);
    std::size_t end = i + length;
    if (symbol == "\\mathrm" || symbol == "\\textstyle") {
      if (symbol == "\\mathrm") end += group_length(latex.substr(end));
      coloured += latex.substr(i, end - i);
      i = end;
      continue;
    }
    const Role role = role_of(symbol);
    if (role == Role::plain) {
      coloured += symbol;
    } else {
      if (end < latex.size() && latex[end] == '_') end += 1 + group_length(latex.substr(end + 1));
      coloured += fmt::format("\\fgcolor{{{}}}{{{}}}", style::hex(style::colours().role(role)),
                              latex.substr(i, end - i));
    }
    i = end;
  }
  return coloured;
}

Known<LearningNow::Value> ask_learning(Application& application) {
  LearningNow key;
  key.of = foundation_of(application);
  key.token = application.session.token();
  return application.session.questions().ask(key);
}

Known<TokenCourses> ask_courses(Application& application, Index channel) {
  CoursesOfTokens key;
  key.of = foundation_of(application);
  key.channel = channel;
  return application.session.questions().ask(key);
}

std::string quoted_word(const Computation& computed, Index token) {
  return fmt::format("“{}”", visible_label(computed.data->labels[static_cast<std::size_t>(token)]));
}

}  // namespace palimpsest
