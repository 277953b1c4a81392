#include "app/widgets/heat_map.h"

#include "app/gl/context_local.h"
#include "app/gl/heat_map_renderer.h"
#include "app/widgets/style.h"

namespace palimpsest {

namespace {

constexpr float smallest_cell_with_grid = 6;  // design pixels

// A stretch of rows or columns.
struct Stretch {
  Index first = 0;
  Index count = 0;
  Index finished = 0;  // of them
};

Stretch rows_of(const Matrix<double>& values, const HeatMapLook& look) {
  const Index count = look.only_row < 0 ? values.rows() : 1;
  const Index finished = look.finished_rows < 0 ? count : std::min(look.finished_rows, count);
  return {std::max<Index>(look.only_row, 0), count, finished};
}

/// The rows and columns of the picture.
std::pair<Index, Index> drawn_size(const Matrix<double>& values, const HeatMapLook& look) {
  const Index rows = rows_of(values, look).count;
  return look.transposed ? std::pair(values.cols(), rows) : std::pair(rows, values.cols());
}

// The rows or columns that pixel `pixel` of `pixels` shows: at least one; stretches may overlap.
Stretch footprint(const Stretch& all, Index pixel, Index pixels) {
  const Index begin = pixel * all.count / pixels;
  const Index end = ((pixel + 1) * all.count + pixels - 1) / pixels;
  return {.first = all.first + begin, .count = std::min(end, all.finished) - begin, .finished = 0};
}

float strongest(const Matrix<double>& values, const Stretch& rows, const Stretch& columns) {
  float result = 0;
  for (Index row = rows.first; row < rows.first + rows.count; ++row) {
    for (Index column = columns.first; column < columns.first + columns.count; ++column) {
      const auto value = static_cast<float>(values(row, column));
      if (std::isnan(value)) return value;
      if (std::fabs(value) > std::fabs(result)) result = value;
    }
  }
  return result;
}

// What the graphics card holds of a matrix: its version and size, how it is shown, and in how many pixels.
using Content = std::tuple<std::uint64_t, Index, Index, bool, Index, Index, int, int>;

struct Entry {
  Texture numbers;
  Content content;
};

struct HeatMaps {
  HeatMapRenderer renderer;
  FrameCache<std::string, Entry> entries;
};

// Pixels of the picture per unit of Dear ImGui's coordinates.
ImVec2 screen_density() { return ImGui::GetIO().DisplayFramebufferScale; }

int pixel(float coordinate, float pixels_per_unit) {
  return static_cast<int>(std::lround(coordinate * pixels_per_unit));
}

// A rectangle on the screen with its edges at whole pixels.
PixelRectangle pixel_rectangle(ImVec2 minimum, ImVec2 maximum, ImVec2 scale) {
  const int x = pixel(minimum.x, scale.x);
  const int y = pixel(minimum.y, scale.y);
  return {.x = x, .y = y, .width = pixel(maximum.x, scale.x) - x, .height = pixel(maximum.y, scale.y) - y};
}

PixelRectangle pixels_of(const Rectangle& where) {
  return pixel_rectangle(where.minimum, where.maximum, screen_density());
}

void upload(Entry& entry, const Matrix<double>& values, const HeatMapLook& look,
            const PixelRectangle& rectangle, const Content& content) {
  const Matrix<float> cells = drawn_cells(values, look, rectangle.width, rectangle.height);
  entry.content = {};  // invalid until the upload is complete
  entry.numbers.upload_numbers(std::span(cells.data(), static_cast<std::size_t>(cells.size())),
                               static_cast<int>(cells.cols()), static_cast<int>(cells.rows()));
  entry.content = content;
}

// Design pixels as pixels of the picture: whole ones, at least `least`.
int whole_pixels(float design, int least) {
  return std::max(least, static_cast<int>(std::lround(design * (style::scale() * screen_density().x))));
}

// The width of the lines between cells in pixels; 0 if the cells are too small for lines.
int line_width(std::pair<Index, Index> size, const PixelRectangle& rectangle) {
  const auto cell = std::min(static_cast<float>(rectangle.width) / static_cast<float>(size.second),
                             static_cast<float>(rectangle.height) / static_cast<float>(size.first));
  const bool has_lines = cell >= smallest_cell_with_grid * (style::scale() * screen_density().x);
  return has_lines ? whole_pixels(style::line, 1) : 0;
}

// The usual hatching for absent things.
Hatch hatch_of_style() {
  return {.distance = whole_pixels(style::hatch, 2),
          .line = whole_pixels(style::line, 1),
          .paper = style::bytes(style::colours().background),
          .ink = style::bytes(style::colours().edge)};
}

void draw(const ImDrawList*, const ImDrawCmd* command) {
  HeatMapPass pass = *static_cast<const HeatMapPass*>(command->UserCallbackData);
  const ImDrawData& data = *ImGui::GetDrawData();
  const ImVec4& clip = command->ClipRect;
  pass.picture_height = static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y);
  pass.clip = pixel_rectangle({clip.x, clip.y}, {clip.z, clip.w}, data.FramebufferScale);
  context_local<HeatMaps>().renderer.draw(pass);
}

// The pixel edges of the cells along one axis: cell i covers [edge(i), edge(i + 1)). A pixel belongs to the
// cell in which its middle lies, as in the shader.
int edge(Index cell, Index cells, int pixels) {
  return static_cast<int>((2 * cell * pixels + cells - 1) / (2 * cells));
}

}  // namespace

Matrix<float> drawn_cells(const Matrix<double>& values, const HeatMapLook& look, Index width, Index height) {
  // Rows and columns of the matrix; swapped at the end, so that memory is read in order.
  const bool swapped = look.transposed;
  if (swapped) std::swap(width, height);
  const Stretch rows = rows_of(values, look);
  const Stretch columns = {0, values.cols(), values.cols()};
  Matrix<float> cells(std::min(rows.count, height), std::min(columns.count, width));
  if (cells.rows() == rows.count && cells.cols() == columns.count) {  // no two numbers share a pixel
    cells.setZero();
    cells.topRows(rows.finished) = values.middleRows(rows.first, rows.finished).cast<float>();
  } else {
    std::vector<Stretch> of_column;
    for (Index column = 0; column < cells.cols(); ++column)
      of_column.push_back(footprint(columns, column, cells.cols()));
    for (Index row = 0; row < cells.rows(); ++row) {
      const Stretch its_rows = footprint(rows, row, cells.rows());
      for (Index column = 0; column < cells.cols(); ++column)
        cells(row, column) = strongest(values, its_rows, entry(of_column, column));
    }
  }
  if (swapped) return cells.transpose();
  return cells;
}

void heat_map(std::string_view key, const Matrix<double>& values, std::uint64_t version,
              const Rectangle& where, const HeatMapLook& look) {
  const PixelRectangle rectangle = pixels_of(where);
  if (values.size() == 0 || rectangle.width <= 0 || rectangle.height <= 0) return;
  if (!ImGui::IsRectVisible(where.minimum, where.maximum)) return;
  auto& maps = context_local<HeatMaps>();
  Entry& entry = maps.entries[key];
  const Content content = {version,       values.rows(),      values.cols(),   look.transposed,
                           look.only_row, look.finished_rows, rectangle.width, rectangle.height};
  if (entry.numbers.name() == 0 || entry.content != content) upload(entry, values, look, rectangle, content);
  maps.renderer.set_colours(style::colours().map);
  HeatMapPass pass = {.numbers = entry.numbers.name(),
                      .rectangle = rectangle,
                      .clip = {},
                      .range = look.range,
                      .line = look.grid ? line_width(drawn_size(values, look), rectangle) : 0,
                      .dim = look.dim,
                      .hatch = look.masked ? hatch_of_style() : Hatch()};
  ImGui::GetWindowDrawList()->AddCallback(draw, &pass, sizeof(pass));
  ImGui::GetWindowDrawList()->AddCallback(ImGui::GetPlatformIO().DrawCallback_ResetRenderState);
}

std::optional<Cell> hovered_cell(const Rectangle& where, Index rows, Index columns, ImVec2 mouse) {
  if (!ImGui::IsMousePosValid(&mouse)) return std::nullopt;  // without a pointer
  const PixelRectangle rectangle = pixels_of(where);
  const Index x = static_cast<Index>(std::floor(mouse.x * screen_density().x)) - rectangle.x;
  const Index y = static_cast<Index>(std::floor(mouse.y * screen_density().y)) - rectangle.y;
  if (x < 0 || y < 0 || x >= rectangle.width || y >= rectangle.height) return std::nullopt;
  if (rows <= 0 || columns <= 0) return std::nullopt;
  return Cell{.row = (2 * y + 1) * rows / (2 * rectangle.height),
              .column = (2 * x + 1) * columns / (2 * rectangle.width)};
}

std::optional<Cell> pointed_cell(const Matrix<double>& values, const HeatMapLook& look,
                                 const Rectangle& where) {
  const auto [rows, columns] = drawn_size(values, look);
  return hovered_cell(where, rows, columns, ImGui::GetMousePos());
}

Rectangle cell_rectangle(const Rectangle& where, Index rows, Index columns, Cell cell) {
  const PixelRectangle rectangle = pixels_of(where);
  const auto corner = [&](Index row, Index column) {
    return ImVec2(
        static_cast<float>(rectangle.x + edge(column, columns, rectangle.width)) / screen_density().x,
        static_cast<float>(rectangle.y + edge(row, rows, rectangle.height)) / screen_density().y);
  };
  return {.minimum = corner(cell.row, cell.column), .maximum = corner(cell.row + 1, cell.column + 1)};
}

}  // namespace palimpsest
