#include "app/views/timeline_columns.h"

#include <fmt/format.h>

#include <limits>

#include "app/gl/context_local.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float readable_column = 30;  // design pixels from which labels are written
constexpr float narrowest_group = 24;  // narrower ones get no boxes of their own
constexpr float caption_height = 20;
constexpr float cut = 2;          // a bar that is longer than there is room: it has a notch
constexpr float notch_from = 3;   // design pixels below its end
constexpr float waiting = 0.32F;  // how much of its colour a token keeps that is still to come

/// What is drawn of one token, or of several that share a pixel: parts of the full height, negative where
/// there is none.
struct Bars {
  float kept = -1;
  float written = -1;
  float before = -1;
  float after = -1;
};

/// The length of the error, as a part of the largest; `cut` beyond that or without limit.
float error_part(double recall, double largest) {
  const double length = std::sqrt(2 * recall);
  if (length == 0) return 0;
  return length <= largest ? static_cast<float>(length / largest) : cut;
}

Bars bars_of(const TokenFacts& facts, const TimelineView& view) {
  Bars bars;
  if (facts.alpha) bars.kept = std::clamp(static_cast<float>(*facts.alpha), 0.0F, 1.0F);
  if (facts.beta) bars.written = std::clamp(static_cast<float>(*facts.beta / view.largest_beta), 0.0F, 1.0F);
  if (facts.recall) {
    bars.before = error_part(facts.recall->before, view.largest_error);
    bars.after = error_part(facts.recall->after, view.largest_error);
  }
  return bars;
}

/// What must not vanish when tokens share a pixel: the strongest forgetting, writing and error.
Bars extremes(Bars x, const Bars& y) {
  x.kept = x.kept < 0 ? y.kept : std::min(x.kept, y.kept);
  x.written = std::max(x.written, y.written);
  x.before = std::max(x.before, y.before);
  x.after = std::max(x.after, y.after);
  return x;
}

class Painter {
 public:
  Painter(const TimelineColumns& columns, const TimelineView& view, const Session& session)
      : columns_(columns), view_(view), session_(session), computed_(*session.computed()) {
    const Trace* trace = computed_.form(session.choice().form).trace;
    groups_ = trace ? trace->groups : Groups{.size = computed_.choice.chunk_size};
    token_ = session.token();
    reached_ = token_ + 1;
    if (trace && trace->form != Form::recurrent && trace->block_count() > 0) {
      const Block block = trace->block(session.cursor().block);
      reached_ = block.first_token + block.count;
    }
    box_top_ = columns.position.y + style::px(caption_height);
    box_bottom_ = columns.position.y + columns.size.y - style::px(4);
    readable_ = columns.column >= style::px(readable_column);
  }

  void draw() {
    list_->PushClipRect(
        {columns_.position.x - style::px(4), columns_.position.y},
        {columns_.position.x + columns_.size.x + style::px(4), columns_.position.y + columns_.size.y}, true);
    draw_groups();
    if (columns_.column >= 2) {
      for (Index t = columns_.begin(); t < columns_.end(); ++t) draw_token(t);
    } else {
      draw_pixels();
    }
    draw_cursor();
    list_->PopClipRect();
  }

  void draw_mark(Index token) {
    const float x = columns_.left_pixel(token);
    if (x < columns_.position.x - 1 || x > columns_.position.x + columns_.size.x) return;
    const float tip = box_top_ - style::px(2);
    const float half = style::px(5);
    list_->AddTriangleFilled({x - half, tip - half * 1.6F}, {x + half, tip - half * 1.6F}, {x, tip},
                             colours_.alarm);
    list_->AddRectFilled({x - style::px(1), tip - style::px(1)}, {x + style::px(1), box_bottom_},
                         colours_.alarm);
  }

 private:
  ImU32 ink(ImU32 colour, Index token) const {
    return token < reached_ ? colour : style::mix(colours_.background, colour, waiting);
  }

  /// The groups of tokens that the present form takes together.
  void draw_groups() {
    const Index size = groups_.size;
    timeline_map() = {};
    if (groups_.kind != Groups::Kind::whole &&
        static_cast<float>(size) * columns_.column < style::px(narrowest_group)) {
      draw_box(columns_.left_pixel(0), columns_.left_pixel(columns_.tokens), false);
      return;
    }
    const float gap = style::px(2);
    const bool are_taken_together =
        groups_.kind == Groups::Kind::batches || has_chunks(session_.choice().form);
    for (Index group = columns_.begin() / size; group * size < columns_.end(); ++group) {
      const Index first = group * size;
      const Index last = std::min(first + size, columns_.tokens);
      const bool current = are_taken_together && token_ >= first && token_ < last;
      const float left = columns_.left_pixel(first) + gap;
      const float right = columns_.left_pixel(last) - gap;
      draw_box(left, right, current);
      const std::string words = words_of(group);
      draw_caption(words, left, right, current);
      timeline_map().groups.push_back({words, first, last - first});
    }
  }

  std::string words_of(Index group) const {
    switch (groups_.kind) {
      case Groups::Kind::batches:
        return fmt::format("batch {}", group);
      case Groups::Kind::chunks:
        return fmt::format("chunk {}", group);
      case Groups::Kind::whole:
        break;
    }
    return "the whole sequence";
  }

  void draw_box(float left, float right, bool current) {
    const float rounding = std::min(style::px(6), (right - left) / 2);
    list_->AddRectFilled({left, box_top_}, {right, box_bottom_}, colours_.background, rounding);
    list_->AddRect({left, box_top_}, {right, box_bottom_}, current ? colours_.dim : colours_.edge, rounding,
                   style::px(style::line));
  }

  /// The caption stays in sight while its group is scrolled past.
  void draw_caption(const std::string& words, float left, float right, bool current) {
    const style::TextStyle text(style::Text::caption);
    const float start = std::max(left, columns_.position.x) + style::px(4);
    if (start + text_extent(words).x + style::px(4) > right) return;
    draw_text({start, columns_.position.y}, current ? colours_.text : colours_.dim, words);
  }

  void draw_token(Index token) {
    const Bars bars = bars_of(computed_.tokens[static_cast<std::size_t>(token)], view_);
    const bool only_text = bars.kept < 0 && bars.written < 0 && bars.before < 0;
    const float left = columns_.left_pixel(token);
    const float right = columns_.left_pixel(token + 1);
    if (!readable_) {
      draw_thin(bars, left, std::max(right - (right - left > 3 ? 1.0F : 0.0F), left + 1), token);
      return;
    }
    draw_label(token, left, right,
               only_text ? (box_top_ + box_bottom_) / 2 - style::px(9) : box_top_ + style::px(9));
    const float inset = style::px(6);
    float lane = box_top_ + style::px(36);
    if (bars.kept >= 0) {
      draw_lane(bars.kept, left + inset, right - inset, lane, ink(colours_.gate, token));
      lane += style::px(9);
    }
    if (bars.written >= 0)
      draw_lane(bars.written, left + inset, right - inset, lane, ink(colours_.strength, token));
    const float bar = std::min(std::floor((right - left) / 2 - inset - style::px(1)), style::px(18));
    const float middle = std::round((left + right) / 2);
    const float top = lane + style::px(10);
    draw_column(bars.before, middle - style::px(1) - bar, middle - style::px(1), top,
                box_bottom_ - style::px(5), ink(colours_.error, token));
    draw_column(bars.after, middle + style::px(1), middle + style::px(1) + bar, top,
                box_bottom_ - style::px(5), ink(colours_.good, token));
  }

  void draw_label(Index token, float left, float right, float top) {
    if (is_number(token)) {
      draw_number(token, top);
      return;
    }
    const bool here = token == token_;
    const style::TextStyle text(here ? style::Text::strong : style::Text::body);
    const std::string label = visible_label(session_.data().labels[static_cast<std::size_t>(token)]);
    const ImU32 colour = token < reached_ ? colours_.text : colours_.faint;
    draw_centred({left + style::px(3), top}, right - left - style::px(6), colour, label);
  }

  /// Whether a token is called by nothing but its number.
  bool is_number(Index token) const {
    return session_.data().labels[static_cast<std::size_t>(token)] == std::to_string(token);
  }

  /// Numbers are written in full, if need be fewer of them: every second, every fourth…
  void draw_number(Index token, float top) {
    const bool here = token == token_;
    const style::TextStyle text(here ? style::Text::strong : style::Text::body);
    const float widest = text_extent(std::to_string(columns_.tokens)).x + style::px(8);
    Index every = 1;
    while (static_cast<float>(every) * columns_.column < widest) every *= 2;
    const bool near_cursor = std::abs(token - token_) < every;
    if (!here && (token % every != 0 || near_cursor)) return;
    const std::string label = std::to_string(token);
    const float middle = columns_.left(token) + columns_.column / 2;
    draw_text({middle - text_extent(label).x / 2, top}, token < reached_ ? colours_.text : colours_.faint,
              label);
  }

  void draw_lane(float part, float left, float right, float top, ImU32 colour) {
    const float height = style::px(4);
    list_->AddRectFilled({left, top}, {right, top + height},
                         style::mix(colours_.background, colours_.edge, 0.6F), height / 2);
    if (part > 0)
      list_->AddRectFilled({left, top}, {left + (right - left) * part, top + height}, colour, height / 2);
  }

  void draw_column(float part, float left, float right, float top, float bottom, ImU32 colour) {
    if (part < 0) return;
    const float height = std::max(std::round((bottom - top) * std::min(part, 1.0F)), part > 0 ? 1.0F : 0.0F);
    if (height > 0) list_->AddRectFilled({left, bottom - height}, {right, bottom}, colour);
    if (part < cut) return;
    const float notch = top + style::px(notch_from);
    list_->AddRectFilled({left, notch}, {right, notch + style::px(2)}, colours_.background);
  }

  /// Narrow columns: all bars stand upright, errors over each other with the smaller in front.
  void draw_thin(const Bars& bars, float left, float right, Index token) {
    const float lane = style::px(14);
    float top = box_top_ + style::px(5);
    for (const auto& [part, colour] :
         {std::pair(bars.kept, colours_.gate), std::pair(bars.written, colours_.strength)}) {
      if (part < 0) continue;
      draw_column(part, left, right, top, top + lane, ink(colour, token));
      top += lane + style::px(5);
    }
    const float bottom = box_bottom_ - style::px(3);
    const bool after_behind = bars.after > bars.before;
    const ImU32 before = ink(colours_.error, token);
    const ImU32 after = ink(colours_.good, token);
    draw_column(std::max(bars.before, bars.after), left, right, top, bottom, after_behind ? after : before);
    draw_column(std::min(bars.before, bars.after), left, right, top, bottom, after_behind ? before : after);
  }

  /// Several tokens share a pixel.
  void draw_pixels() {
    const auto pixels = static_cast<Index>(columns_.size.x);
    for (Index pixel = 0; pixel < pixels; ++pixel) {
      const float x = columns_.position.x + static_cast<float>(pixel);
      if (x >= columns_.left(columns_.tokens)) break;
      const Index begin = columns_.token_at(x);
      const Index end = std::max(columns_.token_at(x + 1), begin + 1);
      Bars bars;
      for (Index t = begin; t < end; ++t) {
        bars = extremes(bars, bars_of(computed_.tokens[static_cast<std::size_t>(t)], view_));
      }
      draw_thin(bars, x, x + 1, begin);
    }
  }

  void draw_cursor() {
    const float middle = columns_.left(token_) + columns_.column / 2;
    const float half = std::max(columns_.column / 2, style::px(4));
    const ImVec2 from = {std::round(middle - half), box_top_ - style::px(4)};
    const ImVec2 to = {std::round(middle + half), box_bottom_ + style::px(3)};
    if (!readable_) draw_flag(middle);
    list_->AddRect(from, to, colours_.text, style::px(5), style::px(style::lit_line));
  }

  /// Above a narrow cursor: the word that does not fit into it.
  void draw_flag(float middle) {
    const style::TextStyle text(style::Text::strong);
    const std::string label =
        shortened(visible_label(session_.data().labels[static_cast<std::size_t>(token_)]), style::px(120));
    const float width = text_extent(label).x + style::px(12);
    const float right_end = columns_.position.x + columns_.size.x;
    const float left =
        std::clamp(middle - width / 2, columns_.position.x, std::max(right_end - width, columns_.position.x));
    list_->AddRectFilled({left, columns_.position.y - style::px(2)}, {left + width, box_top_ - style::px(2)},
                         colours_.panel);
    draw_text({left + style::px(6), columns_.position.y - style::px(2)}, colours_.text, label);
  }

  const TimelineColumns& columns_;
  const TimelineView& view_;
  const Session& session_;
  const Computation& computed_;
  const style::Palette& colours_ = style::colours();
  ImDrawList* list_ = ImGui::GetWindowDrawList();
  Groups groups_;
  Index token_ = 0;
  Index reached_ = 0;  // tokens from here on are still to come
  float box_top_ = 0;
  float box_bottom_ = 0;
  bool readable_ = false;
};

}  // namespace

TimelineMap& timeline_map() { return context_local<TimelineMap>(); }

void draw_timeline_columns(const TimelineColumns& columns, const TimelineView& view, const Session& session,
                           Index marked) {
  Painter painter(columns, view, session);
  painter.draw();
  if (marked >= 0) painter.draw_mark(marked);
}

}  // namespace palimpsest
