#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "app/views/attend.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index loupe_cells = 9;
constexpr Index few_loupe_cells = 7;  // of a small square
constexpr float smaller = 0.84F;      // letters, for a long number

/// A part as the view wants it.
AttentionPart part_of(const AttendSquare& square, const BandPlace& place, Index rows_per_cell = 1) {
  const AttentionView& view = square.application.session.state().attention;
  AttentionPart part;
  part.of = square.application.session.computed();
  part.reading = reading_of(square.application, square.by);
  part.place = place;
  part.place.channel = square.by == WeighedBy::rule ? asked_channel(view, square.computed.sequence) : 0;
  part.place.no_diagonal = !view.diagonal;
  part.place.no_mask = !view.mask;
  part.rows_per_cell = rows_per_cell;
  return part;
}

/// One part over its rows of the square: the coarse one, or one of those that come over it.
void draw_part(const AttendSquare& square, const AttentionPart& asked, const DrawnPart& part, bool is_coarse,
               bool shares) {
  const BandPlace& place = asked.place;
  const double unit = static_cast<double>(square.side) / static_cast<double>(square.block.count);
  const auto y = [&](Index row) {
    return std::round(square.from.y +
                      static_cast<float>(static_cast<double>(row - square.block.first_row) * unit));
  };
  const Matrix<double>& numbers = shares ? part.shares : part.weights;
  const ImVec2 from = {square.from.x, y(place.first_row)};
  const ImVec2 to = {from.x + std::round(static_cast<float>(
                                  static_cast<double>(place.cells() * place.tokens_per_cell) * unit)),
                     y(place.token(numbers.rows() * asked.rows_per_cell))};
  // The last cell and the last row may stand for fewer tokens.
  ImGui::PushClipRect(square.from, {square.to().x, std::min(y(place.token(place.rows)), square.to().y)},
                      true);
  heat_map(fmt::format("attend {} {} {}", static_cast<int>(square.by), is_coarse, place.first_row), numbers,
           part.version * 2 + (shares ? 1 : 0), from, {to.x - from.x, to.y - from.y},
           {.range = static_cast<float>(square.range)});
  ImGui::PopClipRect();
}

}  // namespace

Rectangle AttendSquare::cell(Index row, Index column) const {
  const double unit = static_cast<double>(side) / static_cast<double>(block.count);
  const auto at = [&](Index token, Index first) {
    return std::round(static_cast<float>(static_cast<double>(token - first) * unit));
  };
  return {{from.x + at(column, block.first_column), from.y + at(row, block.first_row)},
          {from.x + at(column + 1, block.first_column), from.y + at(row + 1, block.first_row)}};
}

Reading reading_of(Application& application, WeighedBy reader) {
  const AttentionView& view = application.session.state().attention;
  if (reader == WeighedBy::softmax) return {.by = reader, .sharpness = view.sharpness};
  return {.gates_are_1 = !view.gates && attention_facts(application).has_gates};
}

double draw_weights(const AttendSquare& square) {
  Questions& questions = square.application.session.questions();
  const bool shares = square.application.session.state().attention.shares;
  AttendMap::Square drawn{.by = square.by, .place = {square.from, square.to()}};
  double range = 0;
  const auto draw = [&](const AttentionPart& asked, bool is_coarse, Urgency urgency) {
    const Known<DrawnPart> part = questions.ask(asked, urgency);
    if (!part.value) return false;
    draw_part(square, asked, *part.value, is_coarse, shares);
    range = std::max(range, shares ? part.value->share_range : part.value->weight_range);
    return true;
  };
  // The newest wish is answered first: the rows around the present token are asked for last.
  const AttentionParts parts =
      attention_parts(square.block, square.computed.sequence.tokens, static_cast<Index>(square.side),
                      square.application.session.token());
  if (parts.coarse) drawn.is_covered = draw(part_of(square, *parts.coarse), true, Urgency::now);
  for (const BandPlace& place : parts.fine) {
    const AttentionPart part = part_of(square, place, parts.rows_per_cell);
    drawn.parts += draw(part, false, parts.coarse ? Urgency::later : Urgency::now) ? 1 : 0;
    ++drawn.wanted;
    drawn.weights_of_a_pixel = parts.rows_per_cell * place.tokens_per_cell;
  }
  drawn.is_covered = drawn.is_covered || drawn.parts == drawn.wanted;
  attend_map().squares.push_back(drawn);
  return range;
}

ImU32 bar_colour(double number, double most) {
  constexpr double least_ink = 0.4;
  constexpr double hardly_any = 0.05;  // what is less fades into the paper
  const double size = most > 0 ? std::min(std::abs(number) / most, 1.0) : 0;
  const double part = size < hardly_any ? size / hardly_any * least_ink : std::max(size, least_ink);
  return style::colour(colour(style::colours().map, static_cast<float>(std::copysign(part, number)), 1));
}

std::string weight_words(double number, bool is_share) {
  if (!std::isfinite(number)) return "none";
  if (is_share) {
    const double percent = 100 * number;
    const double size = std::abs(percent);
    if (size >= 0.95 || size == 0) return fmt::format("{:.0f} %", percent == 0 ? 0 : percent);
    if (size >= 0.0095) return fmt::format("{:.1g} %", percent);
    return number > 0 ? "<0.01 %" : ">-0.01 %";
  }
  return fmt::format("{:.2g}", number);
}

/// Whether there was room for it: a long one stands in smaller letters, the longest as a power of ten.
bool draw_loupe_number(ImVec2 at, float cell, double value, bool is_share, ImU32 ink) {
  const float usual = style::font_size(style::Text::number_small);
  const std::string whole = is_share ? fixed_number(100 * value, 0) : fmt::format("{:.1g}", value);
  const std::pair<std::string, float> ways[] = {
      {whole, usual},
      {whole, usual * smaller},
      {fmt::format("{:.0e}", is_share ? 100 * value : value), usual * smaller}};
  for (const auto& [number, size] : ways) {
    ImGui::PushFont(style::font(style::Text::number_small), size);
    const ImVec2 extent = text_extent(number);
    const bool fits = extent.x <= cell && extent.y <= cell;
    if (fits) draw_text({at.x + (cell - extent.x) / 2, at.y + (cell - extent.y) / 2}, ink, number);
    ImGui::PopFont();
    if (fits) return true;
  }
  return false;
}

void draw_loupe(const AttendSquare& square, ImVec2 from, float side, Index row, Index column) {
  const style::Palette& c = style::colours();
  const Session& session = square.application.session;
  const Index tokens = square.computed.sequence.tokens;
  const Index count = std::min(square.is_small ? few_loupe_cells : loupe_cells, tokens);
  const Index first_row = std::clamp<Index>(row - count / 2, 0, tokens - count);
  const Index first_column = std::clamp<Index>(column - count / 2, 0, tokens - count);
  const AttentionPart key = part_of(
      square, {.first_row = first_row, .rows = count, .first_column = first_column, .columns = count});
  const Known<DrawnPart> part = square.application.session.questions().ask(key);
  if (!part.value) return;
  attend_map().has_loupe = true;
  const bool shares = session.state().attention.shares;
  const Matrix<double>& numbers = shares ? part.value->shares : part.value->weights;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float cell = std::floor(side / static_cast<float>(count));
  const float whole = cell * static_cast<float>(count);
  list->AddRectFilled(from, {from.x + whole, from.y + whole}, c.panel);
  const style::TextStyle text(style::Text::number_small);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      const ImVec2 at = {from.x + static_cast<float>(j) * cell, from.y + static_cast<float>(i) * cell};
      const Rgb8 paper = colour(c.map, static_cast<float>(numbers(i, j)), static_cast<float>(square.range));
      list->AddRectFilled(at, {at.x + cell - 1, at.y + cell - 1}, style::colour(paper));
      const bool is_masked = numbers(i, j) == 0 && first_column + j > first_row + i;
      const bool is_aside = !session.state().attention.diagonal && first_column + j == first_row + i;
      if (is_masked || is_aside) continue;
      if (!draw_loupe_number(at, cell, numbers(i, j), shares, style::legible_on(paper)))
        ++attend_map().numberless;
    }
  }
  list->AddRect({from.x - 1, from.y - 1}, {from.x + whole, from.y + whole}, c.edge);
  if (const Index present = session.token() - first_row; present >= 0 && present < count) {
    const float top = from.y + static_cast<float>(present) * cell;
    list->AddRect({from.x - px(2), top - px(2)}, {from.x + whole + px(1), top + cell + px(1)}, c.text, px(2),
                  px(style::lit_line));
  }
  const style::TextStyle caption(style::Text::caption);
  const auto word = [&](Index token) {
    return visible_label(square.computed.data->labels[static_cast<std::size_t>(token)]);
  };
  const float room = px(60);
  for (Index i = 0; i < count; ++i) {
    const std::string asked = shortened(word(first_row + i), room);
    const ImVec2 extent = text_extent(asked);
    const ImVec2 at = {from.x - extent.x - px(6),
                       from.y + static_cast<float>(i) * cell + (cell - extent.y) / 2};
    list->AddRectFilled({at.x - px(3), at.y}, {from.x - px(3), at.y + extent.y}, c.panel);  // over the chunks
    draw_text(at, first_row + i == row ? c.text : c.dim, asked);
    const std::string read = shortened(word(first_column + i), px(40));
    draw_rising_text({from.x + static_cast<float>(i) * cell + (cell - extent.y) / 2, from.y - px(6)},
                     first_column + i == column ? c.text : c.dim, read);
  }
  // What of the square the loupe shows.
  const Rectangle low = square.cell(first_row, first_column);
  const Rectangle high = square.cell(first_row + count - 1, first_column + count - 1);
  list->PushClipRect(square.from, square.to(), true);
  list->AddRect(low.minimum, high.maximum, c.faint);
  list->PopClipRect();
}

}  // namespace palimpsest
