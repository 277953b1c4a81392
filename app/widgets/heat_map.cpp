#include "app/widgets/heat_map.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "app/gl/context_local.h"
#include "app/gl/frame_cache.h"
#include "app/gl/heat_map_renderer.h"
#include "app/widgets/heat_map_cells.h"
#include "app/widgets/style.h"

namespace palimpsest {
namespace {

constexpr float smallest_cell_with_grid = 6;  // design pixels

// What of a matrix is on the graphics card.
struct Content {
  std::uint64_t version = 0;
  bool transposed = false;
  MatrixBlock block{};
  Index finished_rows = 0;
  Index finished_columns = 0;
  Index rows = 0;  // of the matrix
  Index columns = 0;
  int width = 0;  // in pixels
  int height = 0;

  friend bool operator==(const Content&, const Content&) = default;
};

struct Entry {
  Texture numbers;
  Content content;
  Index rows = 0;  // of the texture
  Index columns = 0;
};

struct HeatMaps {
  HeatMapRenderer renderer;
  FrameCache<std::string, Entry> entries;
};

// Pixels of the picture per unit of Dear ImGui's coordinates.
ImVec2 density() { return ImGui::GetIO().DisplayFramebufferScale; }

int pixel(float coordinate, float pixels_per_unit) {
  return static_cast<int>(std::lround(coordinate * pixels_per_unit));
}

// A rectangle on the screen with its edges at whole pixels.
PixelRectangle pixel_rectangle(ImVec2 minimum, ImVec2 maximum, ImVec2 scale) {
  const int x = pixel(minimum.x, scale.x);
  const int y = pixel(minimum.y, scale.y);
  return {.x = x, .y = y, .width = pixel(maximum.x, scale.x) - x, .height = pixel(maximum.y, scale.y) - y};
}

PixelRectangle rectangle_at(ImVec2 position, ImVec2 size) {
  return pixel_rectangle(position, {position.x + size.x, position.y + size.y}, density());
}

void upload(Entry& entry, const Matrix<double>& values, const HeatMapLook& look, const Content& content) {
  const Matrix<float> cells = drawn_cells(values, look, content.width, content.height);
  entry.content = {};  // until all of it is there
  if (cells.size() > 0) {
    entry.numbers.upload_numbers(std::span(cells.data(), static_cast<std::size_t>(cells.size())),
                                 static_cast<int>(cells.cols()), static_cast<int>(cells.rows()));
  }
  entry.content = content;
  entry.rows = cells.rows();
  entry.columns = cells.cols();
}

// The width of lines between cells, 0 when cells are too small for them.
int line_width(const Entry& entry, const PixelRectangle& rectangle) {
  const auto cell = std::min(static_cast<float>(rectangle.width) / static_cast<float>(entry.columns),
                             static_cast<float>(rectangle.height) / static_cast<float>(entry.rows));
  const float unit = style::scale() * density().x;
  if (cell < smallest_cell_with_grid * unit) return 0;
  return std::max(1, static_cast<int>(std::lround(style::line * unit)));
}

// As over everything that is not there.
Hatch hatch_of_style() {
  const float unit = style::scale() * density().x;
  return {.distance = std::max(2, static_cast<int>(std::lround(style::hatch * unit))),
          .line = std::max(1, static_cast<int>(std::lround(style::line * unit))),
          .paper = style::bytes(style::colours().background),
          .ink = style::bytes(style::colours().edge)};
}

struct Call {
  const HeatMapRenderer* renderer = nullptr;
  HeatMapPass pass;
};

void draw(const ImDrawList*, const ImDrawCmd* command) {
  Call call = *static_cast<const Call*>(command->UserCallbackData);
  const ImDrawData& data = *ImGui::GetDrawData();
  const ImVec4& clip = command->ClipRect;
  call.pass.picture_height = static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y);
  call.pass.clip = pixel_rectangle({clip.x, clip.y}, {clip.z, clip.w}, data.FramebufferScale);
  call.renderer->draw(call.pass);
}

// The pixel edges of the cells along one axis: cell i covers [edge(i), edge(i + 1)). A pixel belongs to the
// cell in which its middle lies, as in the shader.
int edge(Index cell, Index cells, int pixels) {
  return static_cast<int>((2 * cell * pixels + cells - 1) / (2 * cells));
}

}  // namespace

void heat_map(std::string_view key, const Matrix<double>& values, std::uint64_t version, ImVec2 position,
              ImVec2 size, const HeatMapLook& look) {
  const PixelRectangle rectangle = rectangle_at(position, size);
  if (values.size() == 0 || rectangle.width <= 0 || rectangle.height <= 0) return;
  if (!ImGui::IsRectVisible(position, {position.x + size.x, position.y + size.y})) return;
  auto& maps = context_local<HeatMaps>();
  Entry& entry = maps.entries[key];
  const Content content = {.version = version,
                           .transposed = look.transposed,
                           .block = look.block,
                           .finished_rows = look.finished_rows,
                           .finished_columns = look.finished_columns,
                           .rows = values.rows(),
                           .columns = values.cols(),
                           .width = rectangle.width,
                           .height = rectangle.height};
  if (entry.numbers.name() == 0 || entry.content != content) upload(entry, values, look, content);
  if (entry.rows == 0 || entry.columns == 0) return;
  maps.renderer.set_colours(style::colours().map);
  Call call;
  call.renderer = &maps.renderer;
  call.pass.numbers = entry.numbers.name();
  call.pass.rectangle = rectangle;
  call.pass.range = look.range;
  call.pass.line = look.grid ? line_width(entry, rectangle) : 0;
  call.pass.dim = look.dim;
  if (look.masked) call.pass.hatch = hatch_of_style();
  ImGui::GetWindowDrawList()->AddCallback(draw, &call, sizeof(call));
}

std::optional<Cell> hovered_cell(ImVec2 position, ImVec2 size, Index rows, Index columns, ImVec2 mouse) {
  if (!ImGui::IsMousePosValid(&mouse)) return std::nullopt;  // there is no pointer: infinitely far away
  const PixelRectangle rectangle = rectangle_at(position, size);
  const Index x = static_cast<Index>(std::floor(mouse.x * density().x)) - rectangle.x;
  const Index y = static_cast<Index>(std::floor(mouse.y * density().y)) - rectangle.y;
  if (x < 0 || y < 0 || x >= rectangle.width || y >= rectangle.height) return std::nullopt;
  if (rows <= 0 || columns <= 0) return std::nullopt;
  return Cell{.row = (2 * y + 1) * rows / (2 * rectangle.height),
              .column = (2 * x + 1) * columns / (2 * rectangle.width)};
}

bool overlap(const Rectangle& a, const Rectangle& b, float slack) {
  return a.minimum.x + slack < b.maximum.x && b.minimum.x + slack < a.maximum.x &&
         a.minimum.y + slack < b.maximum.y && b.minimum.y + slack < a.maximum.y;
}

Rectangle cell_rectangle(ImVec2 position, ImVec2 size, Index rows, Index columns, Cell cell) {
  const PixelRectangle rectangle = rectangle_at(position, size);
  const auto corner = [&](Index row, Index column) {
    return ImVec2(static_cast<float>(rectangle.x + edge(column, columns, rectangle.width)) / density().x,
                  static_cast<float>(rectangle.y + edge(row, rows, rectangle.height)) / density().y);
  };
  return {.minimum = corner(cell.row, cell.column), .maximum = corner(cell.row + 1, cell.column + 1)};
}

}  // namespace palimpsest
