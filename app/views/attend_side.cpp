#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/views/attend.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/cut_words.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index words_before = 4;
constexpr float bar_height = 9;
constexpr float curve_height = 26;
constexpr float low_panel = 700;  // below this height everything stands closer

ImU32 colour_of(double share, double range) {
  return style::colour(colour(style::colours().map, static_cast<float>(share), static_cast<float>(range)));
}

/// The text that leads to the present word, and which that is.
void draw_title(const Computation& computed, Index token) {
  std::string text;
  for (Index t = std::max<Index>(token - words_before, 0); t <= token; ++t)
    text += (text.empty() ? "" : " ") + visible_label(computed.data->labels[static_cast<std::size_t>(t)]);
  {
    const style::TextStyle title(style::Text::title);
    const float width = ImGui::GetContentRegionAvail().x;
    const std::string shown = shortened(fmt::format("“{} …”", text), width);
    ImGui::TextUnformatted(shown.c_str());
    offer_whole(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), shown);
  }
}

/// A share as a bar from the line in the middle, with its number at the right.
void draw_bar(const char* who, double share, double most) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string number = weight_words(share, true);
  const float height = text_extent("x").y;
  draw_text(from, c.dim, who);
  draw_text({from.x + width - text_extent(number).x, from.y}, c.text, number);
  const float left = from.x + px(86);
  const float right = from.x + width - px(46);
  const float zero = left + (right - left) * 0.25F;
  const float length = static_cast<float>(share / most) * (share < 0 ? zero - left : right - zero);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = from.y + (height - px(bar_height)) / 2;
  if (right - left > px(30)) {
    list->AddRectFilled({std::min(zero, zero + length), top},
                        {std::max(zero, zero + length), top + px(bar_height)}, bar_colour(share, most));
    list->AddLine({zero, top - px(2)}, {zero, top + px(bar_height + 2)}, c.dim);
  }
  ImGui::Dummy({width, height + px(1)});
}

/// Who took most of a write, as far as there is room: the number is what must not be cut.
std::string lost_words(const LeftOfWrite& left, const std::string& word, float room) {
  const std::string number = fmt::format(": {:.0f} %", 100 * left.lost_there);
  const char* what = left.is_erased ? "erased by" : "lost most at";
  const std::string in_full = fmt::format("{} {} “{}”", what, left.lost_most_at, word);
  const float beside = room - text_extent(number).x;
  if (text_extent(in_full).x <= beside) return in_full + number;
  return shortened(fmt::format("{} “{}”", left.is_erased ? "erased by" : "lost at", word), beside) + number;
}

/// What is left of a write from its token to the present one.
void draw_left(const Computation& computed, const LeftOfWrite& left, Index own) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float curve_width = std::round(width * 0.34F);
  const float bottom = from.y + px(curve_height);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto count = left.shares.size();
  const double top = std::max(1.0, *std::ranges::max_element(left.shares));
  const auto at = [&](std::size_t i) {
    const double part = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0;
    const double height = std::clamp(left.shares[i] / top, 0.0, 1.0);
    return ImVec2{from.x + static_cast<float>(part) * curve_width,
                  bottom - static_cast<float>(height) * px(curve_height)};
  };
  const auto pixels = static_cast<std::size_t>(std::max(curve_width, 1.0F));
  const std::size_t step = std::max<std::size_t>(count / pixels, 1);
  for (std::size_t i = 0; i + step < count; i += step) {
    const ImVec2 a = at(i);
    const ImVec2 b = at(i + step);
    list->AddQuadFilled(a, b, {b.x, bottom}, {a.x, bottom}, style::with_alpha(c.good, 0.25F));
    list->AddLine(a, b, c.good, px(1));
  }
  list->AddLine({from.x, bottom}, {from.x + curve_width, bottom}, c.edge);
  if (left.is_erased && left.lost_most_at >= own) {
    const float x =
        at(static_cast<std::size_t>(std::min<Index>(left.lost_most_at - own, std::ssize(left.shares) - 1))).x;
    list->AddLine({x, from.y}, {x, bottom}, c.alarm, px(2));
  }
  const float words_at = from.x + curve_width + px(10);
  const float room = from.x + width - words_at;
  const float line = text_extent("x").y + px(1);
  const double first = 100 * left.shares.front();
  const double last = 100 * left.shares.back();
  const std::string in_full = fmt::format("recalled {:.0f} %, now {:.0f} %", first, last);
  const bool fits = text_extent(in_full).x <= room;
  draw_text({words_at, from.y}, c.text,
            fits ? in_full : shortened(fmt::format("{:.0f} → {:.0f} %", first, last), room));
  if (left.lost_most_at >= 0) {
    const std::string word =
        visible_label(computed.data->labels[static_cast<std::size_t>(left.lost_most_at)]);
    draw_text({words_at, from.y + line}, left.is_erased ? c.alarm : c.dim, lost_words(left, word, room));
  }
  ImGui::Dummy({width, std::max(px(curve_height), 2 * line)});
  tooltip(
      "Not who is read, but what the memory still recalls, as in Learn: asked with the key of this word, how "
      "much "
      "of its own value is in the answer, fitted together with the values of the other words listed here; "
      "from "
      "its own write on. Beside other words, as in Step, it comes out a little different.");
}

void draw_word(const Computation& computed, const RowOfWeights& row, const ReadWord& word) {
  {
    const style::TextStyle text(style::Text::strong);
    ImGui::TextUnformatted(
        visible_label(computed.data->labels[static_cast<std::size_t>(word.token)]).c_str());
  }
  ImGui::SameLine(0, px(8));
  {
    const style::TextStyle text(style::Text::caption, style::colours().dim);
    const float room = ImGui::GetContentRegionAvail().x;
    ImGui::TextUnformatted(shortened(fmt::format("token {}", word.token), room).c_str());
  }
  double most = 0;
  for (const ReadWord& each : row.words) most = std::max({most, std::abs(each.share), each.softmax_share});
  if (row.reason.empty()) draw_bar("this rule", word.share, most > 0 ? most : 1);
  if (row.softmax_weights.size() > 0) draw_bar("softmax", word.softmax_share, most > 0 ? most : 1);
  if (word.left && !word.left->shares.empty()) draw_left(computed, *word.left, word.token);
}

/// What the words come to together, and what softmax would take.
void draw_sum(const Computation& computed, const RowOfWeights& row) {
  std::string words;
  if (row.reason.empty() && !row.words.empty()) {
    words = fmt::format("Together {} of this row", weight_words(row.together, true));
    if (row.softmax_weights.size() > 0)
      words += fmt::format(", {} of softmax's", weight_words(row.softmax_together, true));
    words += row.subtracts == 0
                 ? ". Nothing subtracts."
                 : fmt::format(". {} of this row subtracts.", weight_words(row.subtracts, true));
  }
  const bool is_listed = std::ranges::find(row.words, row.softmax_most, &ReadWord::token) != row.words.end();
  if (row.softmax_most >= 0 && !is_listed) {
    words += fmt::format(" Softmax reads {} {} most, {}.", row.softmax_most,
                         quoted_word(computed, row.softmax_most),
                         weight_words(row.softmax_weights(row.softmax_most), true));
  }
  if (words.empty()) return;
  attend_map().sum = words;
  style::caption(words);
}

}  // namespace

void draw_attend_scale(const Application& application, float width) {
  const bool shares = application.session.state().attention.shares;
  const double range = attend_map().range > 0 ? attend_map().range : 1;
  const style::TextStyle text(style::Text::caption);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  constexpr int steps = 64;
  for (int i = 0; i < steps; ++i) {
    const double value = range * (2.0 * (i + 0.5) / steps - 1);
    ImGui::GetWindowDrawList()->AddRectFilled(
        {from.x + width * static_cast<float>(i) / steps, from.y},
        {from.x + width * static_cast<float>(i + 1) / steps, from.y + px(8)}, colour_of(value, range));
  }
  const ImU32 ink = style::colours().dim;
  const float y = from.y + px(11);
  const std::string low = weight_words(-range, shares);
  const std::string high = weight_words(range, shares);
  draw_text({from.x, y}, ink, low);
  draw_text({from.x + (width - text_extent("0").x) / 2, y}, ink, "0");
  draw_text({from.x + width - text_extent(high).x, y}, ink, high);
  ImGui::Dummy({width, px(11) + text_extent("x").y + px(4)});
}

void draw_attend_settings(Application& application) {
  Session& session = application.session;
  AttentionView view = session.state().attention;
  const AttentionFacts& facts = attention_facts(application);
  double sharpness = view.sharpness > 0 ? view.sharpness : facts.usual_sharpness;
  const bool sharper = style::slider("", "sharpness of softmax", &sharpness,
                                     {.minimum = 0.01,
                                      .maximum = most_sharpness,
                                      .reset = facts.usual_sharpness,
                                      .format = "%.3g",
                                      .logarithmic = true});
  tooltip(
      "Softmax weighs with exp(sharpness · q·k). Many layers bring q and k to length 1, where 1/√K would "
      "leave "
      "every weight nearly the same.");
  if (sharper) {
    view.sharpness = sharpness == facts.usual_sharpness ? 0 : sharpness;
    session.change_attention(view);
  }
  const auto channels = static_cast<int>(session.computed()->sequence.dv);
  if (facts.by_channel && channels > 1) {
    auto channel = static_cast<int>(asked_channel(view, session.computed()->sequence));
    if (style::slider("", "value channel", &channel, {.minimum = 0, .maximum = channels - 1})) {
      view.channel = channel;
      session.change_attention(view);
    }
  }
}

void draw_attend_side(Application& application) {
  const auto computed = application.session.computed();
  if (style::begin_panel("##read most") && computed && computed->sequence.tokens > 0) {
    const Index token = application.session.token();
    draw_title(*computed, token);
    const Known<RowOfWeights> answer = ask_row(application);
    if (answer.value) {
      const RowOfWeights& row = *answer.value;
      const bool is_low = ImGui::GetWindowHeight() < px(low_panel);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(1)});
      style::caption(row.reason.empty()
                         ? fmt::format("read most at token {}, {}", token, quoted_word(*computed, token))
                         : fmt::format("read most by softmax at token {}", token));
      ImGui::Dummy({0, px(is_low ? 2 : 10)});
      const bool is_finite = row.reason.empty() ? std::isfinite(row.total) : row.softmax_weights.allFinite();
      if (!is_finite) style::paragraph("The weights of this row are no finite numbers any more.");
      if (row.words.empty() && is_finite) style::paragraph("No other word is read.");
      for (const ReadWord& word : row.words) {
        draw_word(*computed, row, word);
        ImGui::Dummy({0, px(is_low ? 2 : 12)});
      }
      draw_sum(*computed, row);
      ImGui::PopStyleVar();
    } else if (!answer.reason.empty()) {
      style::paragraph(answer.reason);
    }
    if (!attend_map().has_settings) {
      ImGui::Dummy({0, px(4)});
      draw_attend_scale(application, ImGui::GetContentRegionAvail().x);
    }
    attend_map().side_end = ImGui::GetItemRectMax().y;
    attend_map().side_bottom = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
    if (!attend_map().has_settings) draw_attend_settings(application);
  }
  style::end_panel();
}

}  // namespace palimpsest
