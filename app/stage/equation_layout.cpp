#include "app/stage/equation_layout.h"

namespace palimpsest {

namespace {

constexpr float bracket_width = 7;
constexpr float lowest_bracket = 28;
constexpr float beside_bracket = 0.6F;     // of the gap between parts
constexpr float legible_squeeze = 0.6F;    // with more, glyphs and numbers cannot be read
constexpr float smallest_squeeze = 0.25F;  // only where the window itself is too small
constexpr float gain_of_breaking = 1.2F;   // so many times as large the pictures must become at least
constexpr std::array growths = {SideLook().growth, 0.3F,
                                0.15F};   // of sides: the less, the more room have rows
constexpr float comfortable_row = 18;     // no narrower pictures are sought for higher rows
constexpr float cost_of_bracket = 0.15F;  // of a break where a bracket is open

float grown(Index count, float growth) { return std::pow(static_cast<float>(count), growth); }

/// The length of a side with `count` cells.
float side(const PictureSizes& sizes, Index count) {
  const SideLook& look = sizes.look;
  if (count == 1) {
    const float thick = sizes.px(sizes.are_few ? look.thick_of_few : look.thick);
    return std::max(sizes.px(look.thin), std::min(sizes.unit, thick));
  }
  const auto cells = static_cast<float>(count);
  const float most =
      std::max(cells * look.usual_cell, std::min(cells * look.largest_cell, look.largest_side));
  return std::max(sizes.px(look.smallest), std::min(sizes.unit * grown(count, look.growth), sizes.px(most)));
}

BoxExtent extent_of(const Box& box) {
  BoxExtent extent;
  for (const Box& part : box.parts) extent.parts.push_back(extent_of(part));
  return extent;
}

/// The letters of a glyph or a symbol, measured once for every squeeze.
const FormulaSize& letters(const Box& box, BoxExtent& extent, float size, float squeeze, const Ruler& ruler) {
  if (extent.letters_squeeze != squeeze) {
    extent.letters = ruler.formula(box.latex, size);
    extent.letters_squeeze = squeeze;
  }
  return extent.letters;
}

/// What the words beside the rows of a picture take: of all rows, or of the current one.
float words_beside(const Box& box, BoxExtent& extent, const PictureSizes& sizes, const Ruler& ruler) {
  const auto width_of = [&](const std::string& word) { return ruler.words(word, style::Text::caption).x; };
  extent.has_row_words = has_row_words(box, extent.height, ruler);
  float& width = extent.has_row_words ? extent.widest_word : extent.present_word;
  if (width < 0) {
    width = extent.has_row_words ? 0 : width_of(box.present_word);
    for (std::size_t i = 0; extent.has_row_words && i < box.row_words.size(); ++i)
      width = std::max(width, width_of(box.row_words[i]));
    width = std::min(width, ruler.px(widest_row_word));
  }
  return width > 0 ? width + sizes.fixed(word_gap) : 0;
}

/// The largest number of cells of a side, over all pictures.
Index longest_side(const Box& box) {
  Index longest = std::max(box.rows, box.columns);
  for (const Box& part : box.parts) longest = std::max(longest, longest_side(part));
  return longest;
}

Index most_rows_with_words(const Box& box) {
  auto rows = static_cast<Index>(box.row_words.size());
  for (const Box& part : box.parts) rows = std::max(rows, most_rows_with_words(part));
  return rows;
}

/// The column left of a stack in which the signs stand.
float sign_width(const BoxExtent& stack, const PictureSizes& sizes) {
  float width = 0;
  for (std::size_t i = 1; i < stack.parts.size(); i += 2)
    width = std::max(width, stack.parts[i].width + sizes.gap());
  return width;
}

/// Between two parts of a row; a bracket holds what it encloses close.
float gap_after(const Box& row, std::size_t i, const PictureSizes& sizes) {
  if (i + 1 >= row.parts.size()) return 0;
  const bool has_bracket =
      row.parts[i].kind == Box::Kind::bracket || row.parts[i + 1].kind == Box::Kind::bracket;
  return sizes.gap() * (has_bracket ? beside_bracket : 1);
}

void measure_row(const Box& box, BoxExtent& row, const PictureSizes& sizes) {
  row.width = 0;
  row.above = row.below = 0;
  for (std::size_t i = 0; i < row.parts.size(); ++i) {
    const BoxExtent& part = row.parts[i];
    row.above = std::max(row.above, part.above);
    row.below = std::max(row.below, part.below);
    row.width += part.width + gap_after(box, i, sizes);
  }
  // Brackets are as high as the pictures between them, without captions.
  for (std::size_t i = 0; i < row.parts.size(); ++i) {
    if (box.parts[i].kind == Box::Kind::bracket)
      row.parts[i].side = std::max(sizes.fixed(lowest_bracket), row.above * 2);
  }
}

void measure_stack(BoxExtent& stack, const PictureSizes& sizes) {
  float height = -sizes.row_gap();
  stack.width = 0;
  for (std::size_t i = 0; i < stack.parts.size(); i += 2) {
    stack.width = std::max(stack.width, stack.parts[i].width);
    height += stack.parts[i].above + stack.parts[i].below + sizes.row_gap();
  }
  stack.width += sign_width(stack, sizes);
  stack.above = stack.below = height / 2;
}

/// A picture or a number with its symbol, or with what is around it.
void measure_operand(const Box& box, BoxExtent& extent, const PictureSizes& sizes, const Ruler& ruler) {
  const float symbol = box.is_bare ? 0 : letters(box, extent, sizes.label(), sizes.squeeze, ruler).width;
  extent.width = extent.words + box.around.left + std::max(extent.side, symbol) + box.around.right;
  extent.above = extent.height / 2 + box.around.top;
  extent.below = extent.height / 2 + box.around.bottom + (box.is_bare ? 0 : sizes.caption());
}

void measure_box(const Box& box, BoxExtent& extent, const PictureSizes& sizes, const Ruler& ruler) {
  for (std::size_t i = 0; i < box.parts.size(); ++i) measure_box(box.parts[i], extent.parts[i], sizes, ruler);
  switch (box.kind) {
    case Box::Kind::picture:
      extent.side = side(sizes, box.columns);
      extent.height = side(sizes, box.rows);
      extent.words = words_beside(box, extent, sizes, ruler);
      return measure_operand(box, extent, sizes, ruler);
    case Box::Kind::number: {
      const ImVec2 size = ruler.number(box.digits, sizes.number());
      extent.side = size.x;
      extent.height = size.y;
      return measure_operand(box, extent, sizes, ruler);
    }
    case Box::Kind::glyph: {
      const FormulaSize& size = letters(box, extent, sizes.glyph(), sizes.squeeze, ruler);
      extent.width = size.width;
      extent.above = size.height / 2;
      extent.below = size.height / 2;
      break;
    }
    case Box::Kind::bracket:
      extent.width = sizes.px(bracket_width);
      break;
    case Box::Kind::group:
      extent.width = extent.parts[0].width;
      extent.above = extent.parts[0].above;
      extent.below = extent.parts[0].below;
      break;
    case Box::Kind::row:
      return measure_row(box, extent, sizes);
    case Box::Kind::stack:
      return measure_stack(extent, sizes);
  }
}

/// How far below the axis the middle of a part of a row stands: a power or an index at the end of a bracket.
float below_axis(const Box& row, const BoxExtent& extent, std::size_t i) {
  const Box& part = row.parts[i];
  if (i == 0 || part.kind != Box::Kind::glyph || row.parts[i - 1].kind != Box::Kind::bracket) return 0;
  const float height = extent.parts[i].above + extent.parts[i].below;
  const float way = std::max((extent.parts[i - 1].side - height) / 2, 0.0F);
  if (part.latex.starts_with('^')) return -way;
  return part.latex.starts_with('_') ? way : 0;
}

/// Boxes of a row stand on its axis, those of a stack below each other: every sign beside the term that it
/// goes with, level with its picture.
void visit_box(const Box& box, const BoxExtent& extent, const PictureSizes& sizes, float x, float axis,
               const VisitBox& visit) {
  const auto visit_part = [&](std::size_t i, float left, float level) {
    visit_box(box.parts[i], extent.parts[i], sizes, left, level, visit);
  };
  switch (box.kind) {
    case Box::Kind::row:
      for (std::size_t i = 0; i < box.parts.size(); ++i) {
        visit_part(i, x, axis + below_axis(box, extent, i));
        x += extent.parts[i].width + gap_after(box, i, sizes);
      }
      return;
    case Box::Kind::stack: {
      const float first = x + sign_width(extent, sizes);
      float y = axis - extent.above;
      for (std::size_t i = 0; i < box.parts.size(); i += 2) {
        const BoxExtent& term = extent.parts[i];
        if (i > 0) visit_part(i - 1, x, y + term.above);
        visit_part(i, first, y + term.above);
        y += term.above + term.below + sizes.row_gap();
      }
      return;
    }
    case Box::Kind::group:
      visit_part(0, x, axis);
      break;
    default:
      break;
  }
  visit(box, extent, x, axis);
}

/// A piece of the operands, and how many brackets are open before it.
struct LinePiece {
  const Box* box;
  int open = 0;
};

/// Brackets that the piece opens, less those that it closes.
int brackets(const Box& box) {
  if (box.kind == Box::Kind::bracket) return box.right ? -1 : 1;
  if (box.kind != Box::Kind::glyph) return 0;
  const auto count = [&](char character) {
    return static_cast<int>(std::ranges::count(box.latex, character));
  };
  return count('(') + count('[') - count(')') - count(']');
}

void collect(const Box& box, std::vector<LinePiece>& pieces) {
  if (box.kind == Box::Kind::row || box.kind == Box::Kind::group) {
    for (const Box& part : box.parts) collect(part, pieces);
    return;
  }
  const int open = pieces.empty() ? 0 : pieces.back().open + brackets(*pieces.back().box);
  pieces.push_back({&box, open});
}

/// What a piece takes of a line, in lengths that grow with the pictures.
float share(const Box& box) {
  switch (box.kind) {
    case Box::Kind::picture:
      return box.columns == 1 ? 0.6F : std::pow(static_cast<float>(box.columns), 0.45F);
    case Box::Kind::stack: {
      float widest = 0;
      for (const Box& part : box.parts) widest = std::max(widest, share(part));
      return widest;
    }
    case Box::Kind::bracket:
      return 0.3F;
    default:
      return 1;
  }
}

bool is_sign(const Box& box) {
  return box.kind == Box::Kind::glyph && is_among(box.latex, {"+", "-", "\\cdot", "\\odot"});
}

/// Whether a factor ends with this piece: a bracket, an index, a power.
bool ends_factor(const Box& box) {
  if (box.kind == Box::Kind::bracket) return box.right;
  return box.kind == Box::Kind::glyph && !box.latex.empty() &&
         std::string_view("_)]^").find(box.latex.front()) != std::string_view::npos && brackets(box) <= 0;
}

bool begins_factor(const Box& box) {
  if (box.kind == Box::Kind::bracket) return !box.right;
  return box.kind == Box::Kind::picture || box.kind == Box::Kind::number;
}

bool has_matrix(std::span<const LinePiece> pieces) {
  return std::ranges::any_of(
      pieces, [](const LinePiece& piece) { return piece.box->columns > 1 && piece.box->rows > 1; });
}

/// Takes the sign from the end of the line: "^2 +" where a function writes it so. "·" where there is none,
/// for two factors.
Box sign_after(Box& line) {
  Box& last = line.parts.back();
  const std::size_t end =
      last.kind == Box::Kind::glyph ? last.latex.find_last_not_of(' ') : std::string::npos;
  if (end == std::string::npos || end == 0 || !is_among(last.latex[end], {'+', '-'}))
    return {.kind = Box::Kind::glyph, .latex = "\\cdot"};
  Box sign{.kind = Box::Kind::glyph, .latex = last.latex.substr(end, 1)};
  last.latex.resize(end);
  return sign;
}

Box line_of(std::span<const LinePiece> pieces) {
  Box line{.kind = Box::Kind::row};
  for (const LinePiece& piece : pieces) line.parts.push_back(*piece.box);
  return line;
}

}  // namespace

bool has_row_words(const Box& picture, float height, const Ruler& ruler) {
  return !picture.row_words.empty() && height >= static_cast<float>(picture.rows) * ruler.px(row_of_words);
}

EquationLayout::EquationLayout(const Box& box, const Ruler& ruler, const SideLook& look)
    : box_(&box), ruler_(&ruler), extent_(extent_of(box)), rows_with_words_(most_rows_with_words(box)) {
  sizes_ = {.scale = ruler.scale,
            .largest_number = ruler.largest_number,
            .are_few = longest_side(box) <= few,
            .look = look};
}

ImVec2 EquationLayout::measure(float unit, float squeeze) {
  sizes_.unit = unit;
  sizes_.squeeze = squeeze;
  measure_box(*box_, extent_, sizes_, *ruler_);
  return {extent_.width, extent_.above + extent_.below};
}

ImVec2 EquationLayout::smallest(ImVec2 available, float least_squeeze) {
  ImVec2 size = measure(0, 1);
  while ((size.x > available.x || size.y > available.y) && sizes_.squeeze > least_squeeze)
    size = measure(0, std::max(sizes_.squeeze * 0.9F, least_squeeze));
  return size;
}

ImVec2 EquationLayout::least(float width) { return smallest({width, unbounded}, legible_squeeze); }

ImVec2 EquationLayout::fit(ImVec2 available, float largest_unit) {
  smallest(available, smallest_squeeze);
  const float squeeze = sizes_.squeeze;
  float small = 0;
  float large = std::min(std::max(available.x, available.y), largest_unit);
  for (int halving = 0; halving < 14; ++halving) {
    const float middle = (small + large) / 2;
    const ImVec2 size = measure(middle, squeeze);
    (size.x <= available.x && size.y <= available.y ? small : large) = middle;
  }
  return measure(small, squeeze);
}

float EquationLayout::unit_of_words() const {
  // A little more: lengths are rounded to whole pixels.
  return (static_cast<float>(rows_with_words_) * sizes_.fixed(row_of_words) + 1) /
         grown(rows_with_words_, sizes_.look.growth);
}

float EquationLayout::row_height() const {
  const auto rows = static_cast<float>(std::max<Index>(rows_with_words_, 1));
  return sizes_.unit * grown(rows_with_words_, sizes_.look.growth) / rows;
}

void EquationLayout::visit(ImVec2 position, const VisitBox& visit) const {
  visit_box(*box_, extent_, sizes_, position.x, position.y + extent_.above, visit);
}

Box broken(const Box& equation) {
  if (equation.parts.size() != 3) return {};
  std::vector<LinePiece> collected;
  collect(equation.parts[2], collected);
  const std::span<const LinePiece> pieces = collected;
  float all = 0;
  for (const LinePiece& piece : pieces) all += share(*piece.box);
  float before = 0;
  float cheapest = unbounded;
  std::size_t best = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    before += share(*pieces[i - 1].box);
    const auto& [box, open] = pieces[i];
    if (!is_sign(*box) && !(ends_factor(*pieces[i - 1].box) && begins_factor(*box))) continue;
    if (!has_matrix(pieces.first(i)) || !has_matrix(pieces.subspan(i))) continue;
    const float cost = std::max(before, all - before) * (1 + cost_of_bracket * static_cast<float>(open));
    if (cost >= cheapest) continue;
    cheapest = cost;
    best = i;
  }
  if (best == 0) return {};
  const Box& at = *pieces[best].box;
  Box first = line_of(pieces.first(best));
  Box between = is_sign(at) ? at : sign_after(first);
  Box lines{.kind = Box::Kind::stack};
  lines.parts = {std::move(first), std::move(between),
                 line_of(pieces.subspan(is_sign(at) ? best + 1 : best))};
  return {.kind = Box::Kind::row, .parts = {equation.parts[0], equation.parts[1], std::move(lines)}};
}

BreakingEquation::BreakingEquation(const Box& whole, const Box& broken, const Ruler& ruler) {
  for (const float growth : growths) {
    const SideLook look{.growth = growth};
    layouts_.emplace_back(whole, ruler, look);
    if (!broken.parts.empty()) layouts_.emplace_back(broken, ruler, look);
    if (layouts_.front().rows_with_words() == 0) return;
  }
}

ImVec2 BreakingEquation::least(float width) {
  ImVec2 size;
  for (EquationLayout& layout : layouts_) {
    size = layout.least(width);
    if (size.x <= width) break;
  }
  return size;
}

ImVec2 BreakingEquation::fit(ImVec2 available, float largest_unit) {
  ImVec2 best;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    EquationLayout& layout = layouts_[i];
    const bool has_words = layout.rows_with_words() > 0;
    const ImVec2 size = layout.fit(available, largest_unit);
    if (i > 0) {
      const EquationLayout& other = layouts_[chosen_];
      const bool fits = size.x <= available.x && size.y <= available.y;
      const float squeeze = layout.sizes().squeeze;
      const float other_squeeze = other.sizes().squeeze;
      const bool is_larger =
          squeeze > other_squeeze ||
          (squeeze == other_squeeze && layout.row_height() > gain_of_breaking * other.row_height());
      if (!fits || !is_larger) continue;
    }
    best = size;
    chosen_ = i;
    const float comfortable = layout.sizes().fixed(comfortable_row);
    if (has_words && layout.sizes().squeeze == 1 && layout.row_height() >= comfortable) break;
  }
  return best;
}

float BreakingEquation::height_with_words(float width) {
  float height = 0;
  for (EquationLayout& layout : layouts_) {
    if (layout.rows_with_words() == 0) return layout.least(width).y;
    const float unit = layout.unit_of_words();
    const ImVec2 size = layout.fit({width, std::numeric_limits<float>::max()}, unit);
    if (size.x <= width) height = std::max(height, size.y);
    if (layout.unit() > 0.99F * unit) return size.y;
  }
  return height;
}

}  // namespace palimpsest
