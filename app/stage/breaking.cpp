#include "app/stage/breaking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace palimpsest {

namespace {

constexpr float gain_of_breaking = 1.2F;  // so many times as large the pictures must become at least
constexpr std::array growths = {usual_growth, 0.3F, 0.15F};  // of sides: the less, the more room have rows
constexpr float comfortable_row = 18;     // no narrower pictures are sought for higher rows
constexpr float cost_of_bracket = 0.15F;  // of a break where a bracket is open

/// A piece of the operands, and how many brackets are open before it.
struct Piece {
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

void collect(const Box& box, std::vector<Piece>& pieces) {
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
  return box.kind == Box::Kind::glyph &&
         (box.latex == "+" || box.latex == "-" || box.latex == "\\cdot" || box.latex == "\\odot");
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

bool has_matrix(std::vector<Piece>::const_iterator from, std::vector<Piece>::const_iterator to) {
  return std::any_of(from, to,
                     [](const Piece& piece) { return piece.box->columns > 1 && piece.box->rows > 1; });
}

/// Takes the sign from the end of the line: "^2 +" where a function writes it so. "·" where there is none,
/// for two factors.
Box sign_after(Box& line) {
  Box& last = line.parts.back();
  const std::size_t end =
      last.kind == Box::Kind::glyph ? last.latex.find_last_not_of(' ') : std::string::npos;
  if (end == std::string::npos || end == 0 || (last.latex[end] != '+' && last.latex[end] != '-'))
    return {.kind = Box::Kind::glyph, .latex = "\\cdot"};
  Box sign{.kind = Box::Kind::glyph, .latex = last.latex.substr(end, 1)};
  last.latex.resize(end);
  return sign;
}

Box line_of(std::vector<Piece>::const_iterator from, std::vector<Piece>::const_iterator to) {
  Box line{.kind = Box::Kind::row};
  for (; from != to; ++from) line.parts.push_back(*from->box);
  return line;
}

}  // namespace

Box broken(const Box& equation) {
  if (equation.parts.size() != 3) return {};
  std::vector<Piece> pieces;
  collect(equation.parts[2], pieces);
  float all = 0;
  for (const Piece& piece : pieces) all += share(*piece.box);
  float before = 0;
  float cheapest = std::numeric_limits<float>::infinity();
  std::size_t best = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    before += share(*pieces[i - 1].box);
    const auto at = pieces.cbegin() + static_cast<std::ptrdiff_t>(i);
    const bool sign = is_sign(*at->box);
    if (!sign && !(ends_factor(*pieces[i - 1].box) && begins_factor(*at->box))) continue;
    if (!has_matrix(pieces.cbegin(), at) || !has_matrix(at, pieces.cend())) continue;
    const float cost = std::max(before, all - before) * (1 + cost_of_bracket * static_cast<float>(at->open));
    if (cost >= cheapest) continue;
    cheapest = cost;
    best = i;
  }
  if (best == 0) return {};
  const auto at = pieces.cbegin() + static_cast<std::ptrdiff_t>(best);
  const bool sign = is_sign(*at->box);
  Box first = line_of(pieces.cbegin(), at);
  Box between = sign ? *at->box : sign_after(first);
  Box lines{.kind = Box::Kind::stack};
  lines.parts = {std::move(first), std::move(between), line_of(sign ? at + 1 : at, pieces.cend())};
  return {.kind = Box::Kind::row, .parts = {equation.parts[0], equation.parts[1], std::move(lines)}};
}

BreakingEquation::BreakingEquation(const Box& whole, const Box& broken, const Ruler& ruler) {
  for (const float growth : growths) {
    layouts_.emplace_back(whole, ruler, growth);
    if (!broken.parts.empty()) layouts_.emplace_back(broken, ruler, growth);
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
