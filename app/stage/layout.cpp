#include "app/stage/layout.h"

#include <fmt/format.h>

#include "app/stage/draw.h"
#include "app/widgets/chart.h"

namespace palimpsest {

namespace {

constexpr float least_words = 24;      // the width below which no word can be read
constexpr float label_ascent = 0.81F;  // from the top of a caption to its baseline, in heights of its letters
constexpr float words_ascent = 0.78F;  // of the words beside it
constexpr float beside_label = 6;
constexpr float around_lit = 4;

/// A round bracket or a square one, as high as what it encloses.
void draw_bracket(bool is_right, bool is_square, const Rectangle& where) {
  const auto [from, to] = where;
  const float outer = is_right ? to.x : from.x;
  const float inner = is_right ? from.x : to.x;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = style::colours().dim;
  if (is_square) {
    const std::array<ImVec2, 4> corners = {{{inner, from.y}, {outer, from.y}, {outer, to.y}, {inner, to.y}}};
    list->AddPolyline(corners.data(), 4, ink, style::px(1.5F), 0);
    return;
  }
  const float bend = std::min((to.y - from.y) * 0.3F, style::px(18));
  list->AddBezierCubic({inner, from.y}, {outer, from.y + bend}, {outer, to.y - bend}, {inner, to.y}, ink,
                       style::px(1.5F));
}

}  // namespace

scene::Node lay_out(const StageView& view, ImVec2 room, const Ruler& ruler, StageFrame& frame) {
  Placing placing(view, ruler, frame);
  view.one_token ? lay_out_token(placing, room) : lay_out_lines(placing, room);
  return std::move(placing).all();
}

LinesInSight window_around(std::size_t present, const std::vector<float>& needed, float room) {
  LinesInSight window{present, present};
  for (bool grown = true; grown;) {
    grown = false;
    if (window.last + 1 < needed.size() && needed[window.last + 1] <= room) {
      room -= needed[++window.last];
      grown = true;
    }
    if (window.first > 0 && needed[window.first - 1] <= room) {
      room -= needed[--window.first];
      grown = true;
    }
  }
  return window;
}

void Placing::put(scene::Node node, ImVec2 at, ImVec2 own, ImVec2 room) {
  spots_.nodes.push_back(std::move(node));
  spots_.places.push_back({at, own, room});
}

scene::Node Placing::drawn(ImVec2 size, Draw draw) const {
  return {
      scene::Drawn{.size = size, .draw = [&frame = frame_, draw = std::move(draw)](const Rectangle& where) {
                     draw(where, *frame.scene);
                   }}};
}

std::function<void()> Placing::going_to(Index operation) const {
  return [&frame = frame_, operation] { frame.scene->wanted = operation; };
}

scene::Node Placing::named(scene::Node node, const std::string& enlarges) const {
  if (enlarges.empty()) return std::move(node).named("piece");
  node.underlined = true;
  return std::move(node).named("name/" + enlarges).on([&frame = frame_, enlarges] {
    frame.scene->enlarge = enlarges;
  });
}

void Placing::words(const std::string& words, ImVec2 at, const PieceLook& look) {
  if (words.empty() || look.room < px(least_words)) return;
  scene::Text text{.words = words, .style = look.text, .ink = look.ink, .fit = scene::Fit::shorten};
  if (look.is_row) text.height = row_of_words;
  put(named({std::move(text)}, look.enlarges), at, look.own, {look.room, unbounded});
}

void Placing::formula(const std::string& latex, ImVec2 at, const PieceLook& look) {
  if (latex.empty()) return;
  put(named(scene::formula(latex, look.size, look.ink), look.enlarges), at, look.own, {look.room, unbounded});
}

void Placing::piece(const std::string& words, ImVec2 at, ImVec2 size, Draw draw) {
  scene::Node node = drawn(size, std::move(draw));
  auto& drawing = std::get<scene::Drawn>(node.content);
  drawing.part = "piece";
  drawing.words = words;
  put(std::move(node), at);
}

void Placing::picture(const Box& picture, ImVec2 at, ImVec2 size, bool is_thumbnail) {
  piece(picture.digits, at, size, [&picture, is_thumbnail](const Rectangle& where, StageScene& scene) {
    draw_picture(picture, where, is_thumbnail, scene);
  });
}

void Placing::row_words(const Box& picture, ImVec2 right, float height, float room, bool all) {
  const float row = height / static_cast<float>(picture.rows);
  const auto place = [&](const std::string& word, Index i) {
    const float line = std::min(px(row_of_words), height);
    const float middle = std::clamp(right.y + row * (static_cast<float>(i) + 0.5F), right.y + line / 2,
                                    right.y + height - line / 2);
    words(word, {right.x, middle},
          {.ink = i == picture.present_row ? 0 : scene::dim_ink,
           .own = to_the_right,
           .room = room,
           .is_row = true});
  };
  if (!all) return place(picture.present_word, picture.present_row);
  for (std::size_t i = 0; i < picture.row_words.size(); ++i)
    place(picture.row_words[i], static_cast<Index>(i));
}

void Placing::link(const std::string& words, ImVec2 at, bool ends_there, const std::string& where,
                   Index operation, const std::string& title) {
  put(scene::tag(words)
          .named("more/" + where)
          .told(fmt::format("{}. A click goes there.", title))
          .on(going_to(operation)),
      at, {ends_there ? 1.0F : 0.0F, 0});
}

void Placing::equation(const EquationLayout& equation, ImVec2 corner) {
  const PictureSizes& sizes = equation.sizes();
  equation.visit(corner, [&](const Box& box, const BoxExtent& extent, float x, float axis) {
    switch (box.kind) {
      case Box::Kind::picture:
      case Box::Kind::number:
        return operand(box, extent, {x, axis - extent.height / 2}, sizes);
      case Box::Kind::glyph:
        return formula(box.latex, {x, axis}, {.size = sizes.glyph() / sizes.scale, .own = from_the_left});
      case Box::Kind::bracket:
        return put(drawn({extent.width, extent.side},
                         [&box](const Rectangle& where, StageScene&) {
                           draw_bracket(box.right, box.square, where);
                         }),
                   {x, axis - extent.side / 2});
      case Box::Kind::group:
        if (box.tensor == view_.lit)
          lit_frame({x, axis - extent.above}, {extent.width, extent.above + extent.below});
        return;
      case Box::Kind::row:
      case Box::Kind::stack:
        return;  // their parts are placed
    }
  });
}

void Placing::operand(const Box& box, const BoxExtent& extent, ImVec2 corner, const PictureSizes& sizes) {
  const bool is_number = box.kind == Box::Kind::number;
  const auto whole = [&](float length) { return is_number ? length : std::round(length); };
  corner = {whole(corner.x + extent.words + (extent.width - extent.words - extent.side) / 2),
            whole(corner.y)};
  const ImVec2 size = {whole(extent.side), whole(extent.height)};
  if (extent.words > 0) {
    const float gap = sizes.fixed(word_gap);
    row_words(box, {corner.x - gap, corner.y}, size.y, extent.words - gap, extent.has_row_words);
  }
  picture(box, corner, size);
  caption(box, extent.letters, {corner.x, corner.y + size.y + sizes.caption_gap()}, size.x, sizes);
  if (box.tensor == view_.lit) lit_frame(corner, size);
}

/// The symbol, and its words where they fit under the picture.
void Placing::caption(const Box& box, const FormulaSize& letters, ImVec2 corner, float width,
                      const PictureSizes& sizes) {
  const bool waits = view_.finished_rows(box.tensor) == 0;
  const float gap = px(beside_label);
  const ImVec2 said = extent(box.words);
  // Not beyond a frame around the picture.
  const bool has_words = !box.words.empty() && letters.width + gap + said.x <= width + sizes.gap() - px(4);
  const float x = corner.x + (width - letters.width - (has_words ? gap + said.x : 0)) / 2;
  const float baseline = corner.y + sizes.label() * label_ascent;
  const std::string enlarges = box.kind == Box::Kind::picture ? box.tensor : "";
  formula(box.latex, {x, baseline},
          {.size = sizes.label() / sizes.scale,
           .ink = waits ? scene::faint_ink : scene::role_ink(box.role),
           .own = {0, letters.height > 0 ? letters.baseline / letters.height : 0},
           .enlarges = enlarges});
  if (!has_words) return;
  words(box.words, {x + letters.width + gap, baseline - said.y * words_ascent},
        {.ink = waits ? scene::faint_ink : scene::dim_ink, .enlarges = enlarges});
}

/// Around what the step makes.
void Placing::lit_frame(ImVec2 corner, ImVec2 size) {
  const float margin = px(around_lit);
  put(drawn({size.x + 2 * margin, size.y + 2 * margin},
            [](const Rectangle& where, const StageScene& scene) {
              const Role role = symbol_in(scene.symbols, scene.view.lit).role;
              const bool neutral = role == Role::plain || role == Role::state;
              const style::Palette& c = style::colours();
              outline(where, neutral ? c.accent : c.role(role), style::px(6), style::px(1.5F));
            }),
      {corner.x - margin, corner.y - margin});
}

}  // namespace palimpsest
