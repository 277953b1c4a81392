#include "app/views/attend.h"

#include <fmt/format.h>
#include <imgui_internal.h>  // to own the mouse wheel while it zooms

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/gl/context_local.h"
#include "app/scene/draw.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float words_beside = 92;  // room for the words of an axis
constexpr float words_below = 84;
constexpr float few_beside = 56;  // where only some of them stand
constexpr float few_below = 50;
constexpr float large_panel = 1100;  // from this width on all of them do
constexpr float loupe_words = 44;    // those above its columns
constexpr float between = 28;
constexpr float least_square = 120;
constexpr float least_word = 7;          // design pixels from one word to the next on an axis
constexpr Index most_step_in_lanes = 3;  // of that many words one stands on the axis
constexpr float thinned_word = 22;
constexpr float least_chunk = 16;  // smaller ones would be a grid over everything
constexpr Index least_block = 8;
constexpr float settings_height = 48;
constexpr float least_word_pitch = 2;  // of closer words the numbers stand on the axis
constexpr float numbered_word = 56;

/// Where one looks in the picture, and what was drawn last.
struct AttendSight {
  std::string data;
  Index tokens = 0;
  AttentionBlock block = {};
  ImVec2 dragged = {};  // since the block last moved
};

AttendSight& attend_sight(const Computation& computed) {
  auto& sight = context_local<AttendSight>();
  const Index tokens = computed.sequence.tokens;
  if (sight.data != computed.data->id || sight.tokens != tokens)
    sight = {.data = computed.data->id, .tokens = tokens, .block = {.count = tokens}};
  return sight;
}

/// A switch in the headline, from the right; returns where the next one ends.
float switch_from_right(float right, float y, const char* words, bool on, const char* meaning,
                        bool& pressed) {
  const style::TextStyle text(style::Text::caption);
  const float box = px(14);
  const float width = box + px(6) + text_extent(words).x;
  const ImVec2 from = {right - width, y};
  ImGui::SetCursorScreenPos(from);
  pressed = ImGui::InvisibleButton(words, {width, px(20)});
  tooltip(meaning);
  const style::Palette& c = style::colours();
  const ImU32 ink = ImGui::IsItemHovered() || on ? c.text : c.dim;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 corner = {from.x, from.y + (px(20) - box) / 2};
  if (on) {
    list->AddRectFilled(corner, {corner.x + box, corner.y + box}, c.text, px(3));
    const ImVec2 tick[] = {{corner.x + box * 0.24F, corner.y + box * 0.52F},
                           {corner.x + box * 0.43F, corner.y + box * 0.71F},
                           {corner.x + box * 0.77F, corner.y + box * 0.3F}};
    list->AddPolyline(tick, 3, c.panel, px(2), ImDrawFlags_None);
  } else {
    list->AddRect(corner, {corner.x + box, corner.y + box}, c.dim, px(3));
  }
  draw_text({from.x + box + px(6), from.y + (px(20) - text_extent(words).y) / 2}, ink, words);
  return from.x - px(16);
}

/// The question, how to read the picture, and the switches.
void draw_headline(Application& application, ImVec2 from, float right) {
  const style::Palette& c = style::colours();
  Session& session = application.session;
  AttentionView view = session.state().attention;
  const AttentionView before = view;
  float end = right;
  {
    const ImVec2 size = style::segment_size("weights");
    const ImVec2 second = style::segment_size("shares");
    ImGui::SetCursorScreenPos({end - size.x - second.x, from.y - px(2)});
    if (style::segment_button("weights", !view.shares, {.first = true})) view.shares = false;
    tooltip("What an output multiplies every value with.");
    ImGui::SameLine(0, 0);
    if (style::segment_button("shares", view.shares, {.last = true})) view.shares = true;
    tooltip("Every weight as a part of its row: |w| / Σ|w|, with its sign. One scale fits all rows.");
    end -= size.x + second.x + px(18);
  }
  struct Switch {
    const char* words;
    bool AttentionView::*field;
    const char* meaning;
  };
  static constexpr Switch switches[] = {
      {"chunks", &AttentionView::chunks,
       "Where the chunks of a form lie: inside an outlined square a chunk computes the weights itself, all "
       "that "
       "stands left of it came through the state."},
      {"gates", &AttentionView::gates,
       "Without them the rule is computed as if every gate were 1: what it reads if nothing fades."},
      {"mask", &AttentionView::mask,
       "Without it every word reads what the memory answers after the last word, those that come later too."},
      {"own word", &AttentionView::diagonal, "Show also what a word reads of its own value: often the most."},
  };
  for (const Switch& each : switches) {
    if (each.field == &AttentionView::gates && !attention_facts(application).has_gates) continue;
    bool pressed = false;
    end = switch_from_right(end, from.y, each.words, view.*each.field, each.meaning, pressed);
    if (pressed) view.*each.field = !(view.*each.field);
  }
  {
    const style::TextStyle text(style::Text::strong);
    draw_text(from, c.text, "Who is read?");
    from.x += text_extent("Who is read?").x + px(14);
  }
  const style::TextStyle text(style::Text::caption);
  if (end - from.x > px(80)) {
    draw_text({from.x, from.y + px(2)}, c.dim,
              shortened("row: the word that asks · column: the word that is read", end - from.x));
  }
  if (view != before) session.change_attention(view);
}

/// The words of an axis: first those that say something, then others, each where it touches none before.
class AxisWords {
 public:
  AxisWords(const AttendSquare& square, const RowOfWeights* row)
      : square_(square), unit_(square.side / static_cast<float>(square.block.count)) {
    tell(square.application.session.token());
    if (row) {
      for (const ReadWord& word : row->words) tell(word.token);
      if (square.by == WeighedBy::softmax && row->softmax_most >= 0) tell(row->softmax_most);
    }
    step_ = std::max<Index>(static_cast<Index>(std::ceil(px(least_word) / unit_)), 1);
    const float height = text_extent("x").y;
    // Every word in two lanes; where most are left out anyway, fewer and less cut in one.
    const bool is_thinned = step_ > most_step_in_lanes;
    if (is_thinned) step_ = static_cast<Index>(std::ceil(px(thinned_word) / unit_));
    has_numbers_ = unit_ < px(least_word_pitch);
    if (has_numbers_)
      step_ =
          std::max<Index>(static_cast<Index>(round_above(static_cast<double>(px(numbered_word) / unit_))), 1);
    const float every_other = 2 * static_cast<float>(step_) * unit_;
    in_lanes_ = !square.is_small && !is_thinned && !has_numbers_ && every_other / 2 < height;
    apart_ = in_lanes_ ? std::min(every_other, height) : height;
  }

  bool in_lanes() const { return in_lanes_; }

  /// Calls `draw(token, middle, is_told, lane)` for every word from `first` on, `middle` along the axis.
  template <class Draw>
  void each(Index first, bool asks, const Draw& draw) const {
    std::vector<float> lanes[2];
    const auto place = [&](Index token, bool is_told, int wished) {
      const float middle = (static_cast<float>(token - first) + 0.5F) * unit_;
      const auto is_free = [&](int lane) {
        return std::ranges::none_of(lanes[lane],
                                    [&](float other) { return std::abs(other - middle) < apart_ - 0.5F; });
      };
      for (const int lane : {wished, in_lanes_ ? 1 - wished : wished}) {
        if (!is_free(lane)) continue;
        lanes[lane].push_back(middle);
        draw(token, middle, is_told, static_cast<float>(lane));
        return;
      }
    };
    const Index count = std::min(square_.block.count, square_.computed.sequence.tokens - first);
    const std::span<const Index> told = asks ? std::span(told_).first(1) : std::span(told_);
    const auto is_in = [&](Index token) { return token >= first && token < first + count; };
    for (const Index token : told) {
      if (is_in(token)) place(token, true, 0);
    }
    const Index begin = has_numbers_ ? (step_ - first % step_) % step_ : 0;
    for (Index i = begin; i < count && (has_numbers_ || !square_.is_small); i += step_) {
      if (std::ranges::find(told, first + i) == told.end())
        place(first + i, false, in_lanes_ ? static_cast<int>(i / step_ % 2) : 0);
    }
  }

  std::string word(Index token, bool is_told, float room) const {
    if (has_numbers_ && !is_told) return shortened(fmt::format("{}", token), room);
    return shortened(visible_label(square_.computed.data->labels[static_cast<std::size_t>(token)]), room);
  }

 private:
  void tell(Index token) {
    if (std::ranges::find(told_, token) == told_.end()) told_.push_back(token);
  }

  const AttendSquare& square_;
  float unit_;
  float apart_ = 0;  // the middles of two words in one lane, at least
  Index step_ = 1;
  bool in_lanes_ = false;
  bool has_numbers_ = false;  // of tokens, in place of the words that nobody asks for
  std::vector<Index> told_;   // the present word and those that it reads most, the most first
};

/// In two lanes, so that neighbours do not touch.
void draw_row_words(const AttendSquare& square, const AxisWords& words, bool on_the_left) {
  const style::Palette& c = style::colours();
  const float room = px(square.is_small ? few_beside : words_beside);
  const float lane = words.in_lanes() ? room / 2 : room;
  words.each(square.block.first_row, true, [&](Index token, float middle, bool is_told, float at) {
    const std::string word = words.word(token, is_told, lane - px(8));
    const float offset = px(8) + at * lane;
    const float x = on_the_left ? square.from.x - offset - text_extent(word).x : square.to().x + offset;
    draw_text({x, square.from.y + middle - text_extent(word).y / 2}, is_told ? c.text : c.dim, word);
  });
}

void draw_column_words(const AttendSquare& square, const AxisWords& words) {
  const style::Palette& c = style::colours();
  const float room = px(square.is_small ? few_below : words_below);
  const float lane = words.in_lanes() ? room / 2 : room;
  words.each(square.block.first_column, false, [&](Index token, float middle, bool is_told, float at) {
    const std::string word = words.word(token, is_told, lane - px(4));
    attend_map().columns.push_back({square.by, token, square.from.x + middle, word, at});
    const float x = square.from.x + middle - text_extent(word).y / 2;
    const float top = square.to().y + px(6) + at * lane;
    attend_map().column_words.push_back({{x, top}, {x + text_extent(word).y, top + text_extent(word).x}});
    draw_rising_text({square.from.x + middle - text_extent(word).y / 2,
                      square.to().y + px(6) + at * lane + text_extent(word).x},
                     is_told ? c.text : c.dim, word);
  });
}

/// The name of the reader and a sentence, where no weights are: above the diagonal, at the right. Returns
/// where it ends.
float draw_name(const AttendSquare& square, const std::string& name, const std::string& words) {
  const style::Palette& c = style::colours();
  const float right = square.to().x - px(8);
  float y = square.from.y + px(8);
  {
    const style::TextStyle text(style::Text::title);
    const std::string shown = shortened(name, square.side * 0.6F);
    draw_text({right - text_extent(shown).x, y}, c.text, shown);
    y += text_extent(shown).y + px(4);
  }
  const style::TextStyle text(style::Text::caption);
  const float width = std::min(square.side * 0.58F, px(260));
  for (const std::string_view line : wrapped_lines(words, width)) {
    draw_text({right - text_extent(line).x, y}, c.dim, line);
    y += text_extent("x").y + px(2);
  }
  return y;
}

/// Hairlines where chunks begin, and around what a chunk computes by itself.
void draw_chunks(const AttendSquare& square) {
  const style::Palette& c = style::colours();
  const Index chunk = square.computed.choice.chunk_size;
  const float unit = square.side / static_cast<float>(square.block.count);
  if (static_cast<float>(chunk) * unit < px(least_chunk)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(square.from, square.to(), true);
  const auto first_after = [&](Index token) { return (token + chunk - 1) / chunk * chunk; };
  const ImU32 faint = style::with_alpha(c.dim, 0.35F);
  const Index row_end = square.block.first_row + square.block.count;
  const Index column_end = square.block.first_column + square.block.count;
  for (Index token = first_after(square.block.first_row); token < row_end; token += chunk) {
    const float y = square.cell(token, square.block.first_column).minimum.y;
    const float right =
        square.application.session.state().attention.mask
            ? std::min(square.cell(token, std::min(token + chunk, column_end) - 1).maximum.x, square.to().x)
            : square.to().x;
    list->AddLine({square.from.x, y}, {right, y}, faint);
  }
  for (Index token = first_after(square.block.first_column); token < column_end; token += chunk) {
    const float x = square.cell(square.block.first_row, token).minimum.x;
    const float top = square.application.session.state().attention.mask
                          ? std::max(square.cell(token, token).minimum.y, square.from.y)
                          : square.from.y;
    list->AddLine({x, top}, {x, square.to().y}, faint);
  }
  for (Index token = square.block.first_row / chunk * chunk; token < row_end; token += chunk) {
    const Rectangle first = square.cell(token, token);
    const Rectangle last = square.cell(token + chunk - 1, token + chunk - 1);
    list->AddRect(first.minimum, last.maximum, style::with_alpha(c.text, 0.55F));
  }
  list->PopClipRect();
}

/// The cell of the strongest weight in the present row, else the row's middle.
Index strongest_column(const RowOfWeights* row, WeighedBy reader, Index token) {
  if (row && reader == WeighedBy::softmax && row->softmax_most >= 0) return row->softmax_most;
  if (row && reader == WeighedBy::rule && !row->words.empty()) return row->words.front().token;
  return token / 2;
}

/// The last token that the present row reads: its own, or a later one of its inner batch.
Index last_read(const RowOfWeights* row, WeighedBy reader, Index token) {
  Index last = row && reader == WeighedBy::rule ? row->weights.size() - 1 : token;
  while (last > token && row->weights(last) == 0) --last;
  return std::max(last, token);
}

void explain(const AttendSquare& square, Cell at) {
  const auto word = [&](Index token) {
    return fmt::format("{} “{}”", token,
                       visible_label(square.computed.data->labels[static_cast<std::size_t>(token)]));
  };
  tooltip_beside(square.from, square.to(),
                 fmt::format("The output of {} reads the value of {}. Click to look at this row.",
                             word(at.row), word(at.column)));
}

/// Pointing, clicking, dragging, zooming. Returns the cell under the pointer.
std::optional<Cell> interact(const AttendSquare& square, AttendSight& sight) {
  ImGui::SetCursorScreenPos(square.from);
  ImGui::PushID(static_cast<int>(square.by));
  ImGui::InvisibleButton("weights", {square.side, square.side});
  ImGui::PopID();
  const Index tokens = square.computed.sequence.tokens;
  const ImGuiIO& io = ImGui::GetIO();
  const double unit = static_cast<double>(square.side) / static_cast<double>(sight.block.count);
  const auto clamp_block = [&] {
    AttentionBlock& block = sight.block;
    block.count = std::clamp(block.count, std::min(least_block, tokens), tokens);
    block.first_row = std::clamp<Index>(block.first_row, 0, tokens - block.count);
    block.first_column = std::clamp<Index>(block.first_column, 0, tokens - block.count);
  };
  std::optional<Cell> at;
  if (ImGui::IsItemHovered()) {
    const auto row =
        sight.block.first_row + static_cast<Index>(static_cast<double>(io.MousePos.y - square.from.y) / unit);
    const auto column = sight.block.first_column +
                        static_cast<Index>(static_cast<double>(io.MousePos.x - square.from.x) / unit);
    if (row >= 0 && row < tokens && column >= 0 && column < tokens) at = Cell{row, column};
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    if (io.MouseWheel != 0 && at) {
      const Index before = sight.block.count;
      sight.block.count = io.MouseWheel > 0 ? (before + 1) / 2 : before * 2;
      clamp_block();
      const double part = static_cast<double>(sight.block.count) / static_cast<double>(before);
      sight.block.first_row =
          at->row - static_cast<Index>(static_cast<double>(at->row - sight.block.first_row) * part);
      sight.block.first_column =
          at->column - static_cast<Index>(static_cast<double>(at->column - sight.block.first_column) * part);
      clamp_block();
    }
  }
  if (ImGui::IsItemActive()) {
    sight.dragged = {sight.dragged.x + io.MouseDelta.x, sight.dragged.y + io.MouseDelta.y};
    const auto rows = static_cast<Index>(static_cast<double>(sight.dragged.y) / unit);
    const auto columns = static_cast<Index>(static_cast<double>(sight.dragged.x) / unit);
    if ((rows != 0 || columns != 0) && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
      sight.block.first_row -= rows;
      sight.block.first_column -= columns;
      clamp_block();
      sight.dragged = {};
    }
  } else {
    sight.dragged = {};
  }
  const bool is_click = ImGui::IsItemDeactivated() && at && io.MouseDragMaxDistanceSqr[0] < px(16);
  if (is_click && at->row != square.application.session.token()) {
    square.application.playing = false;
    square.application.session.go_to_token(at->row);
  }
  return at;
}

/// Names what the picture leaves out or adds, in words.
std::string softmax_words(Application& application, bool briefly) {
  if (briefly) return "nothing is negative, nothing is erased";
  const double chosen = application.session.state().attention.sharpness;
  return fmt::format("of the same q and k, sharpness {:.3g}: nothing is negative, nothing is erased",
                     chosen > 0 ? chosen : attention_facts(application).usual_sharpness);
}

std::string rule_words(Application& application, bool briefly) {
  const AttentionView& view = application.session.state().attention;
  std::string words = briefly ? "warm adds, cool subtracts"
                              : "the words whose values make the answer: warm adds, cool subtracts";
  if (!view.gates && attention_facts(application).has_gates) words += "; every gate is 1";
  return words;
}

std::string pixel_words(Index weights, bool briefly) {
  if (weights == 1) return {};
  return briefly ? fmt::format("; strongest of {}", weights)
                 : fmt::format("; a pixel is the strongest of {} weights", weights);
}

/// What lies over the weights of a square.
void draw_marks(const AttendSquare& square, const AttendSight& sight, const RowOfWeights* row,
                std::optional<Cell> at, const std::string& name, const std::string& words) {
  const style::Palette& c = style::colours();
  const AttentionView& view = square.application.session.state().attention;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Index token = square.application.session.token();
  if (view.chunks) draw_chunks(square);
  list->AddRect({square.from.x - 1, square.from.y - 1}, {square.to().x + 1, square.to().y + 1}, c.edge);
  if (token >= sight.block.first_row && token < sight.block.first_row + sight.block.count) {
    const Rectangle first = square.cell(token, sight.block.first_column);
    // Behind the mask nothing is read: there the row has no cells, and the loupe its place.
    const Index last =
        view.mask ? last_read(row, square.by, token) : sight.block.first_column + sight.block.count - 1;
    const float right = std::clamp(square.cell(token, last).maximum.x, square.from.x + px(4), square.to().x);
    list->AddRect({square.from.x - px(2), first.minimum.y - px(1)},
                  {right + px(2), std::max(first.maximum.y, first.minimum.y + px(3)) + px(1)}, c.text, px(2),
                  px(style::lit_line));
    attend_map().squares.back().row_end = right;
  }
  const bool has_corner = view.mask && sight.block.first_row == sight.block.first_column;
  if (!has_corner) return;
  const float top = draw_name(square, name, words) + px(loupe_words);
  const float side = std::floor(std::min(square.side * 0.38F, square.to().y - top));
  const Index column = at ? at->column : strongest_column(row, square.by, token);
  if (side < px(100)) return;
  attend_map().squares.back().loupe_column = column;
  draw_loupe(square, {square.to().x - px(8) - side, top}, side, at ? at->row : token, column);
}

void draw_reason(const std::string& reason, ImVec2 from, ImVec2 to, const std::string& name = {}) {
  ImGui::SetCursorScreenPos({from.x, from.y + (to.y - from.y) * 0.3F});
  if (!name.empty()) {
    const style::TextStyle title(style::Text::title);
    ImGui::TextUnformatted(shortened(name, to.x - from.x).c_str());
    ImGui::SetCursorScreenPos({from.x, ImGui::GetItemRectMax().y + px(8)});
  }
  const style::TextStyle text(style::Text::body);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + (to.x - from.x));
  ImGui::TextUnformatted(reason.c_str());
  ImGui::PopTextWrapPos();
}

/// The colours below one square, what can be set below the other: in a low window the side has no room.
void draw_settings_below(Application& application, ImVec2 from, float side) {
  ImGui::SetCursorScreenPos(from);
  if (ImGui::BeginChild("attend settings", {2 * side + px(between), px(settings_height)}))
    scene::show(attend_settings(application, between));
  ImGui::EndChild();
}

void draw_squares(Application& application, ImVec2 from, ImVec2 to) {
  const Computation& computed = *application.session.computed();
  AttendSight& sight = attend_sight(computed);
  AttendMap& map = attend_map();
  map.block = sight.block;
  map.reason = attention_facts(application).reason;
  const Known<RowOfWeights> answer = ask_row(application);
  map.row = answer.value;
  const bool is_large = to.x - from.x >= px(large_panel);
  const float beside = px(is_large ? words_beside : few_beside);
  const float width = (to.x - from.x - 2 * beside - px(between)) / 2;
  const float side = std::floor(std::min(width, to.y - from.y - px(is_large ? words_below : few_below)));
  if (side < px(least_square)) {
    draw_reason("There is no room here for the two pictures: make the panel larger.", from, to);
    return;
  }
  const float spare = to.x - from.x - 2 * side - 2 * beside - px(between);
  const float left = std::round(from.x + spare / 2 + beside);
  struct Ranges {
    std::string of;
    double range = 1;
  };
  auto& ranges = context_local<Ranges>();
  double range = 0;
  const std::pair<WeighedBy, std::string> readers[] = {{WeighedBy::rule, computed.variant->label},
                                                       {WeighedBy::softmax, "Softmax"}};
  for (const auto& [reader, name] : readers) {
    AttendSquare square{.application = application,
                        .computed = computed,
                        .by = reader,
                        .block = sight.block,
                        .from = {reader == WeighedBy::rule ? left : left + side + px(between), from.y},
                        .side = side,
                        .is_small = !is_large,
                        .range = ranges.range};
    const std::string& reason =
        reader == WeighedBy::rule ? map.reason : attention_facts(application).no_softmax;
    if (!reason.empty()) {
      draw_reason(reason, {square.from.x, square.from.y}, {square.to().x - px(20), square.to().y}, name);
      continue;
    }
    ImGui::GetWindowDrawList()->AddRectFilled(square.from, square.to(), style::colours().background);
    range = std::max(range, draw_weights(square));
    const std::optional<Cell> at = interact(square, sight);
    draw_marks(square, sight, answer.value.get(), at, name,
               (reader == WeighedBy::rule ? rule_words(application, square.is_small)
                                          : softmax_words(application, square.is_small)) +
                   pixel_words(map.squares.back().weights_of_a_pixel, square.is_small));
    if (at) explain(square, *at);
    const style::TextStyle text(style::Text::caption);
    const AxisWords words(square, answer.value.get());
    draw_row_words(square, words, reader == WeighedBy::rule);
    draw_column_words(square, words);
  }
  ranges.range = round_above(range);
  map.range = ranges.range;
  const float below = from.y + side + px((is_large ? words_below : few_below) + 8);
  map.has_settings = !is_large && to.y - below >= px(settings_height);
  if (map.has_settings) draw_settings_below(application, {left, below}, side);
}

}  // namespace

std::span<const Panel> attend_panels() {
  static constexpr Panel list[] = {
      {"Who is read?", PanelPlace::center, draw_attend},
      {"Read most", PanelPlace::right_top, draw_attend_side},
      {"What this word reads", PanelPlace::bottom, draw_attend_floor},
  };
  return list;
}

AttendMap& attend_map() { return context_local<AttendMap>(); }

const AttentionFacts& attention_facts(Application& application) {
  FactsOfAttention key;
  key.of = application.session.computed();
  auto& facts = context_local<std::shared_ptr<const AttentionFacts>>();
  if (auto answer = application.session.questions().ask(key); answer.value) facts = std::move(answer.value);
  static const AttentionFacts unknown;
  return facts ? *facts : unknown;
}

Known<RowOfWeights> ask_row(Application& application) {
  const AttentionView& view = application.session.state().attention;
  RowAtToken key;
  const auto computed = application.session.computed();
  key.of = computed;
  key.token = application.session.token();
  key.sharpness = view.sharpness;
  key.channel = asked_channel(view, computed->sequence);
  return application.session.questions().ask(key);
}

void draw_attend(Application& application) {
  attend_map() = {};
  if (style::begin_panel("##who is read", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const auto computed = application.session.computed();
    if (!computed || computed->sequence.tokens == 0) {
      style::paragraph(computed ? "This sequence has no tokens, so nobody reads."
                                : "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures "
                                  "and presets.");
    } else {
      const ImVec2 from = ImGui::GetCursorScreenPos();
      const ImVec2 room = ImGui::GetContentRegionAvail();
      draw_headline(application, from, from.x + room.x);
      draw_squares(application, {from.x, from.y + px(34)}, {from.x + room.x, from.y + room.y});
      ImGui::SetCursorScreenPos(from);
      ImGui::Dummy({1, 1});  // pictures are no items
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
