#include "app/views/timeline_rows.h"

#include <fmt/format.h>

#include <tuple>

#include "app/gl/context_local.h"
#include "app/views/timeline_scale.h"
#include "app/views/underlined_words.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;
using Bars = TimelineRows::Bars;

// In design pixels.
constexpr float narrowest_group = 24;  // narrower ones have no hairlines
constexpr float bar_gap = 2;           // beside a bar, at both sides
constexpr float lane_height = 4;
constexpr float upright_height = 9;
constexpr float notch_from = 4;  // below the end of a bar that is cut
constexpr float notch_height = 2;
constexpr float hatch_distance = 4;
constexpr float name_gap = 10;
constexpr float name_line = 13;          // from one row's name to the next
constexpr float widest_bar_alone = 124;  // in wider columns a bar has its numbers beside it
constexpr float numbered_bar = 56;

constexpr float below_flag = 8;  // begins the frame of a word that does not fit into it

constexpr float waiting = 0.38F;  // how much of its colour a token keeps that is still to come
constexpr std::size_t measured_lengths = 8192;

/// The length of an error, from half its square.
double length_of(double recall) { return std::sqrt(2 * recall); }

/// What is drawn of the visible tokens, and at which scale; made anew only when something of it has changed.
struct VisibleBars {
  // Computation; the columns.
  using Key = std::tuple<std::uint64_t, Index, Index, float, float, double>;

  std::optional<Key> key;
  LengthScale errors;
  double written = 1;
  std::vector<Bars> bars;  // of every visible token; of every pixel where several share one
};

bool share_pixels(const TimelineColumns& columns) { return columns.column < 2; }

/// The scales of the visible tokens; of very many, their sample.
void measure(VisibleBars& visible, const TimelineColumns& columns, const Computation& computed) {
  const Index begin = columns.begin();
  const Index end = columns.end();
  const Index stride = std::max<Index>((end - begin) / static_cast<Index>(measured_lengths), 1);
  std::vector<double> errors;
  std::vector<double> written;
  double largest = 0;
  for (Index t = begin; t < end; ++t) {
    const TokenFacts& facts = computed.tokens[static_cast<std::size_t>(t)];
    const bool is_sampled = (t - begin) % stride == 0;
    if (facts.written && is_sampled) written.push_back(*facts.written);
    const Recall* recall = computed.recall(t);
    if (!recall) continue;
    for (const double loss : {recall->before, recall->after}) {
      const double length = length_of(loss);
      if (std::isfinite(length)) largest = std::max(largest, length);
      if (is_sampled) errors.push_back(length);
    }
  }
  visible.errors = length_scale(std::move(errors));
  visible.errors.largest = largest;
  // 1 is a write that puts a value in the place of another; lengths have no such mark.
  const double usual = length_scale(std::move(written)).full;
  visible.written = computed.written_by == "beta" ? std::max(1.0, usual) : usual;
}

Bars bars_of(const TokenFacts& facts, const Recall* recall, const VisibleBars& scales, bool by_beta) {
  Bars bars;
  if (facts.alpha) bars.kept = half_life_part(*facts.alpha);
  if (facts.written) bars.written = length_bar(*facts.written, scales.written).part;
  if (recall) {
    const LengthBar before = length_bar(length_of(recall->before), scales.errors.full);
    const LengthBar after = length_bar(length_of(recall->after), scales.errors.full);
    bars.before = before.part;
    bars.after = after.part;
    bars.before_cut = before.cut;
    bars.after_cut = after.cut;
    // The write went past its target: the rest of the error points the other way, or is longer than before.
    bars.overshoots =
        (by_beta && facts.written && *facts.written > 1 + 1e-9) || recall->after > recall->before;
  }
  return bars;
}

/// What must not vanish when tokens share a pixel: the strongest forgetting, writing and error.
Bars extremes(Bars x, const Bars& y) {
  x.kept = x.kept < 0 ? y.kept : std::min(x.kept, y.kept);
  x.written = std::max(x.written, y.written);
  x.before = std::max(x.before, y.before);
  x.after = std::max(x.after, y.after);
  x.before_cut = x.before_cut || y.before_cut;
  x.after_cut = x.after_cut || y.after_cut;
  x.overshoots = x.overshoots || y.overshoots;
  return x;
}

const VisibleBars& visible_bars(const TimelineColumns& columns, const Computation& computed) {
  auto& visible = context_local<VisibleBars>();
  const VisibleBars::Key key{computed.version, columns.begin(), columns.end(),
                             columns.size.x,   columns.column,  share_pixels(columns) ? columns.first : 0};
  if (visible.key == key) return visible;
  visible.key = key;
  measure(visible, columns, computed);
  visible.bars.clear();
  const auto bars_at = [&](Index t) {
    return bars_of(computed.tokens[static_cast<std::size_t>(t)], computed.recall(t), visible,
                   computed.written_by == "beta");
  };
  if (!share_pixels(columns)) {
    for (Index t = columns.begin(); t < columns.end(); ++t) visible.bars.push_back(bars_at(t));
    return visible;
  }
  for (Index pixel = 0; pixel < static_cast<Index>(columns.size.x); ++pixel) {
    const float x = columns.position.x + static_cast<float>(pixel);
    if (x >= columns.left(columns.tokens)) break;
    const Index begin = columns.token_at(x);
    Bars bars = bars_at(begin);
    for (Index t = begin + 1; t < columns.token_at(x + 1); ++t) bars = extremes(bars, bars_at(t));
    visible.bars.push_back(bars);
  }
  return visible;
}

/// Slanted lines in a rectangle.
void hatch(ImDrawList* list, ImVec2 from, ImVec2 to, ImU32 colour) {
  list->PushClipRect(from, to, true);
  const float height = to.y - from.y;
  for (float x = from.x - height; x < to.x; x += px(hatch_distance))
    list->AddLine({x, to.y}, {x + height, from.y}, colour, px(1));
  list->PopClipRect();
}

}  // namespace

TimelineMap& timeline_map() { return context_local<TimelineMap>(); }

TimelineRows::TimelineRows(const TimelineColumns& columns, const Session& session)
    : columns_(columns), session_(session), computed_(*session.computed()) {
  const Trace* trace = computed_.form(session.choice().form).trace;
  groups_ = trace ? trace->groups : Groups{.size = computed_.choice.chunk_size};
  token_ = session.token();
  reached_ = token_ + 1;
  if (trace && trace->form != Form::recurrent && trace->block_count() > 0) {
    const Block block = trace->block(session.cursor().block);
    reached_ = block.first_token + block.count;
  }
  const VisibleBars& visible = visible_bars(columns, computed_);
  bars_ = &visible.bars;
  if (!computed_.tokens.empty()) {
    const TokenFacts& facts = computed_.tokens.front();
    has_kept_ = facts.alpha.has_value();
    has_written_ = facts.written.has_value();
    has_errors_ = computed_.recall(0) != nullptr;
  }
  timeline_map() = {.groups = {},
                    .underlined = {},
                    .full_error = visible.errors.full,
                    .largest_error = visible.errors.largest,
                    .text_left = columns.position.x,
                    .names = {},
                    .numbers = {},
                    .words_top = 0,
                    .words_bottom = 0,
                    .cursor_top = 0};
  list_->PushClipRect({columns.position.x - px(3), columns.position.y - px(8)},
                      {columns.position.x + columns.size.x + px(3), columns.position.y + columns.size.y},
                      true);
}

TimelineRows::~TimelineRows() { list_->PopClipRect(); }

ImU32 TimelineRows::ink(ImU32 colour, Index token) const {
  return token < reached_ ? colour : style::mix(colours_.panel, colour, waiting);
}

template <class Draw>
void TimelineRows::each(Draw draw) const {
  if (share_pixels(columns_)) {
    for (std::size_t pixel = 0; pixel < bars_->size(); ++pixel) {
      const float x = columns_.position.x + static_cast<float>(pixel);
      draw((*bars_)[pixel], columns_.token_at(x), x, x + 1);
    }
    return;
  }
  for (Index t = columns_.begin(); t < columns_.end(); ++t) {
    const float left = columns_.left_pixel(t);
    const float right = columns_.left_pixel(t + 1);
    const float gap = columns_.has_words() ? px(bar_gap) : right - left > 3 ? 0.5F : 0;
    draw((*bars_)[static_cast<std::size_t>(t - columns_.begin())], t, std::round(left + gap),
         std::max(std::round(right - gap), left + 1));
  }
}

void TimelineRows::groups(float top, float bottom) {
  const Index size = groups_.size;
  const bool are_thin =
      groups_.kind != Groups::Kind::whole && static_cast<float>(size) * columns_.column < px(narrowest_group);
  if (are_thin) return;
  const style::TextStyle text(style::Text::caption);
  const bool are_taken_together = groups_.kind == Groups::Kind::batches || has_chunks(session_.choice().form);
  for (Index group = columns_.begin() / size; group * size < columns_.end(); ++group) {
    const Index first = group * size;
    const Index last = std::min(first + size, columns_.tokens);
    const float left = columns_.left_pixel(first);
    const float right = columns_.left_pixel(last);
    if (left >= columns_.position.x - 1)
      list_->AddRectFilled({left, top}, {left + px(style::line), bottom}, colours_.edge);
    const std::string words = groups_.kind == Groups::Kind::batches  ? fmt::format("batch {}", group)
                              : groups_.kind == Groups::Kind::chunks ? fmt::format("chunk {}", group)
                                                                     : "the whole sequence";
    timeline_map().groups.push_back({words, first, last - first, top + ImGui::GetFontBaked()->Ascent});
    // The caption stays in sight while its group is scrolled past.
    const float start = std::max(left, columns_.position.x) + px(5);
    const float end = std::min(right, columns_.position.x + columns_.size.x + px(3));
    if (start + text_extent(words).x + px(3) > end) continue;
    const bool is_present = are_taken_together && token_ >= first && token_ < last;
    draw_text({start, top}, is_present ? colours_.text : colours_.dim, words);
  }
}

/// A bracket over the words that playing repeats.
void TimelineRows::repeated(float top) const {
  const std::vector<Index>& tokens = session_.state().repeated;
  if (tokens.empty() || tokens.back() >= columns_.tokens) return;
  const float left = std::round(columns_.left(tokens.front()) + px(1));
  const float right = std::max(std::round(columns_.left(tokens.back() + 1) - px(1)), left + px(3));
  const float line = px(1.5F);
  list_->AddRectFilled({left, top}, {right, top + line}, colours_.text);
  list_->AddRectFilled({left, top}, {left + line, top + px(6)}, colours_.text);
  list_->AddRectFilled({right - line, top}, {right, top + px(6)}, colours_.text);
}

void TimelineRows::words(float top) {
  repeated(top - px(1));
  if (!columns_.has_words()) return;
  timeline_map().underlined = underlined_words(session_);
  timeline_map().words_top = top;
  timeline_map().words_bottom = top + text_extent("x").y;
  const std::vector<Index>& asked = timeline_map().underlined;
  for (Index t = columns_.begin(); t < columns_.end(); ++t) {
    const bool is_asked = std::ranges::binary_search(asked, t);
    const style::TextStyle text(is_asked || t == token_ ? style::Text::strong : style::Text::body);
    const float left = columns_.left(t);
    const float width = columns_.width(t) - px(4);
    const std::string word =
        shortened(visible_label(session_.data().labels[static_cast<std::size_t>(t)]), width);
    const float extent = text_extent(word).x;
    const float from = std::floor(left + px(2) + (width - extent) / 2);
    const ImU32 colour = t < reached_ ? colours_.text : colours_.faint;
    draw_text({from, top}, colour, word);
    if (!is_asked) continue;
    const float line = std::round(top + px(19));
    list_->AddRectFilled({from, line}, {from + std::ceil(extent), line + px(2)}, colour);
  }
}

void TimelineRows::lane(float part, float left, float right, float top, ImU32 colour, bool upright) const {
  if (part < 0) return;
  if (upright) {
    const float height = std::max(std::round(px(upright_height) * part), part > 0 ? 1.0F : 0.0F);
    if (height > 0)
      list_->AddRectFilled({left, top + px(upright_height) - height}, {right, top + px(upright_height)},
                           colour);
    return;
  }
  const float y = std::round(top + px((upright_height - lane_height) / 2));
  list_->AddRectFilled({left, y}, {right, y + px(lane_height)}, colours_.edge);
  if (part > 0)
    list_->AddRectFilled({left, y},
                         {std::max(std::round(left + (right - left) * part), left + 1), y + px(lane_height)},
                         colour);
}

void TimelineRows::kept(float top) {
  each([&](const Bars& bars, Index token, float left, float right) {
    lane(bars.kept, left, right, top, ink(colours_.gate, token), !columns_.has_words());
  });
}

void TimelineRows::written(float top) {
  each([&](const Bars& bars, Index token, float left, float right) {
    lane(bars.written, left, right, top, ink(colours_.strength, token), !columns_.has_words());
  });
}

void TimelineRows::error(const Bars& bars, float left, float right, float top, float bottom,
                         Index token) const {
  if (bars.before < 0) return;
  const auto end_of = [&](float part) {
    const float height = std::round((bottom - top) * part);
    return bottom - (part > 0 ? std::max(height, 1.0F) : 0.0F);
  };
  const ImU32 colour = ink(colours_.error, token);
  const float line = px(style::line);
  const bool is_thin = right - left < px(6);
  const auto notch = [&](float y) {
    list_->AddRectFilled({left - 1, y}, {right + 1, y + px(notch_height)}, colours_.panel);
  };
  const float before = end_of(bars.before);
  const float after = end_of(bars.after);
  const float middle = std::round((left + right) / 2);
  if (right - left > px(widest_bar_alone) && error_numbers(token, middle, right, bottom)) {
    left = middle - px(numbered_bar);
    right = middle - px(8);
  }
  if (is_thin) {
    list_->AddRectFilled({left, before}, {right, bottom}, style::mix(colours_.panel, colour, 0.45F));
    if (bars.overshoots && right - left > 2)
      hatch(list_, {left, after}, {right, bottom}, colour);
    else
      list_->AddRectFilled({left, after}, {right, bottom}, colour);
  } else {
    if (bars.overshoots)
      hatch(list_, {left, after}, {right, bottom}, colour);
    else
      list_->AddRectFilled({left, after}, {right, bottom}, colour);
    if (bars.overshoots) list_->AddRectFilled({left, after}, {right, after + line}, colour);
    list_->AddRect({left, before}, {right, bottom}, colour, 0, line);
  }
  if (bars.before_cut) notch(top + px(notch_from));
  if (bars.after_cut) notch(top + px(notch_from + 2 * notch_height));
}

/// Beside a bar in a wide column: "1.12 → 0.11". Returns whether there was room for them.
bool TimelineRows::error_numbers(Index token, float left, float right, float bottom) const {
  const Recall* recall = computed_.recall(token);
  if (!recall) return false;
  const style::TextStyle number(style::Text::number_small);
  const std::string words = fmt::format("{} → {}", fixed_number(length_of(recall->before), 2),
                                        fixed_number(length_of(recall->after), 2));
  if (left + text_extent(words).x > right) return false;
  timeline_map().numbers.push_back({left, left + text_extent(words).x, right});
  draw_text({left, bottom - text_extent(words).y - px(2)}, token < reached_ ? colours_.text : colours_.faint,
            words);
  return true;
}

void TimelineRows::errors(float top, float bottom) {
  each([&](const Bars& bars, Index token, float left, float right) {
    error(bars, left, right, top, bottom, token);
  });
}

void TimelineRows::cursor(float top, float bottom, float captions) {
  const bool is_group = has_chunks(session_.choice().form) || groups_.kind == Groups::Kind::batches;
  if (is_group && groups_.kind != Groups::Kind::whole) {
    const Index first = token_ / groups_.size * groups_.size;
    const Index last = std::min(first + groups_.size, columns_.tokens);
    list_->AddRect({columns_.left_pixel(first), top}, {columns_.left_pixel(last), bottom}, colours_.faint,
                   px(5), px(style::line));
  }
  const float middle = columns_.left(token_) + columns_.width(token_) / 2;
  const float half = std::max(columns_.width(token_) / 2, px(4));
  if (!columns_.has_words()) flag(middle, top);
  const ImVec2 from = {std::round(middle - half), top + px(columns_.has_words() ? captions : below_flag)};
  timeline_map().cursor_top = from.y;
  list_->AddRect(from, {std::round(middle + half), bottom}, colours_.text, px(5), px(style::lit_line));
}

/// Above a narrow cursor: the word that does not fit into it.
void TimelineRows::flag(float middle, float top) {
  const style::TextStyle text(style::Text::strong);
  const std::string label =
      shortened(visible_label(session_.data().labels[static_cast<std::size_t>(token_)]), px(120));
  const float width = text_extent(label).x + px(12);
  const float right_end = columns_.position.x + columns_.size.x;
  const float left =
      std::clamp(middle - width / 2, columns_.position.x, std::max(right_end - width, columns_.position.x));
  list_->AddRectFilled({left, top - px(10)}, {left + width, top + px(7)}, colours_.panel);
  draw_text({left + px(6), top - px(10)}, colours_.text, label);
}

void TimelineRows::mark(Index token, float top, float bottom) {
  const float x = columns_.left_pixel(token);
  if (x < columns_.position.x - 1 || x > columns_.position.x + columns_.size.x) return;
  const float half = px(5);
  list_->AddTriangleFilled({x - half, top - half * 1.6F}, {x + half, top - half * 1.6F}, {x, top},
                           colours_.alarm);
  list_->AddRectFilled({x - px(1), top - px(1)}, {x + px(1), bottom}, colours_.alarm);
}

void TimelineRows::name(std::string_view words, float middle, ImU32 colour) const {
  const ImVec2 extent = text_extent(words);
  list_->PushClipRectFullScreen();
  const ImVec2 from = {columns_.position.x - px(name_gap) - extent.x, middle - extent.y / 2};
  draw_text(from, colour, words);
  timeline_map().names.push_back(from.y);
  list_->PopClipRect();
}

namespace {

/// What the bars of errors are called, and how long the largest is, in as many lines as have room.
void name_errors(const TimelineRows& rows, bool is_faulty, float upper, float lower) {
  const style::Palette& c = style::colours();
  const TimelineMap& map = timeline_map();
  const float step = px(name_line);
  const float room = lower - upper;
  const std::string largest = "max " + plain_number(map.largest_error, 3);
  if (room < 2 * step) {
    const style::TextStyle text(style::Text::caption);
    const std::string whole = is_faulty ? "error if correct" : "error, " + largest;
    const bool fits = text_extent(whole).x <= px(timeline_gutter - 2 * name_gap);
    if (room >= step)
      rows.name(fits ? whole : "error " + plain_number(map.largest_error, 2), (upper + lower) / 2, c.error);
    return;
  }
  const bool is_roomy = room > px(56);
  float line = is_roomy ? upper + px(5) : (upper + lower - step) / 2;
  if (is_roomy) {
    const style::TextStyle number(style::Text::number_small);
    rows.name(plain_number(map.full_error, 3), line, c.dim);
    rows.name("0", lower - px(4), c.dim);
    line += step;
  }
  {
    const style::TextStyle text(style::Text::caption);
    rows.name(is_faulty ? "error if correct" : "error", line, c.error);
  }
  const style::TextStyle number(style::Text::number_small);
  rows.name(largest, line + step, c.error);
}

}  // namespace

void draw_timeline_rows(const TimelineColumns& columns, const Session& session, Index marked) {
  TimelineRows rows(columns, session);
  const style::Palette& c = style::colours();
  const float top = columns.position.y;
  const float bottom = top + columns.size.y;
  const float word = top + px(14);
  const float middle = px(upright_height / 2);
  rows.groups(top, bottom);
  rows.words(word);
  float row = word + px(23);
  {
    const style::TextStyle text(style::Text::caption);
    if (rows.has_kept()) {
      rows.kept(row);
      rows.name("kept", row + middle, c.gate);
      row += px(name_line);
    }
    if (rows.has_written()) {
      rows.written(row);
      rows.name("written", row + middle, c.strength);
      row += px(name_line);
    }
  }
  if (rows.has_errors()) {
    const float upper = row + px(4);
    const float lower = bottom - px(3);
    rows.errors(upper, lower);
    const bool is_faulty = session.computed() && session.computed()->edited;  // its errors are not known
    name_errors(rows, is_faulty, upper, lower);
  }
  constexpr float below_captions = 15;  // of the chunks: the frame crosses none
  rows.cursor(top - px(1), bottom, below_captions);
  if (marked >= 0) rows.mark(marked, top + px(2), bottom);
}

}  // namespace palimpsest
