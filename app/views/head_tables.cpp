#include "app/views/head_tables.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/session/memory_questions.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index most_heads = 16;
constexpr Index most_run = 32768;    // of all heads together: each of them is run through by half
constexpr float largest_table = 44;  // design pixels
constexpr float smallest_table = 38;
constexpr float table_gap = 6;
constexpr float table_name_height = 18;

/// The cells of a table on the scale from -1 to 1, in whole pixels.
void draw_cells(const Matrix<double>& table, ImVec2 from, float size) {
  const auto edge = [&](Index i, Index count) {
    return std::round(size * static_cast<float>(i) / static_cast<float>(count));
  };
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.cols(); ++j) {
      const ImVec2 corner = {from.x + edge(j, table.cols()), from.y + edge(i, table.rows())};
      const ImVec2 end = {from.x + edge(j + 1, table.cols()), from.y + edge(i + 1, table.rows())};
      ImGui::GetWindowDrawList()->AddRectFilled(
          corner, end, style::colour(colour(style::colours().map, static_cast<float>(table(i, j)), 1)));
    }
  }
}

std::string words_of(Index index, const HeadAnswers& head) {
  if (!head.reason.empty()) return fmt::format("Head {}: {}", index, head.reason);
  std::string asked;
  for (const AskedWord& word : head.table.words)
    asked += fmt::format("{}“{}”", asked.empty() ? "" : ", ", visible_label(word.text));
  if (asked.empty()) return fmt::format("Head {}: there are no words to ask about yet.", index);
  return fmt::format(
      "Head {}: what its memory answers after half of the words. Rows: asked with the key of {}; columns: "
      "how "
      "much of their values is in the answer. Legible {:.2f} of 1: the diagonal against the rest.",
      index, asked, head.legibility);
}

/// One head, whose table may still be on its way; true when it was clicked.
bool picture(Index index, const HeadAnswers* head, float side, bool present, bool stale) {
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const bool clicked =
      ImGui::InvisibleButton(std::to_string(index).c_str(), {side, side + px(table_name_height)});
  const bool is_lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  const ImVec2 to = {from.x + side, from.y + side};
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, to, style::mix(c.panel, c.background, 0.6F));
  if (head && head->reason.empty())
    draw_cells(head->table.after, from, side);
  else if (head)
    hatch(list, from, to, style::mix(c.panel, c.edge, 0.8F));
  if (stale) list->AddRectFilled(from, to, style::with_alpha(c.panel, 0.4F));
  list->AddRect({from.x - 1, from.y - 1}, {to.x + 1, to.y + 1},
                present  ? c.text
                : is_lit ? c.dim
                         : c.edge,
                0, px(present ? style::lit_line : style::line));
  float index_width = 0;
  {
    const style::TextStyle text(style::Text::caption);
    draw_text({from.x, to.y + px(2)}, present || is_lit ? c.text : c.dim, std::to_string(index));
    index_width = std::max(text_extent(std::to_string(index)).x, text_extent("0").x);
  }
  if (head && head->reason.empty()) {
    const style::TextStyle text(style::Text::number_small);
    std::string legible = fmt::format("{:.2f}", head->legibility);
    // ".56" where "0.56" would run into the number of the head.
    const bool is_narrow = text_extent("-0.88").x > side - index_width - px(3);
    if (const std::size_t zero = legible.find("0."); is_narrow && zero < 2) legible.erase(zero, 1);
    draw_text({to.x - text_extent(legible).x, to.y + px(3)}, c.dim, legible);
  }
  if (head) tooltip(words_of(index, *head));
  return clicked;
}

}  // namespace

bool has_head_tables(const Session& session) {
  const DataSet& data = session.data();
  return session.computed() && data.batches == 1 && data.heads > 1 && data.heads <= most_heads &&
         data.heads * data.tokens <= most_run;
}

std::optional<Index> head_tables(Application& application) {
  Session& session = application.session;
  HeadTables key;
  key.of = session.computed();
  const Known<HeadTables::Value> answer = session.questions().ask(key, Urgency::later);
  const Index count = session.data().heads;
  const float width = ImGui::GetContentRegionAvail().x;
  const float in_one_row = (width + px(table_gap)) / static_cast<float>(count) - px(table_gap);
  const float side = std::floor(std::clamp(in_one_row, px(smallest_table), px(largest_table)));
  const auto in_row =
      static_cast<Index>(std::max(std::floor((width + px(table_gap)) / (side + px(table_gap))), 1.0F));
  std::optional<Index> clicked;
  ImGui::PushID("head");
  for (Index index = 0; index < count; ++index) {
    if (index % in_row != 0) ImGui::SameLine(0, px(table_gap));
    const auto place = static_cast<std::size_t>(index);
    const bool is_there = answer.value && place < answer.value->heads.size();
    if (picture(index, is_there ? &answer.value->heads[place] : nullptr, side, index == session.choice().head,
                answer.stale))
      clicked = index;
  }
  ImGui::PopID();
  ImGui::Dummy({0, px(2)});
  return clicked;
}

}  // namespace palimpsest
