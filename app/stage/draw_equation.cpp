#include <algorithm>
#include <array>
#include <cmath>

#include "app/scene/parts.h"
#include "app/stage/draw.h"
#include "app/widgets/formula.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float label_ascent = 0.81F;  // from the top of a caption to its baseline, in heights of its letters
constexpr float words_ascent = 0.78F;  // of the words beside it

const std::string words_of_lying = "one row a word";

class EquationPainter {
 public:
  EquationPainter(const PictureSizes& sizes, StageScene& scene) : sizes_(sizes), scene_(scene) {}

  void draw(const Box& box, const BoxExtent& extent, float x, float axis) {
    switch (box.kind) {
      case Box::Kind::picture:
        draw_picture(box, extent, x, axis);
        return;
      case Box::Kind::number:
        draw_number(box, extent, x, axis);
        return;
      case Box::Kind::glyph:
        draw_glyph(box, extent, x, axis);
        return;
      case Box::Kind::bracket:
        draw_bracket(box, extent, x, axis);
        return;
      case Box::Kind::group:
        if (box.tensor == scene_.view.lit)
          frame({x, axis - extent.above}, {x + extent.width, axis + extent.below});
        return;
      case Box::Kind::row:
      case Box::Kind::stack:
        return;  // their parts are drawn
    }
  }

 private:
  void draw_bracket(const Box& bracket, const BoxExtent& extent, float x, float axis) const {
    const bool right = bracket.right;
    const float height = extent.side;
    const float top = axis - height / 2;
    const float bottom = axis + height / 2;
    const float outer = right ? x + extent.width : x;
    const float inner = right ? x : x + extent.width;
    if (bracket.square) {
      const std::array<ImVec2, 4> corners = {{{inner, top}, {outer, top}, {outer, bottom}, {inner, bottom}}};
      list_->AddPolyline(corners.data(), 4, style::colours().dim, px(1.5F), 0);
      return;
    }
    const float bend = std::min(height * 0.3F, px(18));
    list_->AddBezierCubic({inner, top}, {outer, top + bend}, {outer, bottom - bend}, {inner, bottom},
                          style::colours().dim, px(1.5F));
  }

  void draw_glyph(const Box& glyph, const BoxExtent& extent, float x, float axis) const {
    const FormulaSize& size = extent.letters;
    draw_formula(list_, {x, axis - size.height / 2 + size.baseline}, glyph.latex, sizes_.glyph(),
                 style::colours().dim);
    note({x, axis - size.height / 2}, size.width, size.height, glyph.latex);
  }

  void draw_number(const Box& number, const BoxExtent& extent, float x, float axis) {
    const bool waits = scene_.view.finished_rows(number.tensor) == 0;
    const ImVec2 position = {x + (extent.width - extent.side) / 2, axis - extent.above};
    const ImVec2 end = {position.x + extent.side, axis + extent.above};
    const ImVec2 size = {extent.side, 2 * extent.above};
    note(position, size.x, size.y, number.digits);
    draw_caption(number, extent, position, size, waits);
    palimpsest::draw_number(number, {position, end}, sizes_.number(), true, scene_);
    if (waits) return;
    if (number.tensor == scene_.view.lit) frame(position, end);
  }

  void draw_picture(const Box& picture, const BoxExtent& extent, float x, float axis) {
    const ImVec2 position = {std::round(x + extent.words + (extent.width - extent.words - extent.side) / 2),
                             std::round(axis - extent.above)};
    const ImVec2 size = {std::round(extent.side), std::round(extent.above * 2)};
    if (extent.words > 0) draw_row_words(picture, position, size.y, extent.words, extent.has_row_words);
    const ImVec2 end = {position.x + size.x, position.y + size.y};
    note(position, size.x, size.y);
    draw_cells(picture, position, size, scene_);
    draw_caption(picture, extent, position, size, scene_.view.finished_rows(picture.tensor) == 0);
    if (picture.tensor == scene_.view.lit) frame(position, end);
  }

  /// Tells where a piece lies.
  static void note(ImVec2 position, float width, float height, const std::string& words = {}) {
    note_part("piece", box_at(position, {width, height}), words);
  }

  /// The symbol, and its words where they fit under the picture.
  void draw_caption(const Box& box, const BoxExtent& extent, ImVec2 position, ImVec2 size, bool waits) const {
    const Symbol& symbol = symbol_in(scene_.symbols, box.tensor);
    const ImU32 colour = waits ? style::colours().faint : style::colours().role(symbol.role);
    const style::TextStyle text(style::Text::caption);
    const std::string& said = box.lies ? words_of_lying : symbol.words;
    const ImVec2 words = ImGui::CalcTextSize(said.c_str());
    const float letters = extent.letters.width;
    const float room = size.x + sizes_.gap() - px(4);  // not beyond a frame around the picture
    const bool has_words = !said.empty() && letters + px(6) + words.x <= room;
    const float width = letters + (has_words ? px(6) + words.x : 0);
    const float x = position.x + (size.x - width) / 2;
    const float top = position.y + size.y + sizes_.caption_gap();
    const float baseline = top + sizes_.label() * label_ascent;
    draw_formula(list_, {x, baseline}, box.latex, sizes_.label(), colour);
    if (has_words) {
      list_->AddText({x + letters + px(6), baseline - words.y * words_ascent},
                     waits ? style::colours().faint : style::colours().dim, said.c_str());
    }
    const float height = sizes_.caption() - sizes_.caption_gap();
    note({x, top}, width, height, has_words ? box.latex + " " + said : box.latex);
    if (box.kind == Box::Kind::picture)
      offer_enlarging(box.tensor, {{x, top}, {x + width, top + height}}, scene_);
  }

  void frame(ImVec2 minimum, ImVec2 maximum) const {
    const float margin = px(4);
    const Symbol& symbol = symbol_in(scene_.symbols, scene_.view.lit);
    const bool neutral = symbol.role == Role::plain || symbol.role == Role::state;
    const ImU32 colour = neutral ? style::colours().accent : style::colours().role(symbol.role);
    list_->AddRect({minimum.x - margin, minimum.y - margin}, {maximum.x + margin, maximum.y + margin}, colour,
                   px(6), px(1.5F));
  }

  const PictureSizes& sizes_;
  StageScene& scene_;
  ImDrawList* list_ = ImGui::GetWindowDrawList();
};

}  // namespace

void draw(const PlacedEquation& placed, StageScene& scene) {
  EquationPainter painter(placed.equation.sizes(), scene);
  placed.equation.visit(placed.position, [&](const Box& box, const BoxExtent& extent, float x, float axis) {
    painter.draw(box, extent, x, axis);
  });
}

}  // namespace palimpsest
