#include "app/scene/draw.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>  // to tell windows apart
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "app/gl/context_local.h"
#include "app/scene/parts.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest::scene {

namespace {

using style::px;

constexpr float frame_corner = 4;  // design pixels

/// That of the current Dear ImGui context.
WrappingRuler wrapping_ruler() {
  return {screen_ruler(false), [](const std::string& words, style::Text text, float width) {
            const style::TextStyle style(text);
            const std::vector<std::string_view> lines = wrapped_lines(words, width);
            return std::vector<std::string>(lines.begin(), lines.end());
          }};
}

Rectangle last_item() { return {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()}; }

/// Whether Dear ImGui has it: it is an item by itself.
bool is_control(const Node& node) {
  return std::holds_alternative<Button>(node.content) || std::holds_alternative<Slider>(node.content) ||
         std::holds_alternative<Input>(node.content) || std::holds_alternative<Menu>(node.content);
}

class Drawing {
 public:
  void draw(const Placed& placed) {
    const Node& node = *placed.node;
    const std::string_view piece = piece_of(node);
    if (!piece.empty()) note_part(piece, placed.where, words_of(placed));
    const PartScope scope(piece);
    ImGui::BeginDisabled(!node.enabled);
    if (is_control(node))
      draw_control(placed);
    else
      draw_others(placed);
    ImGui::EndDisabled();
  }

  /// Does what was pressed.
  void act() const {
    for (const std::function<void()>& act : acts_) act();
  }

 private:
  void draw_control(const Placed& placed) {
    ImGui::SetCursorScreenPos(placed.where.minimum);
    std::visit([&](const auto& content) { draw_content(content, placed); }, placed.node->content);
    tell(*placed.node);
  }

  /// Scrolls to what is to be seen now, once, so that one can scroll away.
  static void reveal(const Placed& placed) {
    struct Revealed {
      std::map<ImGuiID, std::string> last;  // by window
    };
    const Node& node = *placed.node;
    if (node.revealed.empty()) return;
    std::string& last = context_local<Revealed>().last[ImGui::GetCurrentWindow()->ID];
    if (last == node.revealed) return;
    last = node.revealed;
    const float top = ImGui::GetWindowPos().y;
    if (placed.where.maximum.y > top + ImGui::GetWindowHeight())
      ImGui::SetScrollFromPosY(placed.where.maximum.y + px(8) - top, 1);
  }

  void draw_others(const Placed& placed) {
    const Node& node = *placed.node;
    reveal(placed);
    const bool was_lit = is_lit_;
    answer_pointer(placed);
    ImGui::SetCursorScreenPos(placed.where.minimum);
    if (!node.name.empty()) ImGui::PushID(node.name.c_str());
    std::visit([&](const auto& content) { draw_content(content, placed); }, node.content);
    if (!node.name.empty()) ImGui::PopID();
    is_lit_ = was_lit;
  }

  /// An item below what is drawn where a node can be pressed or has something to tell.
  void answer_pointer(const Placed& placed) {
    const Node& node = *placed.node;
    if (!node.act && !node.pointed && node.tip.empty()) return;
    const ImVec2 size = {std::max(placed.size().x, 1.0F), std::max(placed.size().y, 1.0F)};
    ImGui::SetCursorScreenPos(placed.where.minimum);
    if (node.act) {
      ImGui::SetNextItemAllowOverlap();
      const std::string label = node.name.empty() ? "##press" : node.name;
      if (ImGui::InvisibleButton(label.c_str(), size)) acts_.push_back(node.act);
      is_lit_ = is_lit_ || ImGui::IsItemHovered() || ImGui::IsItemFocused();
    } else {
      ImGui::Dummy(size);
    }
    if (node.pointed && ImGui::IsItemHovered()) acts_.push_back(node.pointed);
    tell(node);
  }

  static void tell(const Node& node) {
    if (node.tip.empty()) return;
    if (node.key.empty())
      tooltip(node.tip);
    else
      tooltip(node.tip, node.key);
  }

  /// What is dimmed is bright while the pointer is on what it belongs to; what is off is faint.
  ImU32 shown(Ink ink) const {
    const style::Palette& c = style::colours();
    const bool is_off = ImGui::GetStyle().Alpha < 0.99F;
    if (is_off) return c.faint;
    if (ink == 0) return c.text;
    if (ink == edge_ink) return c.edge;
    if (ink == dim_ink || ink == c.dim) return is_lit_ ? c.text : c.dim;
    return ink;
  }

  void draw_content(const Text& text, const Placed& placed) const {
    const style::TextStyle letters(text.style);
    const float step = text_extent("x").y + px(4);
    ImVec2 at = placed.where.minimum;
    for (const std::string& line : placed.lines) {
      draw_text(at, shown(text.ink), line);
      at.y += step;
    }
  }

  void draw_content(const Formula& formula, const Placed& placed) const {
    const FormulaSize size = measure_formula(formula.latex, placed.letters);
    const ImVec2 from = placed.where.minimum;
    draw_formula(ImGui::GetWindowDrawList(), {from.x, from.y + size.baseline}, formula.latex, placed.letters,
                 shown(formula.ink));
  }

  void draw_content(const Picture& picture, const Placed& placed) const {
    const ImVec2 from = placed.where.minimum;
    const ImVec2 size = placed.size();
    if (picture.values) {
      heat_map(scope_path(), *picture.values, picture.version, from, size, picture.look);
      ImGui::Dummy(size);
      if (picture.told && ImGui::IsItemHovered()) {
        const Matrix<double>& all = *picture.values;
        const MatrixBlock& block = picture.look.block;
        Index rows = block.rows < 0 ? all.rows() - block.first_row : block.rows;
        Index columns = block.columns < 0 ? all.cols() - block.first_column : block.columns;
        if (picture.look.transposed) std::swap(rows, columns);
        if (const auto cell = hovered_cell(from, size, rows, columns, ImGui::GetIO().MousePos))
          tooltip(picture.told(*cell));
      }
    }
    // The outline shows where numbers lie that are all near zero.
    ImGui::GetWindowDrawList()->AddRect(from, placed.where.maximum, style::colours().edge, 0,
                                        px(style::line));
  }

  void draw_content(const Bar& bar, const Placed& placed) const {
    const auto& [from, to] = placed.where;
    const double span = std::max(bar.most - bar.least, 1e-300);
    const auto x = [&](double value) {
      return std::round(from.x + (to.x - from.x) * static_cast<float>((value - bar.least) / span));
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (std::isfinite(bar.value) && bar.value != 0) {
      const float left = std::min(x(0), x(bar.value));
      const float right = std::max({x(0), x(bar.value), left + 1});
      list->AddRectFilled({left, from.y}, {right, to.y}, shown(bar.ink));
    }
    if (bar.shows_zero)
      list->AddLine({x(0), from.y - px(2)}, {x(0), to.y + px(2)}, style::colours().dim, px(style::line));
  }

  static void draw_content(const Track& track, const Placed& placed) {
    const auto& [from, to] = placed.where;
    const float half = px(2);
    const float middle = std::round((from.y + to.y) / 2);
    const auto x = [&](double value) {
      return from.x + (to.x - from.x) * static_cast<float>(std::clamp(value / track.end, 0.0, 1.0));
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled({from.x, middle - half}, {x(track.limit), middle + half}, track.below, half);
    list->AddRectFilled({x(track.limit), middle - half}, {x(track.end), middle + half}, track.beyond, half);
    list->AddCircleFilled({x(track.value), middle}, px(5), track.ink);
  }

  void draw_content(const Sparkline& line, const Placed& placed) const {
    const auto& [from, to] = placed.where;
    const auto count = static_cast<double>(line.values.size());
    const auto at = [&](double index) {
      const double value = line.values[static_cast<std::size_t>(std::min(index, count - 1))];
      const double part = line.most > 0 ? std::clamp(value / line.most, 0.0, 1.0) : 0;
      const double last = line.has_bars ? count : std::max(count - 1, 1.0);
      return ImVec2{from.x + static_cast<float>(index / last) * (to.x - from.x),
                    to.y - static_cast<float>(part) * (to.y - from.y)};
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 ink = shown(line.ink);
    // No more points than pixels.
    const double step = line.has_bars ? 1 : std::max(std::floor(count / (to.x - from.x + 1)), 1.0);
    for (double i = 0; i < count; i += step) {
      const ImVec2 one = at(i);
      const ImVec2 next = at(i + step);
      if (line.has_bars) {
        const float gap = next.x - one.x > 3 ? 1.0F : 0.0F;
        list->AddRectFilled({one.x, std::min(one.y, to.y - 1)}, {std::max(next.x - gap, one.x + 1), to.y},
                            ink);
      } else if (i + step < count) {
        list->AddQuadFilled(one, next, {next.x, to.y}, {one.x, to.y}, style::with_alpha(ink, 0.25F));
        list->AddLine(one, next, ink, px(style::line));
      }
    }
    if (!line.has_bars) list->AddLine({from.x, to.y}, to, style::colours().edge);
    if (line.marked < 0) return;
    const float x = at(static_cast<double>(line.marked)).x;
    list->AddLine({x, from.y}, {x, to.y}, shown(line.mark_ink), px(style::lit_line));
  }

  void draw_content(const Mark& mark, const Placed& placed) const {
    const auto& [from, to] = placed.where;
    const ImVec2 middle = {from.x + px(5), std::round((from.y + to.y) / 2)};
    const ImU32 ink = shown(mark.ink);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float line = mark.strong ? px(2.25F) : px(style::line);
    switch (mark.kind) {
      case Mark::Kind::dot:
        return list->AddCircleFilled(middle, px(4), ink);
      case Mark::Kind::ring:
        return list->AddCircle(middle, px(4), ink, 0, px(1));
      case Mark::Kind::tick: {
        const std::array<ImVec2, 3> tick = {
            ImVec2{from.x, middle.y}, {from.x + px(3), middle.y + px(3)}, {from.x + px(9), middle.y - px(4)}};
        return list->AddPolyline(tick.data(), 3, ink, px(1.75F));
      }
      case Mark::Kind::dash:
        return list->AddLine({from.x, middle.y}, {from.x + px(9), middle.y}, ink, px(1.75F));
      case Mark::Kind::line:
        return list->AddLine({from.x, middle.y}, {to.x, middle.y}, ink, line);
      case Mark::Kind::dashes:
        return dashed_line(list, {from.x, middle.y}, {to.x, middle.y}, ink, line);
      case Mark::Kind::square:
        return list->AddRectFilled({from.x, middle.y - px(2)}, {to.x, middle.y + px(2)}, ink);
      case Mark::Kind::spinner:
        return style::spinner(middle, ink);
    }
  }

  void draw_content(const Button& button, const Placed& placed) {
    const std::string& words = button.words;
    const Node& node = *placed.node;
    const std::string label = node.name.empty() ? words : words + "###" + node.name;
    const auto pressed = [&] {
      switch (button.look) {
        case Button::Look::pill:
          return style::pill_button(label.c_str(), button.chosen, button.ink);
        case Button::Look::word:
          return style::word_button(label.c_str(), 20);
        case Button::Look::link:
          return style::link_button(label.c_str(), 20);
        case Button::Look::tab:
          return style::tab_button(label.c_str(), button.chosen);
        case Button::Look::segment:
          return style::segment_button(label.c_str(), button.chosen,
                                       {.first = button.first, .last = button.last});
        case Button::Look::line:
          break;
      }
      const style::TextStyle letters(button.chosen ? style::Text::strong : style::Text::body);
      return ImGui::Selectable(label.c_str(), button.chosen, ImGuiSelectableFlags_NoAutoClosePopups,
                               placed.size());
    }();
    if (pressed && node.act) acts_.push_back(node.act);
  }

  void draw_content(const Slider& slider, const Placed& placed) {
    double value = slider.value;
    style::SliderLook<double> look = slider.look;
    look.shown = slider.shown;
    ImGui::SetNextItemWidth(placed.size().x);
    const Node& node = *placed.node;
    const std::string label = node.name.empty() ? slider.words : slider.words + "###" + node.name;
    if (style::slider(slider.symbol.c_str(), label.c_str(), &value, look) && slider.set)
      acts_.emplace_back([set = slider.set, value] { set(value); });
  }

  void draw_content(const Input& input, const Placed& placed) {
    std::string text = input.text;
    ImGui::SetNextItemWidth(placed.size().x);
    const std::string label = "##" + placed.node->name;
    const ImGuiInputTextFlags flags = input.on_enter ? ImGuiInputTextFlags_EnterReturnsTrue : 0;
    if (ImGui::InputText(label.c_str(), &text, flags) && input.set)
      acts_.emplace_back([set = input.set, text] { set(text); });
  }

  static void draw_content(const Menu& menu, const Placed& placed) {
    const std::string id = std::string(piece_of(*placed.node));
    if (style::pill_button(fmt::format("{} ▾###{}", menu.words, id).c_str())) ImGui::OpenPopup(id.c_str());
    const Rectangle pill = last_item();
    ImGui::SetNextWindowPos({pill.minimum.x, pill.maximum.y + px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(12)));
    const bool is_open = ImGui::BeginPopup(id.c_str(), ImGuiWindowFlags_NoMove);
    ImGui::PopStyleVar();
    if (!is_open) return;
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
    show_in(menu.content(), {px(menu.width), std::numeric_limits<float>::infinity()});
    ImGui::EndPopup();
  }

  static void draw_content(const Drawn& drawn, const Placed& placed) { drawn.draw(placed.where); }

  static void draw_content(const Rule&, const Placed& placed) {
    const auto& [from, to] = placed.where;
    const float y = std::round((from.y + to.y) / 2);
    ImGui::GetWindowDrawList()->AddLine({from.x, y}, {to.x, y}, style::colours().edge, px(style::line));
  }

  void draw_content(const Space&, const Placed&) const {}

  void draw_content(const Frame& frame, const Placed& placed) {
    const auto& [from, to] = placed.where;
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (frame.ground != 0) list->AddRectFilled(from, to, frame.ground, px(frame_corner));
    if (frame.outline != 0) list->AddRect(from, to, shown(frame.outline), px(frame_corner), px(style::line));
    draw(placed.inside.front());
  }

  // What scrolls is laid out where it is drawn: only there one knows how far it is scrolled.
  static void draw_content(const Scroll& scroll, const Placed& placed) {
    if (ImGui::BeginChild("scrolled", placed.size())) show(scroll.node.front());
    ImGui::EndChild();
  }

  void draw_content(const Row&, const Placed& placed) { draw_inside(placed); }
  void draw_content(const Column&, const Placed& placed) { draw_inside(placed); }
  void draw_content(const Grid&, const Placed& placed) { draw_inside(placed); }
  void draw_content(const FirstThatFits&, const Placed& placed) { draw_inside(placed); }
  void draw_content(const Steady&, const Placed& placed) { draw_inside(placed); }

  void draw_inside(const Placed& placed) {
    for (const Placed& inside : placed.inside) draw(inside);
  }

  bool is_lit_ = false;  // the pointer is on something around
  std::vector<std::function<void()>> acts_;
};

}  // namespace

void draw(const Placed& placed) {
  Drawing drawing;
  drawing.draw(placed);
  drawing.act();
}

void show_in(const Node& scene, ImVec2 room) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const Placed placed = lay_out(scene, {from, {from.x + room.x, from.y + room.y}}, wrapping_ruler());
  draw(placed);
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy(placed.size());
}

void show(const Node& scene) { show_in(scene, ImGui::GetContentRegionAvail()); }

}  // namespace palimpsest::scene
