#include "app/scene/window.h"

#include <fmt/format.h>
#include <imgui_internal.h>  // to replace a tooltip
#include <imgui_stdlib.h>

#include "app/gl/context_local.h"
#include "app/scene/parts.h"
#include "app/widgets/chart.h"
#include "app/words/glossary.h"
#include "core/base/text.h"

namespace palimpsest::scene {

namespace {

using style::px;

// In design pixels.
constexpr float frame_corner = 4;
constexpr float row_words_width = 64;
constexpr float least_row_of_words = 11;  // in lower rows only words that do not touch are shown
constexpr float note_share = 0.56F;       // of the window's width, at most
constexpr float widest_tip = 340;
constexpr ImGuiWindowFlags bar_flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking |
                                       ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                       ImGuiWindowFlags_NoScrollWithMouse;

/// Whether the node is a Dear ImGui item by itself.
bool is_control(const Node& node) {
  return std::holds_alternative<Button>(node.content) || std::holds_alternative<Slider>(node.content) ||
         std::holds_alternative<Input>(node.content) || std::holds_alternative<Filter>(node.content) ||
         std::holds_alternative<Menu>(node.content);
}

class Drawing {
 public:
  void draw(const Placed& placed) {
    const Node& node = *placed.node;
    const std::string_view piece = piece_of(node);
    if (is_hidden(piece)) {
      note_part(piece, placed.where, "hidden");
      return hatch(placed.where, style::colours().faint);
    }
    if (!piece.empty()) note_part(piece, placed.where, words_of(placed));
    const PartScope scope(piece);
    const Enclosing before = around_;
    around_.tips_above |= node.tips_above;
    around_.has_tip |= !node.tip.empty();
    ImGui::BeginDisabled(!node.enabled);
    const bool is_item = is_control(node);
    if (!is_item) reveal(placed);
    if (!is_item) answer_pointer(placed);
    ImGui::SetCursorScreenPos(placed.where.minimum);
    const bool has_id = !is_item && !node.name.empty();
    if (has_id) ImGui::PushID(node.name.c_str());
    std::visit(
        [&](const auto& content) {
          if constexpr (requires { draw_content(content, placed); })
            draw_content(content, placed);
          else
            for (const Placed& inside : placed.inside) draw(inside);
        },
        node.content);
    if (has_id) ImGui::PopID();
    if (is_item) tell(node);
    ImGui::EndDisabled();
    around_ = before;
  }

  void act() const {
    for (const std::function<void()>& act : acts_) act();
  }

 private:
  /// What holds of a node or of one around it.
  struct Enclosing {
    bool is_lit = false;  // the pointer is on it
    bool tips_above = false;
    bool has_tip = false;
  };

  /// Scrolls to the node that is to be revealed, once, so that the user can scroll away.
  static void reveal(const Placed& placed) {
    const std::string& revealed = placed.node->revealed;
    if (revealed.empty()) return;
    auto& last = context_local<std::map<ImGuiID, std::string>, struct Revealed>();  // by window
    if (std::exchange(last[ImGui::GetCurrentWindow()->ID], revealed) == revealed) return;
    const float top = ImGui::GetWindowPos().y;
    const bool is_below = placed.where.maximum.y > top + ImGui::GetWindowHeight();
    if (is_below) ImGui::SetScrollFromPosY(placed.where.maximum.y + px(8) - top, 1);
    if (!is_below && placed.where.minimum.y < top)
      ImGui::SetScrollFromPosY(placed.where.minimum.y - px(8) - top, 0);
  }

  /// An invisible item for a node that can be pressed or has a tooltip.
  void answer_pointer(const Placed& placed) {
    const Node& node = *placed.node;
    if (!node.act && !node.pointed && node.tip.empty()) return;
    const ImVec2 size = upper_of(placed.size(), {1, 1});
    ImGui::SetCursorScreenPos(placed.where.minimum);
    if (node.act) {
      ImGui::SetNextItemAllowOverlap();
      const std::string label = node.name.empty() ? "##press" : node.name;
      if (ImGui::InvisibleButton(label.c_str(), size)) acts_.push_back(node.act);
      around_.is_lit |= ImGui::IsItemHovered() || ImGui::IsItemFocused();
      if (node.underlined && ImGui::IsItemHovered()) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        const auto& [from, to] = placed.where;
        ImGui::GetWindowDrawList()->AddLine({from.x, to.y}, to, style::colours().dim, px(style::line));
      }
    } else {
      ImGui::Dummy(size);
    }
    if (node.pointed && ImGui::IsItemHovered()) acts_.push_back(node.pointed);
    tell(node);
  }

  void tell(const Node& node) {
    if (!node.enabled && node.refused && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
        ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
      acts_.push_back(node.refused);
    if (!node.tip.empty()) tooltip(node.tip, node.key, around_.tips_above);
  }

  /// Dim text is bright while the pointer is on its node; disabled text is faint.
  ImU32 shown(Ink ink) const {
    const style::Palette& c = style::colours();
    const bool is_off = ImGui::GetStyle().Alpha < 0.99F;
    if (is_off || ink == faint_ink) return c.faint;
    if (ink == 0) return c.text;
    if (ink == edge_ink) return c.edge;
    if (ink >= first_role_ink && ink <= role_ink(Role::output))
      return c.role(static_cast<Role>(ink - first_role_ink));
    if (ink == dim_ink || ink == c.dim) return around_.is_lit ? c.text : c.dim;
    return ink;
  }

  void draw_content(const Text& text, const Placed& placed) const {
    const style::TextStyle letters(text.style);
    const float line_height = text_extent("x").y;
    const float step = line_height + px(text.between);
    ImVec2 at = placed.where.minimum;
    if (text.rises) {
      const float inset = std::floor((placed.size().x - line_height) / 2);
      return draw_rising_text({at.x + inset, placed.where.maximum.y}, shown(text.ink), placed.lines.front());
    }
    if (text.height > 0) at.y += (placed.size().y - line_height) / 2;
    // For cut text, the tooltip shows the full text instead of a term.
    const bool is_cut = text.fit == Fit::shorten && placed.lines.front() != text.words;
    bool wants_term = !around_.has_tip && !is_cut && is_pointed(placed.where);
    for (const std::string& line : placed.lines) {
      const float beside = text.centred ? (placed.size().x - text_extent(line).x) / 2 : 0;
      const ImVec2 from = {text.centred ? std::round(at.x + beside) : at.x, at.y};
      draw_text(from, shown(text.ink), line);
      if (text.underlined) {
        const float y = std::round(at.y + line_height) + px(style::line);
        ImGui::GetWindowDrawList()->AddLine({from.x, y}, {from.x + text_extent(line).x, y}, shown(text.ink),
                                            px(style::line));
      }
      if (wants_term) wants_term = !explain_term(line, from, line_height, placed);
      at.y += step;
    }
  }

  /// Underlines the first glossary term in a line of text under the pointer, and explains it when the pointer
  /// rests; false if there is none.
  static bool explain_term(const std::string& line, ImVec2 from, float line_height, const Placed& placed) {
    const FoundTerm found = first_term(line);
    if (!found.entry) return false;
    const float y = std::round(from.y + line_height) + px(style::line);
    const float end = from.x + text_extent(std::string_view(line).substr(0, found.end)).x;
    const float begin = from.x + text_extent(std::string_view(line).substr(0, found.begin)).x;
    note_part("explained", {{begin, from.y}, {end, y}}, found.entry->term);
    const float dot = px(2);
    for (float x = begin; x < end; x += 2 * dot)
      ImGui::GetWindowDrawList()->AddLine({x, y}, {std::min(x + dot, end), y}, style::colours().dim,
                                          px(style::line));
    ImGui::SetCursorScreenPos(placed.where.minimum);
    ImGui::Dummy(placed.size());
    if (wants_tooltip())
      explain(std::string(found.entry->latex), in_full(*found.entry), std::string(found.entry->papers));
    return true;
  }

  void draw_content(const Formula& formula, const Placed& placed) const {
    for (std::size_t i = 0; i < placed.lines.size(); ++i) {
      const std::string& latex = placed.lines[i];
      const ImVec2 from = placed.where.minimum + formula_corner(placed, i, screen_ruler());
      const FormulaSize size = measure_formula(latex, placed.letters);
      draw_formula(ImGui::GetWindowDrawList(), {from.x, from.y + size.baseline}, latex, placed.letters,
                   shown(formula.ink));
      for (const Rectangle& symbol : symbol_places(latex, placed.letters, formula.boxed)) {
        const Rectangle box = Rectangle{from + symbol.minimum, from + symbol.maximum}.grown(px(3));
        outline(box, style::colours().dim, px(frame_corner), px(style::line));
      }
    }
  }

  /// The labels of a picture's rows; the ringed row's has its own colour.
  static void draw_row_words(const Picture& picture, ImVec2 from, float height) {
    const style::Palette& c = style::colours();
    const style::TextStyle letters(style::Text::caption);
    const float row_height = height / static_cast<float>(picture.row_words.size());
    const float line = text_extent("x").y;
    const bool is_roomy = row_height >= px(least_row_of_words);
    const auto middle_of = [&](Index row) { return from.y + (static_cast<float>(row) + 0.5F) * row_height; };
    const float clear = is_roomy ? row_height * 0.9F : line;  // of the ringed one
    float end = from.y - line;
    for (Index row = 0; row < std::ssize(picture.row_words); ++row) {
      const std::string& words = entry(picture.row_words, row);
      const bool is_ringed = row == picture.ringed_row;
      const float middle = middle_of(row);
      const bool has_room = is_roomy || middle - line / 2 >= end + px(2);
      const bool is_near = std::abs(middle - middle_of(picture.ringed_row)) < clear;
      if (words.empty() || (!is_ringed && (!has_room || is_near))) continue;
      end = middle + line / 2;
      const std::string shown = shortened(words, px(row_words_width - 6));
      draw_text({from.x + px(row_words_width - 6) - text_extent(shown).x, middle - line / 2},
                is_ringed ? picture.ring : c.dim, shown);
    }
  }

  static void draw_ring(const Picture& picture, const Rectangle& where) {
    const Matrix<double>& all = *picture.values;
    const Index rows = picture.look.transposed ? all.cols() : all.rows();
    if (picture.ringed_row < 0 || picture.ringed_row >= rows) return;
    outline(cell_rectangle(where, rows, 1, {picture.ringed_row, 0}).grown(px(2)), picture.ring, px(2), px(2));
  }

  void draw_content(const Picture& picture, const Placed& placed) const {
    const float gutter = picture.row_words.empty() ? 0 : px(row_words_width);
    const Rectangle where = {placed.where.minimum + ImVec2(gutter, 0), placed.where.maximum};
    const ImVec2 size = where.size();
    if (gutter > 0) draw_row_words(picture, placed.where.minimum, size.y);
    if (size.x < 1 || size.y < 1) return;
    if (picture.values) {
      heat_map(scope_path(), *picture.values, picture.version, where, picture.look);
      ImGui::Dummy(size);
      if (picture.told && ImGui::IsItemHovered()) {
        if (const auto cell = pointed_cell(*picture.values, picture.look, where))
          tooltip(picture.told(*cell));
      }
    }
    // The outline shows the place of a picture whose numbers are all near 0.
    const bool is_bright = around_.is_lit && picture.outline == edge_ink;
    outline(where, is_bright ? style::colours().dim : shown(picture.outline), 0, px(style::line));
    if (picture.values) draw_ring(picture, where);
  }

  void draw_content(const Bar& bar, const Placed& placed) const {
    const auto& [from, to] = placed.where;
    if (bar.is_upright) {
      const double part = bar.value > 0 ? std::min(bar.value / bar.most, 1.0) : 0;
      const float top = to.y - std::round((to.y - from.y) * static_cast<float>(part));
      const ImU32 ink = style::mix(shown(bar.ink), style::colours().text, around_.is_lit ? 0.3F : 0);
      return fill({{from.x, top}, to}, ink);
    }
    const double span = std::max(bar.most - bar.least, 1e-300);
    const auto x = [&](double value) {
      return std::round(from.x + (to.x - from.x) * static_cast<float>((value - bar.least) / span));
    };
    if (std::isfinite(bar.value) && bar.value != 0) {
      const float left = std::min(x(0), x(bar.value));
      const float right = std::max({x(0), x(bar.value), left + 1});
      fill({{left, from.y}, {right, to.y}}, shown(bar.ink));
    }
    if (bar.outlined > 0) outline({from, {x(bar.outlined), to.y}}, shown(bar.ink), 0, px(style::line));
    if (!bar.shows_zero) return;
    ImGui::GetWindowDrawList()->AddLine({x(0), from.y - px(2)}, {x(0), to.y + px(2)}, style::colours().dim,
                                        px(style::line));
  }

  static void draw_content(const Track& track, const Placed& placed) {
    const auto& [from, to] = placed.where;
    const float half = px(2);
    const float middle = std::round(placed.where.middle().y);
    const auto x = [&](double value) {
      return from.x + (to.x - from.x) * static_cast<float>(std::clamp(value / track.end, 0.0, 1.0));
    };
    fill({{from.x, middle - half}, {x(track.limit), middle + half}}, track.below, half);
    fill({{x(track.limit), middle - half}, {x(track.end), middle + half}}, track.beyond, half);
    ImGui::GetWindowDrawList()->AddCircleFilled({x(track.value), middle}, px(5), track.ink);
  }

  void draw_content(const Sparkline& line, const Placed& placed) const {
    const auto& [from, to] = placed.where;
    const auto count = static_cast<double>(line.values.size());
    const auto at = [&](double index) {
      const double value = entry(line.values, std::min(index, count - 1));
      const double part = line.most > 0 && value > 0 ? std::min(value / line.most, 1.0) : 0;
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
        fill({{one.x, std::min(one.y, to.y - 1)}, {std::max(next.x - gap, one.x + 1), to.y}}, ink);
      } else if (i + step < count) {
        list->AddQuadFilled(one, next, {next.x, to.y}, {one.x, to.y}, style::with_alpha(ink, 0.25F));
        list->AddLine(one, next, ink, px(style::line));
      }
    }
    if (!line.has_bars) list->AddLine({from.x, to.y}, to, style::colours().edge);
    if (line.told && is_pointed(placed.where)) {
      const double pointed = (ImGui::GetMousePos().x - from.x) / (to.x - from.x) * count;
      tooltip_beside(placed.where, line.told(static_cast<std::size_t>(std::clamp(pointed, 0.0, count - 1))));
    }
    if (line.marked < 0) return;
    const float x = at(static_cast<double>(line.marked)).x;
    list->AddLine({x, from.y}, {x, to.y}, shown(line.mark_ink), px(style::lit_line));
  }

  /// The names of the columns of squares, under those of their groups.
  static void draw_column_names(const Squares& squares, const Placed& placed) {
    const style::Palette& c = style::colours();
    const Ruler ruler = screen_ruler();
    const auto& [from, to] = placed.where;
    const float width = placed.size().x;
    const auto places = columns_of(squares, width, ruler);
    const bool in_full = has_names(squares, width, ruler);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Squares::Column& column = squares.columns[i];
      const float left = from.x + places[i].first;
      draw_words({left, from.y}, style::Text::number_small, c.dim, column.title);
      draw_words({left, from.y + px(15)}, style::Text::number_small, c.dim, column.subtitle);
      const style::TextStyle letters(style::Text::caption);
      if (column.name.empty()) continue;
      const std::string words = in_full ? column.name : column.name.substr(0, 1);
      const ImVec2 extent = text_extent(words);
      const ImVec2 size = in_full ? ImVec2{extent.y, extent.x} : extent;
      const float middle = left + (places[i].second - places[i].first - px(2)) / 2;
      const Rectangle where = {{middle - size.x / 2, to.y - px(4) - size.y},
                               {middle + size.x / 2, to.y - px(4)}};
      if (in_full)
        draw_rising_text({where.minimum.x, where.maximum.y}, c.dim, words);
      else
        draw_text(where.minimum, c.dim, words);
      note_part(fmt::format("{}/{}", i, column.name), where, words);
    }
  }

  void draw_content(const Squares& squares, const Placed& placed) {
    if (squares.squares.empty()) return draw_column_names(squares, placed);
    const auto places = columns_of(squares, placed.size().x, screen_ruler());
    const auto& [from, to] = placed.where;
    const bool pressed =
        ImGui::InvisibleButton("squares", {std::max(places.back().second, 1.0F), placed.size().y});
    const bool is_hovered = ImGui::IsItemHovered();
    const float pointer = ImGui::GetIO().MousePos.x - from.x;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& [left, right] = places[i];
      const auto& [kind, ink, words] = squares.squares[i];
      const Rectangle where = {{from.x + left, from.y},
                               {from.x + right - px(right - left < px(8) ? 1 : 2), to.y - px(2)}};
      if (kind == Mark::Kind::hatched)
        hatch(where, ink);
      else
        kind == Mark::Kind::outline ? outline(where, ink, px(2)) : fill(where, ink, px(2));
      if (!is_hovered || pointer < left || pointer >= right) continue;
      outline(where.grown(px(1)), style::colours().text, px(2));
      if (pressed && squares.press) acts_.emplace_back([press = squares.press, i] { press(i); });
      if (!squares.told || !ImGui::BeginTooltip()) continue;
      ImGui::PushTextWrapPos(px(380));  // narrow, so that other panels stay visible
      ImGui::TextUnformatted(squares.told(i).c_str());
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
  }

  void draw_content(const Mark& mark, const Placed& placed) const {
    const auto& [from, to] = placed.where;
    const ImVec2 middle = {from.x + px(5), std::round((from.y + to.y) / 2)};
    const Rectangle box = {{from.x, middle.y - px(5)}, {from.x + px(10), middle.y + px(5)}};
    const Rectangle check = box_at({from.x, middle.y - px(7)}, {px(14), px(14)});
    const auto in_check = [&](float x, float y) { return check.minimum + ImVec2(x, y) * px(14); };
    const ImU32 ink = shown(mark.ink);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const auto draw_tick = [&](ImVec2 left, ImVec2 foot, ImVec2 right, ImU32 tick_ink, float width) {
      const std::array<ImVec2, 3> tick = {left, foot, right};
      list->AddPolyline(tick.data(), 3, tick_ink, px(width));
    };
    switch (mark.kind) {
      case Mark::Kind::dot:
        return list->AddCircleFilled(middle, px(4), ink);
      case Mark::Kind::ring:
        return list->AddCircle(middle, px(4), ink, 0, px(1));
      case Mark::Kind::tick:
        return draw_tick({from.x, middle.y}, {from.x + px(3), middle.y + px(3)},
                         {from.x + px(9), middle.y - px(4)}, ink, 1.75F);
      case Mark::Kind::dash:
        return list->AddLine({from.x, middle.y}, {from.x + px(9), middle.y}, ink, px(1.75F));
      case Mark::Kind::square:
        return fill({{from.x, middle.y - px(2)}, {to.x, middle.y + px(2)}}, ink);
      case Mark::Kind::box:
        return fill(box, ink, px(1));
      case Mark::Kind::outline:
        return outline(box, ink, px(1), px(1));
      case Mark::Kind::hatched:
        return hatch(box, ink);
      case Mark::Kind::point:
        return draw_plot_marker(middle, mark.look);
      case Mark::Kind::checked:
        fill(check, ink, px(3));
        return draw_tick(in_check(0.24F, 0.52F), in_check(0.43F, 0.71F), in_check(0.77F, 0.3F),
                         style::colours().panel, 2);
      case Mark::Kind::unchecked:
        return outline(check, ink, px(3));
      case Mark::Kind::spinner:
        return style::spinner(middle, ink);
    }
  }

  void draw_content(const Button& button, const Placed& placed) {
    const bool is_cut = !placed.lines.empty();
    const std::string words = is_cut ? placed.lines.front() : button.words + button.tail;
    const Node& node = *placed.node;
    const std::string label = !node.name.empty() ? words + "###" + node.name
                              : is_cut           ? words + "###" + button.words
                                                 : words;
    const auto pressed = [&] {
      if (button.look == Button::Look::icon)
        return palimpsest::icon_button(node.name.c_str(), button.icon, button.icon_size);
      if (button.look != Button::Look::line)
        return style::button(label.c_str(), {.shape = button.look,
                                             .chosen = button.chosen,
                                             .colour = button.ink,
                                             .width = placed.size().x,
                                             .first = button.first,
                                             .last = button.last});
      const style::TextStyle letters(button.chosen ? style::Text::strong : style::Text::body);
      return ImGui::Selectable(label.c_str(), button.chosen, ImGuiSelectableFlags_NoAutoClosePopups,
                               placed.size());
    }();
    if (pressed && node.act) acts_.push_back(node.act);
  }

  void draw_content(const Slider& slider, const Placed& placed) {
    double value = slider.value;
    style::SliderLook look = slider.look;
    look.shown = slider.shown;
    ImGui::SetNextItemWidth(placed.size().x);
    const Node& node = *placed.node;
    const std::string label = node.name.empty() ? slider.words : slider.words + "###" + node.name;
    // A slider that waits shows the dragged value until it is released.
    ImGuiStorage* memory = ImGui::GetStateStorage();
    const ImGuiID held = ImGui::GetID(label.c_str()) + 1;
    if (slider.waits && memory->GetFloat(held, -1) >= 0) value = memory->GetFloat(held);
    bool is_set = style::slider(slider.symbol.c_str(), label.c_str(), &value, look);
    if (slider.waits) {
      const bool is_done = ImGui::IsItemDeactivated() || (is_set && !ImGui::IsItemActive());
      memory->SetFloat(held, ImGui::IsItemActive() && !is_done ? static_cast<float>(value) : -1);
      is_set = is_done && value != slider.value;
    }
    if (is_set && slider.set) acts_.emplace_back([set = slider.set, value] { set(value); });
  }

  void draw_content(const Input& input, const Placed& placed) {
    std::string text = input.text;
    const style::TextStyle letters(input.is_number ? style::Text::number_small : style::Text::body);
    ImGui::SetNextItemWidth(placed.size().x);
    if (input.takes_keyboard) ImGui::SetKeyboardFocusHere();
    const std::string label = "##" + placed.node->name;
    const bool awaits_enter = input.on_enter || input.entered;
    const auto complete = [](ImGuiInputTextCallbackData* data) {
      const auto& completed = static_cast<const Input*>(data->UserData)->completed;
      const std::string so_far(data->Buf, static_cast<std::size_t>(data->BufTextLen));
      const std::string further = completed(so_far);
      if (further == so_far) return 0;
      data->DeleteChars(0, data->BufTextLen);
      data->InsertChars(0, further.c_str());
      return 0;
    };
    // A text too long for its field shows its end, where the user goes on typing.
    ImGuiInputTextFlags flags = ImGuiInputTextFlags_ElideLeft;
    if (awaits_enter) flags |= ImGuiInputTextFlags_EnterReturnsTrue;
    if (input.completed) flags |= ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_CallbackCompletion;
    if (input.is_number) flags |= ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_CharsScientific;
    Input own = input;  // Dear ImGui needs a mutable pointer
    const bool is_done =
        ImGui::InputText(label.c_str(), &text, flags, input.completed ? +complete : nullptr, &own);
    const bool is_set = input.is_number  ? ImGui::IsItemDeactivatedAfterEdit()
                        : input.on_enter ? is_done
                                         : text != input.text;
    if (is_set && input.set) acts_.emplace_back([set = input.set, text] { set(text); });
    if (is_done && input.entered) acts_.push_back(input.entered);
  }

  void draw_content(const Editor& editor, const Placed& placed) {
    const std::optional<std::string> text = edit(editor, "##" + placed.node->name, placed.where);
    if (text) acts_.emplace_back([set = editor.set, text = *text] { set(text); });
  }

  void draw_content(const Filter& filter, const Placed& placed) {
    if (filter.box->draw(filter.hint, placed.size().x, filter.keeps_keyboard) && filter.entered)
      acts_.push_back(filter.entered);
  }

  static void draw_content(const Menu& menu, const Placed& placed) {
    const std::string id = std::string(piece_of(*placed.node));
    const std::string label = fmt::format("{}###{}", placed.lines.front(), id);
    if (style::button(label.c_str(), {.width = placed.size().x})) ImGui::OpenPopup(id.c_str());
    const Rectangle pill = {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    const ImGuiViewport* viewport = ImGui::GetMainViewport();
    const float end = viewport->WorkPos.x + viewport->WorkSize.x - px(style::panel_gap);
    ImGui::SetNextWindowPos({std::min(pill.minimum.x, end - px(menu.width + 24)), pill.maximum.y + px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(12)));
    const bool is_open = ImGui::BeginPopup(id.c_str(), ImGuiWindowFlags_NoMove);
    ImGui::PopStyleVar();
    if (!is_open) return;
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
    show_in(menu.content(), {px(menu.width), unbounded});
    ImGui::EndPopup();
  }

  void draw_content(const Plotted& plotted, const Placed& placed) {
    const PlotDone done = draw_plot(*plotted.plot, placed.where);
    if (plotted.done) acts_.emplace_back([told = plotted.done, done] { told(done); });
  }

  static void draw_content(const Drawn& drawn, const Placed& placed) {
    if (!drawn.part.empty()) note_part(drawn.part, placed.where, drawn.words);
    drawn.draw(placed.where);
  }

  void draw_content(const Rule& rule, const Placed& placed) const {
    const auto& [from, to] = placed.where;
    const ImU32 ink = rule.ink == 0 ? style::colours().edge : shown(rule.ink);
    const bool is_arrow = rule.head != Rule::Head::none;
    const ImVec2 middle = rounded(placed.where.middle());
    const bool is_upright = rule.height > 0;
    const ImVec2 begin = is_upright ? ImVec2{middle.x, from.y} : ImVec2{from.x, middle.y};
    const ImVec2 end = is_upright ? ImVec2{middle.x, to.y} : ImVec2{to.x, middle.y};
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddLine(begin, end, ink, px(is_arrow ? style::lit_line : style::line));
    if (!is_arrow) return;
    const float tip = rule.head == Rule::Head::left ? from.x : to.x;
    const float base = tip + (rule.head == Rule::Head::left ? px(8) : -px(8));
    list->AddTriangleFilled({tip, middle.y}, {base, middle.y - px(5)}, {base, middle.y + px(5)}, ink);
  }

  static void draw_content(const CellTables& tables, const Placed& placed) {
    draw_cells(tables, placed.cells, placed.where.minimum);
  }

  void draw_content(const Sides&, const Placed& placed) {
    const float corner = ImGui::GetStyle().ChildRounding;
    for (const Placed& column : placed.inside) {
      fill(column.where, style::colours().panel, corner);
      outline(column.where, style::colours().edge, corner);
    }
    for (const Placed& column : placed.inside) draw(column);
  }

  // Several may have the same name.
  void draw_content(const Spots&, const Placed& placed) {
    for (std::size_t i = 0; i < placed.inside.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      draw(placed.inside[i]);
      ImGui::PopID();
    }
  }

  void draw_content(const Frame& frame, const Placed& placed) {
    const float corner = frame.is_round ? placed.where.height() / 2 : px(frame_corner);
    if (frame.ground != 0) fill(placed.where, frame.ground, corner);
    if (frame.outline != 0) outline(placed.where, shown(frame.outline), corner, px(style::line));
    if (frame.is_hatched) hatch(placed.where, style::colours().edge);
    draw(placed.inside.front());
  }

  // Scrolled content is laid out when it is drawn: only then the scroll position is known.
  static void draw_content(const Scroll& scroll, const Placed& placed) {
    if (ImGui::BeginChild("scrolled", placed.size())) show(scroll.node.front());
    style::end_panel();
  }

  Enclosing around_;
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
  const Placed placed = lay_out(scene, {from, from + room}, screen_ruler());
  draw(placed);
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy(placed.size());
}

void show_at(const Node& scene, const Rectangle& where) { draw(lay_out(scene, where, screen_ruler())); }

void show(const Node& scene) { show_in(scene, ImGui::GetContentRegionAvail()); }

void show_card(const Card& card, bool& open, const std::function<Node(bool is_new)>& content) {
  if (open && !ImGui::IsPopupOpen(card.name)) ImGui::OpenPopup(card.name);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 window = viewport->WorkSize;
  const float y = card.on_top ? std::round(window.y * 0.12F) : window.y / 2;
  ImGui::SetNextWindowPos({viewport->WorkPos.x + window.x / 2, viewport->WorkPos.y + y}, ImGuiCond_Always,
                          {0.5F, card.on_top ? 0 : 0.5F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(28), px(24)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, px(style::corner));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, px(style::line));
  const bool begun =
      ImGui::BeginPopupModal(card.name, nullptr,
                             ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar(3);
  if (!begun) return;
  const bool is_new = ImGui::IsWindowAppearing();
  const bool beside = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !is_new &&
                      !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows |
                                              ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (beside || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) open = false;
  const auto within = [&](float most, float there) {
    const float left = std::max(there - px(card.beside), px(80));
    return most > 0 ? std::min(px(most), left) : left;
  };
  show_in(content(is_new), {within(card.widest, window.x), within(card.highest, window.y)});
  if (!open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void show_panel(const char* name, bool scrolls, const std::function<Node()>& content, float low) {
  const ImGuiWindowFlags still = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  const bool is_low = ImGui::GetContentRegionAvail().y < px(low);
  if (style::begin_panel(name, {0, 0}, scrolls ? 0 : still,
                         is_low ? style::low_padding : style::panel_padding))
    show(content());
  style::end_panel();
}

void show_panel(bool scrolls, const std::function<Node()>& content) {
  const std::string title = ImGui::GetCurrentWindow()->Name;
  const std::string name = "##" + with_small_letter(title.substr(0, title.find("##")));
  show_panel(name.c_str(), scrolls, content);
}

void explain(std::string latex, std::string words, std::string papers) {
  Nodes all;
  if (!latex.empty()) all += formula(std::move(latex), style::formula_label + 4);
  all += text(std::move(words));
  if (!papers.empty()) all += caption(std::move(papers));
  if (!ImGui::BeginTooltipEx(ImGuiTooltipFlags_OverridePrevious, ImGuiWindowFlags_None)) return;
  show_in(column(std::move(all)), {px(widest_tip), unbounded});
  ImGui::EndTooltip();
}

void show_bar(const char* name, float height, const Node& content, float top) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 corner = {viewport->WorkPos.x, viewport->WorkPos.y + top};
  ImGui::SetNextWindowPos(corner);
  ImGui::SetNextWindowSize({viewport->WorkSize.x, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin(name, nullptr, bar_flags | ImGuiWindowFlags_NoBringToFrontOnFocus);
  ImGui::PopStyleVar();
  const float gap = px(style::panel_gap);
  const ImVec2 from = {corner.x + gap, corner.y + (top > 0 ? 0 : std::min(gap, std::round(height / 8)))};
  const ImVec2 to = {corner.x + viewport->WorkSize.x - gap, corner.y + height - gap};
  fill({from, to}, style::colours().panel, px(style::corner));
  outline({from, to}, style::colours().edge, px(style::corner), px(style::line));
  const float padding = px(style::panel_padding);
  // Two lines of captions may use the room around the bar's ground, which is lower than their spacing.
  ImGui::SetCursorScreenPos({from.x + padding, std::round((from.y + to.y - height) / 2)});
  show_in(column({rest(), content, rest()}, Gap::none), {to.x - from.x - 2 * padding, height});
  ImGui::End();
}

void show_note(const char* name, Ink frame, const Node& content) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x - px(style::panel_gap + 8),
                           viewport->WorkPos.y + viewport->WorkSize.y - px(style::panel_gap + 7)},
                          ImGuiCond_Always, {1, 1});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(5)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, px(style::line));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, style::colours().panel);
  ImGui::PushStyleColor(ImGuiCol_Border, frame);
  ImGui::Begin(name, nullptr,
               bar_flags | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(4);
  show_in(content, {viewport->WorkSize.x * note_share, unbounded});
  ImGui::End();
}

}  // namespace palimpsest::scene
