#include "app/scene/floor.h"

#include <fmt/format.h>

#include "app/gl/context_local.h"
#include "app/widgets/chart.h"

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float narrowest_group = 24;  // narrower ones have no hairlines
constexpr float fading = 24;           // width of the fade-out at an edge
constexpr float word_line = 17;
constexpr float underline_from = 19;  // below the top of the tokens
constexpr float flag_height = 17;     // of the label above a narrow cursor
constexpr float around_flag = 6;
constexpr float widest_flag = 120;
constexpr float between_links = 14;
constexpr float least_link = 60;
constexpr float overview_height = 8;
constexpr float overview_gap = 2;
constexpr float wheel_scroll = 60;

constexpr float slowest_scroll = 6;     // tokens a second, while the cursor is dragged beyond an edge
constexpr float scroll_per_column = 4;  // tokens a second more for each column that the pointer is beyond

class FloorPainter {
 public:
  FloorPainter(const Floor& floor, FloorView& view, const FloorColumns& columns)
      : floor_(floor), view_(view), columns_(columns) {
    const Rectangle room = box_at(columns.position, columns.size);
    outer_ = floor_rows(floor, room, ruler_);
    top_ = bottom_ = room.minimum.y;
    // The current token's frame begins below captions at the top, else with the tokens.
    const bool has_captions = !floor.rows.empty() && floor.rows.front().kind == FloorRow::Kind::captions;
    for (std::size_t i = 0; i < outer_.size(); ++i) {
      const FloorRow::Kind kind = floor.rows[i].kind;
      if (kind != FloorRow::Kind::captions) bottom_ = outer_[i].maximum.y;
      if (kind == FloorRow::Kind::words && !has_captions) top_ = outer_[i].minimum.y;
    }
    frame_top_ = has_captions ? outer_.front().maximum.y : top_;
    if (!columns.has_words()) {
      if (!has_captions) frame_top_ += px(flag_height);
      find_flag(has_captions ? outer_.front() : Rectangle{{0, top_}, {0, top_ + px(flag_height)}});
    }
  }

  FloorActs draw() {
    const auto clipped = [&](const auto& draw) {
      const ImVec2 low = columns_.position;
      list_->PushClipRect({low.x - px(3), low.y - px(8)},
                          {low.x + columns_.size.x + px(3), low.y + columns_.size.y}, true);
      draw();
      list_->PopClipRect();
    };
    clipped([&] { groups(); });
    for (std::size_t i = 0; i < outer_.size(); ++i) {
      const FloorRow& row = floor_.rows[i];
      const bool is_asked = is_hidden(row.name);
      clipped([&] { is_asked ? hatch(inner(i), colours_.faint) : content(row, inner(i)); });
      Rectangle label = inner(i);  // that of the tokens is on their line
      if (row.kind == FloorRow::Kind::words) label.maximum.y = label.minimum.y + px(word_line);
      draw_floor_label(row, columns_, label, columns_.position.x - px(floor_gutter - style::panel_padding));
      note_part(row.name, inner(i), is_asked ? "hidden" : "");
      if (row.paint || !row.refusal.empty()) paint(row, inner(i));
    }
    clipped([&] {
      mark();
      cursor();
    });
    for (std::size_t i = 0; i < outer_.size(); ++i)
      if (floor_.rows[i].kind == FloorRow::Kind::links) links(floor_.rows[i], inner(i));
    hold();
    return acts_;
  }

 private:
  Rectangle inner(std::size_t row) const {
    const auto& [from, to] = outer_[row];
    const float top = from.y + px(floor_.rows[row].above);
    return {{from.x, top}, {to.x, std::max(to.y - px(floor_.rows[row].below), top)}};
  }

  std::string label(Index token) const { return visible_label(entry(floor_.text.labels, token)); }

  void content(const FloorRow& row, const Rectangle& place) {
    switch (row.kind) {
      case FloorRow::Kind::marks:
      case FloorRow::Kind::lane:
        if (row.mark) draw_floor_marks(floor_, row, columns_, place);
        return;
      case FloorRow::Kind::words:
        words(place.minimum.y);
        return fade_edges(place);
      case FloorRow::Kind::captions:
        return captions(place.minimum.y);
      case FloorRow::Kind::own:
        if (row.draw) row.draw(columns_, place);
        return;
      case FloorRow::Kind::links:
        return;  // over the cursor
    }
  }

  /// Fades out what is cut at an edge of the columns.
  void fade_edges(const Rectangle& place) const {
    const ImU32 paper = colours_.panel;
    const ImU32 none = style::with_alpha(paper, 0);
    const float left = columns_.position.x;
    const float right = left + columns_.size.x;
    const auto [top, bottom] = std::pair(place.minimum.y, place.maximum.y);
    const float edge = px(4);  // letters reach that far beyond what holds them: there nothing is seen
    if (columns_.left(columns_.begin()) < left - 1) {
      fill({{left - edge, top}, {left + edge, bottom}}, paper);
      list_->AddRectFilledMultiColor({left + edge, top}, {left + px(fading), bottom}, paper, none, none,
                                     paper);
    }
    if (columns_.left(columns_.end()) > right + 1) {
      list_->AddRectFilledMultiColor({right - px(fading), top}, {right - edge, bottom}, none, paper, paper,
                                     none);
      fill({{right - edge, top}, {right + edge, bottom}}, paper);
    }
  }

  /// Calls `draw(group, first, last, left, right)` for every visible group.
  template <class Draw>
  void each_group(Draw draw) const {
    const Index size = floor_.groups.size;
    const bool has_room = static_cast<float>(size) * columns_.column >= px(narrowest_group);
    if ((!floor_.groups.is_whole && !has_room) || floor_.groups.word.empty()) return;
    for (Index group = columns_.begin() / size; group * size < columns_.end(); ++group) {
      const Index first = group * size;
      const Index last = std::min(first + size, columns_.tokens);
      draw(group, first, last, columns_.left_pixel(first), columns_.left_pixel(last));
    }
  }

  /// Hairlines where the groups begin.
  void groups() const {
    float top = columns_.position.y;
    float bottom = top + columns_.size.y;
    for (std::size_t i = 0; i < outer_.size() && !floor_.groups.through; ++i) {
      if (floor_.rows[i].kind != FloorRow::Kind::captions) continue;
      top = outer_[i].minimum.y;
      bottom = outer_[i].maximum.y;
    }
    each_group([&](Index, Index, Index, float left, float) {
      if (left >= columns_.position.x - 1)
        fill({{left, top}, {left + px(style::line), bottom}}, colours_.edge);
    });
  }

  void captions(float top) const {
    const style::TextStyle text(style::Text::caption);
    each_group([&](Index group, Index first, Index last, float left, float right) {
      const std::string words =
          floor_.groups.is_whole ? floor_.groups.word : fmt::format("{} {}", floor_.groups.word, group + 1);
      // The caption stays in sight while its group is scrolled past.
      const float start = std::max(left, columns_.position.x) + px(5);
      const float end = std::min(right, columns_.position.x + columns_.size.x + px(3));
      const ImVec2 extent = text_extent(words);
      const bool under_flag = overlap(box_at({start, top}, extent), flag_);
      note_part(fmt::format("group/{}", first), {{left, top}, {right, top + extent.y}}, words);
      if (under_flag || start + extent.x + px(3) > end) return;
      const bool is_present =
          floor_.groups.is_together && floor_.text.token >= first && floor_.text.token < last;
      draw_text({start, top}, is_present ? colours_.text : colours_.dim, words);
    });
  }

  /// A bracket over the tokens that playing repeats.
  void repeated(float top) const {
    const std::vector<Index>& tokens = floor_.repeated;
    if (tokens.empty() || tokens.back() >= columns_.tokens) return;
    const float left = std::round(columns_.left(tokens.front()) + px(1));
    const float right = std::max(std::round(columns_.left(tokens.back() + 1) - px(1)), left + px(3));
    const float line = px(1.5F);
    fill({{left, top}, {right, top + line}}, colours_.text);
    fill({{left, top}, {left + line, top + px(6)}}, colours_.text);
    fill({{right - line, top}, {right, top + px(6)}}, colours_.text);
    note_part("repeated", {{left, top}, {right, top + px(6)}});
  }

  void words(float top) const {
    repeated(top - px(1));
    if (!columns_.has_words()) return;
    for (Index t = columns_.begin(); t < columns_.end(); ++t) {
      const bool is_underlined = std::ranges::binary_search(floor_.underlined, t);
      const bool is_strong = is_underlined || t == floor_.text.token;
      const style::TextStyle text(is_strong ? style::Text::strong : style::Text::body);
      const float left = columns_.left(t);
      const float width = columns_.width(t) - px(4);
      const std::string word = shortened(label(t), width);
      const ImVec2 extent = text_extent(word);
      const float from = std::floor(left + px(2) + (width - extent.x) / 2);
      const ImU32 colour = t < floor_.reached ? colours_.text : colours_.faint;
      draw_text({from, top}, colour, word);
      note_part(fmt::format("words/{}", t), box_at({from, top}, extent), word);
      if (!is_underlined) continue;
      const Rectangle line =
          box_at({from, std::round(top + px(underline_from))}, {std::ceil(extent.x), px(2)});
      fill(line, colour);
      note_part(fmt::format("underline/{}", t), line);
    }
  }

  /// A flag at a token, and a line through all rows.
  void mark() const {
    if (floor_.flagged < 0) return;
    const float x = columns_.middle(floor_.flagged);
    if (x < columns_.position.x - 1 || x > columns_.position.x + columns_.size.x) return;
    const float half = px(5);
    const float top = std::min(frame_top_, top_ + px(16));
    list_->AddTriangleFilled({x - half, top - half * 1.6F}, {x + half, top - half * 1.6F}, {x, top},
                             colours_.alarm);
    fill({{x - px(1), top - px(1)}, {x + px(1), bottom_}}, colours_.alarm);
    note_part("flag", {{x - half, top - half * 1.6F}, {x + half, bottom_}}, label(floor_.flagged));
  }

  /// Finds the place of the label that does not fit into a narrow cursor.
  void find_flag(const Rectangle& line) {
    const style::TextStyle text(style::Text::strong);
    flag_words_ = shortened(label(floor_.text.token), px(widest_flag));
    const float width = text_extent(flag_words_).x + px(2 * around_flag);
    const float end = columns_.position.x + columns_.size.x;
    const float left = std::clamp(columns_.middle(floor_.text.token) - width / 2, columns_.position.x,
                                  std::max(end - width, columns_.position.x));
    flag_ = {{left, line.minimum.y - px(1)}, {left + width, line.maximum.y}};
  }

  /// The frame around the current token, and around its group if the form computes the group together.
  void cursor() const {
    const Index token = floor_.text.token;
    if (floor_.groups.is_together && !floor_.groups.is_whole) {
      const Index first = token / floor_.groups.size * floor_.groups.size;
      const Index last = std::min(first + floor_.groups.size, columns_.tokens);
      outline({{columns_.left_pixel(first), top_ - px(1)}, {columns_.left_pixel(last), bottom_}},
              colours_.faint, px(5), px(style::line));
    }
    if (!columns_.has_words()) {
      fill(flag_, colours_.panel);
      draw_words(flag_.minimum + ImVec2(px(around_flag), 0), style::Text::strong, colours_.text, flag_words_);
    }
    const float half = std::max(columns_.width(token) / 2, px(4));
    const Rectangle frame = {{std::round(columns_.middle(token) - half), frame_top_},
                             {std::round(columns_.middle(token) + half), bottom_}};
    outline(frame, colours_.text, px(5), px(style::lit_line));
    note_part("cursor", frame, label(token));
  }

  /// Links to tokens, drawn over the current token's frame, which runs through all rows.
  void links(const FloorRow& row, const Rectangle& place) {
    const style::TextStyle text(style::Text::caption);
    ImVec2 at = place.minimum;
    for (const FloorRow::Link& link : row.links) {
      const float room = place.maximum.x - at.x;
      if (room < px(least_link)) return;
      const std::string words = shortened(link.words, room);
      const ImVec2 extent = text_extent(words);
      const ImVec2 end = at + extent;
      fill({{at.x - px(3), at.y}, {end.x + px(3), end.y}}, colours_.panel);
      ImGui::SetCursorScreenPos(at);
      if (ImGui::InvisibleButton(link.words.c_str(), {std::max(extent.x, 1.0F), extent.y}))
        acts_.followed = link.token;
      if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      tooltip(fmt::format("Go to token {}.", link.token + 1));
      draw_text(at, link.colour, words);
      list_->AddLine({at.x, end.y}, end, style::with_alpha(link.colour, 0.5F), px(style::line));
      note_part(fmt::format("{}/{}", row.name, link.token), {at, end}, words);
      at.x = end.x + px(between_links);
    }
  }

  void tell(const FloorRow& row, Index token) const {
    const auto& tip = row.tip ? row.tip : floor_.tip;
    std::string said = tip ? tip(token) : std::string();
    const std::string& more = row.refusal.empty() ? row.tip_more : row.refusal;
    if (!more.empty()) said += (said.empty() ? "" : "\n") + more;
    if (said.empty()) return;
    note_part("tip", {}, said);
    const style::TextStyle text(style::Text::body);
    tooltip(said);
  }

  Index token_under_pointer() const {
    const float end = columns_.position.x + columns_.size.x - 1;
    return columns_.token_at(std::clamp(ImGui::GetIO().MousePos.x, columns_.position.x, end));
  }

  /// Handles the wheel over the last item: it zooms around the pointer; a sideways wheel scrolls.
  void wheel() {
    if (!ImGui::IsItemHovered()) return;
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelX);
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0)
      zoom_floor(view_, columns_, floor_.text, ruler_, std::pow(1.2F, io.MouseWheel), io.MousePos.x);
    if (io.MouseWheelH != 0)
      view_.first -= static_cast<double>(io.MouseWheelH * px(wheel_scroll) / view_.column);
  }

  bool wants_tip() const {
    return ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled) &&
           !ImGui::IsItemActive();
  }
  void paint(const FloorRow& row, const Rectangle& place) {
    ImGui::SetCursorScreenPos(place.minimum);
    const float height = std::max(place.height(), 1.0F);
    ImGui::InvisibleButton(("paint " + row.name).c_str(), {columns_.size.x, height});
    if (ImGui::IsItemHovered() && row.paint) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    wheel();
    const Index token = token_under_pointer();
    if (wants_tip()) tell(row, token);
    // What the pointer passed since the last frame.
    auto& stroke = context_local<std::optional<FloorStroke>>();
    if (!ImGui::IsItemActive()) {
      if (ImGui::IsItemDeactivated()) stroke.reset();
      return;
    }
    if (!row.paint) {
      acts_.refusal = row.refusal;
      return;
    }
    const float part = std::clamp((place.maximum.y - ImGui::GetIO().MousePos.y) / height, 0.0F, 1.0F);
    const bool begins = !stroke;
    if (begins)
      stroke = {.first = token, .first_part = part, .last = token, .is_ramp = ImGui::GetIO().KeyShift};
    stroke->begins = begins;
    stroke->token = token;
    stroke->part = part;
    row.paint(*stroke);
    stroke->last = token;
  }

  /// Handles drags on the tokens and on rows that cannot be painted: the cursor follows the pointer; beyond
  /// an edge the text scrolls, faster with distance.
  void hold() {
    ImGui::SetCursorScreenPos(columns_.position);
    ImGui::InvisibleButton(floor_.id.c_str(), columns_.size);
    wheel();
    if (ImGui::IsItemActive()) {
      const float x = ImGui::GetIO().MousePos.x;
      const float end = columns_.position.x + columns_.size.x - 1;
      if (const float beyond = x - std::clamp(x, columns_.position.x, end); beyond != 0) {
        const float speed = slowest_scroll + std::abs(beyond) / columns_.column * scroll_per_column;
        view_.first += static_cast<double>(std::copysign(speed, beyond) * ImGui::GetIO().DeltaTime);
      }
      acts_.pressed = token_under_pointer();
      acts_.begins = ImGui::IsItemActivated();
    } else if (wants_tip()) {
      const float y = ImGui::GetIO().MousePos.y;
      const auto under = std::ranges::find_if(
          outer_, [&](const Rectangle& row) { return y >= row.minimum.y && y < row.maximum.y; });
      static const FloorRow none;
      tell(under == outer_.end() ? none : entry(floor_.rows, under - outer_.begin()), token_under_pointer());
    }
  }

  const Floor& floor_;
  FloorView& view_;
  const FloorColumns& columns_;
  const PartScope scope_{"floor"};
  const Ruler ruler_ = screen_ruler(false);
  const style::Palette& colours_ = style::colours();
  ImDrawList* list_ = ImGui::GetWindowDrawList();
  std::vector<Rectangle> outer_;  // of the rows
  float top_ = 0;                 // of all rows, and of the frame around the current group
  float bottom_ = 0;
  float frame_top_ = 0;  // of the frame around the current token
  Rectangle flag_ = {};  // the label above a narrow cursor
  std::string flag_words_;
  FloorActs acts_;
};

}  // namespace

float FloorScale::part(double value) const {
  const double part =
      logarithmic ? std::log(value / bottom) / std::log(top / bottom) : (value - bottom) / (top - bottom);
  return std::isnan(part) ? 0 : static_cast<float>(std::clamp(part, -1e6, 1e6));
}

double FloorScale::value(float part) const {
  const auto at = static_cast<double>(part);
  return logarithmic ? bottom * std::pow(top / bottom, at) : bottom + (top - bottom) * at;
}

std::vector<Rectangle> floor_rows(const Floor& floor, const Rectangle& room, const Ruler& ruler) {
  float rest = room.height();
  float shares = 0;
  for (const FloorRow& row : floor.rows) {
    rest -= ruler.px(row.height);
    if (row.height == 0) shares += row.share;
  }
  std::vector<Rectangle> rows;
  float y = room.minimum.y;
  for (const FloorRow& row : floor.rows) {
    const float height = row.height > 0 ? ruler.px(row.height) : std::max(rest, 0.0F) * row.share / shares;
    rows.push_back({{room.minimum.x, y}, {room.maximum.x, y + height}});
    y += height;
  }
  return rows;
}

FloorActs draw_floor(const Floor& floor, FloorView& view, const FloorColumns& columns) {
  return FloorPainter(floor, view, columns).draw();
}

const Part* floor_part(std::string_view name) {
  const std::string& scope = scope_path();
  return parts().find((scope.empty() ? "floor/" : scope + "/floor/") + std::string(name));
}

float floor_overview_height() { return px(overview_height + 3 * overview_gap); }

void draw_floor_overview(FloorView& view, const FloorColumns& columns, Index token) {
  if (!columns.is_longer()) return;
  const ImVec2 position = {columns.position.x, columns.position.y + columns.size.y + px(overview_gap)};
  const ImVec2 size = {columns.size.x, px(overview_height)};
  ImGui::SetCursorScreenPos(position);
  ImGui::InvisibleButton("overview", size);
  const double tokens = static_cast<double>(columns.tokens);
  const double visible = static_cast<double>(columns.end() - columns.begin());
  const auto x = [&](double at) {
    return position.x + size.x * static_cast<float>(std::clamp(at / tokens, 0.0, 1.0));
  };
  if (ImGui::IsItemActive()) {
    const auto part = static_cast<double>((ImGui::GetIO().MousePos.x - position.x) / size.x);
    view.first = part * tokens - visible / 2;
  }
  const style::Palette& c = style::colours();
  const float middle = std::round(position.y + size.y / 2);
  const float half = px(2);
  const bool is_lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
  fill({{position.x, middle - half}, {position.x + size.x, middle + half}}, style::mix(c.panel, c.edge, 0.6F),
       half);
  fill({{x(view.first), middle - half},
        {std::max(x(view.first + visible), x(view.first) + 4 * half), middle + half}},
       is_lit ? c.dim : c.faint, half);
  const float cursor = std::round(x(static_cast<double>(token) + 0.5));
  fill({{cursor - px(1), position.y}, {cursor + px(1), position.y + size.y}}, c.text);
  note_part("floor/overview", box_at(position, size));
}

}  // namespace palimpsest
