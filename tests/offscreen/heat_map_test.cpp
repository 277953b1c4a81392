// Every pixel of a heat map is compared with the CPU's colour map.

#include <random>

#include "app/gl/heat_map_renderer.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr int picture_size = 320;

struct Placement {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  Rectangle where() const {
    const ImVec2 size = {static_cast<float>(width), static_cast<float>(height)};
    return box_at({static_cast<float>(x), static_cast<float>(y)}, size);
  }
};

// Ordinary numbers with all the odd ones among them.
Matrix<double> awkward_matrix(Index rows, Index columns, float range, unsigned seed) {
  const auto r = static_cast<double>(range);
  const std::vector<double> odd = {
      quiet_nan, infinity, -infinity, 0.0,      -0.0,     r, -r, std::nextafter(r, 0),
      1e-40,     -1e-40,   1e300,     r / 1022, -r / 1023};
  std::mt19937 random(seed);
  std::normal_distribution<double> ordinary(0, r / 2);
  Matrix<double> matrix(rows, columns);
  for (Index i = 0; i < matrix.size(); ++i) {
    matrix.data()[i] = random() % 5 == 0 ? odd[random() % odd.size()] : ordinary(random);
  }
  return matrix;
}

// Draws with the upper left corner at (x, y) and calls `check` with the picture.
Image draw(Offscreen& offscreen, const std::string& key, const Matrix<double>& values, std::uint64_t version,
           const Placement& at, const HeatMapLook& look) {
  return offscreen.render(
      [&] {
        in_window({picture_size, picture_size}, [&] { heat_map(key, values, version, at.where(), look); });
      },
      2);
}

// How many pixels of the rectangle differ from cells.size() colours of `map`; `line` is the width of lines
// between cells.
int differences(const Image& image, const Matrix<float>& cells, const Placement& at, float range,
                const ColourMap& map, int line) {
  const ColourMap line_map = faded(map, HeatMapRenderer::strength_of_lines);
  const auto cell_of = [](Index pixel, Index count, Index pixels) {
    return (2 * pixel + 1) * count / (2 * pixels);
  };
  return count_pixels(at.where(), [&](int pixel_x, int pixel_y) {
    const int x = pixel_x - at.x;
    const int y = pixel_y - at.y;
    const Index row = cell_of(y, cells.rows(), at.height);
    const Index column = cell_of(x, cells.cols(), at.width);
    const bool between = line > 0 && (row != cell_of(std::max(y - line, 0), cells.rows(), at.height) ||
                                      column != cell_of(std::max(x - line, 0), cells.cols(), at.width));
    const Rgb8 expected = colour(between ? line_map : map, cells(row, column), range);
    return pixel(image, pixel_x, pixel_y) != expected;
  });
}

struct Case {
  Index rows;
  Index columns;
  Placement at;
};

const std::vector<Case> cases = {
    {1, 1, {7, 9, 33, 21}},     {1, 64, {3, 5, 301, 13}},     {64, 1, {5, 3, 13, 301}},
    {63, 65, {2, 4, 300, 290}}, {200, 300, {0, 0, 300, 200}}, {16, 16, {10, 11, 256, 256}},
    {17, 5, {1, 1, 111, 222}},  {200, 300, {5, 6, 97, 101}},  {3, 1000, {9, 9, 250, 31}},
};

}  // namespace

TEST_CASE("heat map: every pixel is what the colour map says") {
  Offscreen offscreen(picture_size, picture_size);
  unsigned seed = 1;
  for (const style::Theme theme : {style::Theme::dark, style::Theme::light}) {
    style::apply(theme, 1);
    const ColourMap& map = style::colours().map;
    for (const Case& c : cases) {
      for (const float range : {1.0F, 0.37F, 2.5e-6F}) {
        INFO(c.rows << "x" << c.columns << " in " << c.at.width << "x" << c.at.height << ", range " << range);
        const Matrix<double> values = awkward_matrix(c.rows, c.columns, range, seed);
        const HeatMapLook look{.range = range, .grid = false};
        const Image image = draw(offscreen, "one place", values, ++seed, c.at, look);
        const Matrix<float> cells = drawn_cells(values, look, c.at.width, c.at.height);
        CHECK(differences(image, cells, c.at, range, map, 0) == 0);
        // Nothing outside.
        if (c.at.x > 0) CHECK(pixel(image, c.at.x - 1, c.at.y + 1) != map.zero);
        CHECK(style::colour(pixel(image, c.at.x + c.at.width, c.at.y)) == style::colours().background);
        CHECK(style::colour(pixel(image, c.at.x, c.at.y + c.at.height)) == style::colours().background);
      }
    }
  }
}

TEST_CASE("heat map: what a mask takes out is hatched, every other number is a number") {
  Offscreen offscreen(picture_size, picture_size);
  const Placement at{5, 7, 240, 180};
  std::uint64_t version = 100;
  for (const style::Theme theme : {style::Theme::dark, style::Theme::light}) {
    style::apply(theme, 1);
    const style::Palette& colours = style::colours();
    Matrix<double> values = Matrix<double>::Constant(6, 8, 0.5);
    for (Index i = 0; i < 6; ++i) values.row(i).tail(8 - i - 1).setConstant(-infinity);
    values(5, 0) = infinity;
    values(5, 1) = std::nan("");
    values(5, 2) = -3;  // beyond the range
    for (const bool masked : {false, true}) {
      CAPTURE(masked);
      const HeatMapLook look{.masked = masked, .grid = false};
      const Image image = draw(offscreen, "masked", values, ++version, at, look);
      int paper = 0;
      int lines = 0;
      const int wrong = count_pixels(at.where(), [&](int x, int y) {
        const double value =
            values((2 * (y - at.y) + 1) * 6 / (2 * at.height), (2 * (x - at.x) + 1) * 8 / (2 * at.width));
        const Rgb8 seen = pixel(image, x, y);
        if (!masked || value != -infinity) return seen != colour(colours.map, static_cast<float>(value), 1);
        const bool is_paper = style::colour(seen) == colours.background;
        const bool is_line = style::colour(seen) == colours.edge;
        paper += is_paper;
        lines += is_line;
        return !is_paper && !is_line;
      });
      CHECK(wrong == 0);
      CHECK((lines > 0) == masked);
      // One pixel in seven; the ends of rows leave some over.
      CHECK(std::abs(paper - 6 * lines) <= 7 * at.height);
    }
  }
}

TEST_CASE("heat map: lines between cells, dimmed ones, and both scales") {
  for (const float scale : {1.0F, 2.0F}) {
    Offscreen offscreen(picture_size, picture_size);
    style::apply(style::Theme::light, scale);
    const int line = static_cast<int>(scale);
    const Placement at{8, 8, 240, 160};
    const Matrix<double> values = awkward_matrix(10, 16, 1, 5);
    HeatMapLook look{.range = 1};
    const Matrix<float> cells = drawn_cells(values, look, at.width, at.height);
    const ColourMap& map = style::colours().map;
    CHECK(differences(draw(offscreen, "a", values, 1, at, look), cells, at, 1, map, line) == 0);
    look.dim = true;
    CHECK(differences(draw(offscreen, "a", values, 1, at, look), cells, at, 1,
                      faded(map, HeatMapRenderer::strength_when_dim), line) == 0);
  }
  // No lines between cells that are smaller than 6 design pixels.
  DarkOffscreen offscreen(picture_size, picture_size);
  const Placement at{8, 8, 100, 300};
  const Matrix<double> values = awkward_matrix(20, 20, 1, 6);
  const Image image = draw(offscreen, "a", values, 1, at, {.range = 1});
  CHECK(differences(image, drawn_cells(values, {}, 100, 300), at, 1, style::colours().map, 0) == 0);
}

TEST_CASE("heat map: it is uploaded again when something has changed, and only then") {
  DarkOffscreen offscreen(picture_size, picture_size);
  const ColourMap& dark = style::colours().map;
  const Placement at{0, 0, 90, 60};
  const Matrix<double> first = awkward_matrix(6, 9, 1, 7);
  const Matrix<double> second = awkward_matrix(6, 9, 1, 8);
  const HeatMapLook look{.range = 1, .grid = false};
  const auto cells = [&](const Matrix<double>& values) { return drawn_cells(values, look, 90, 60); };
  const Image image = draw(offscreen, "a", first, 1, at, look);
  CHECK(differences(image, cells(first), at, 1, dark, 0) == 0);
  // A wrong colour, range or order is noticed.
  ColourMap wrong = dark;
  wrong.positive[1].green ^= 2;  // hardly visible
  CHECK(differences(image, cells(first), at, 1, wrong, 0) > 135);
  CHECK(differences(image, cells(first), at, 1.01F, dark, 0) > 135);
  CHECK(differences(image, cells(first).reverse(), at, 1, dark, 0) > 135);
  CHECK(differences(draw(offscreen, "a", second, 1, at, look), cells(first), at, 1, dark, 0) == 0);
  CHECK(differences(draw(offscreen, "b", second, 1, at, look), cells(second), at, 1, dark, 0) == 0);
  CHECK(differences(draw(offscreen, "a", second, 2, at, look), cells(second), at, 1, dark, 0) == 0);
  // Range and theme need no upload.
  const HeatMapLook wider{.range = 2, .grid = false};
  CHECK(differences(draw(offscreen, "a", first, 2, at, wider), cells(second), at, 2, dark, 0) == 0);
  style::apply(style::Theme::light, 1);
  const ColourMap& light = style::colours().map;
  CHECK(differences(draw(offscreen, "a", first, 2, at, look), cells(second), at, 1, light, 0) == 0);
}

TEST_CASE("heat map: the window cuts it off, and what is drawn after it is as ever") {
  DarkOffscreen offscreen(picture_size, picture_size);
  const Matrix<double> ones = Matrix<double>::Ones(4, 4);
  const auto frame = [&](bool with_heat_map) {
    return offscreen.render(
        [&] {
          const auto draw_map = [&] {
            if (with_heat_map) heat_map("a", ones, 1, {{-10, -10}, {290, 290}}, {.range = 1, .grid = false});
          };
          in_window({100, 100}, draw_map, {20, 20});
          ImGui::SetNextWindowPos({40, 140});
          ImGui::Begin("after", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize);
          ImGui::TextUnformatted("text");
          ImGui::Button("a button");
          ImGui::End();
        },
        3);
  };
  const Image without = frame(false);
  const Image with = frame(true);
  const Rgb8 strongest = style::colours().map.positive[2];
  const auto is_changed = [&](int x, int y) { return pixel(with, x, y) != pixel(without, x, y); };
  CHECK(count_pixels(everywhere(with), is_changed) == count_pixels({{20, 20}, {120, 120}}, is_changed));
  CHECK(pixel(with, 20 + 50, 20 + 50) == strongest);
}

TEST_CASE("heat map: one row, transposing and unfinished rows") {
  Matrix<double> values(3, 4);
  values << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  const Matrix<float> all = values.cast<float>();
  CHECK(drawn_cells(values, {}, 100, 100) == all);
  CHECK(drawn_cells(values, {.transposed = true}, 100, 100) == all.transpose());
  for (const Index row : {0, 1, 2}) {
    CHECK(drawn_cells(values, {.only_row = row}, 100, 100) == all.row(row));
    CHECK(drawn_cells(values, {.transposed = true, .only_row = row}, 100, 100) == all.row(row).transpose());
    CHECK(drawn_cells(values, {.only_row = row, .finished_rows = 0}, 100, 100).isZero());
  }
  Matrix<float> two_rows = all;
  two_rows.bottomRows(1).setZero();
  CHECK(drawn_cells(values, {.finished_rows = 2}, 100, 100) == two_rows);
  CHECK(drawn_cells(values, {.transposed = true, .finished_rows = 2}, 100, 100) == two_rows.transpose());
  CHECK(drawn_cells(values, {.finished_rows = 0}, 100, 100).isZero());
}

TEST_CASE("heat map: the strongest cell of a pixel is shown") {
  Matrix<double> values = Matrix<double>::Constant(1000, 700, 0.01);
  values(999, 699) = -3;
  values(0, 350) = std::nan("");
  values(500, 0) = 2;
  const Matrix<float> cells = drawn_cells(values, {}, 37, 41);
  REQUIRE(cells.rows() == 41);
  REQUIRE(cells.cols() == 37);
  CHECK(cells(40, 36) == -3);
  CHECK(std::isnan(cells(0, 350 * 37 / 700)));
  CHECK(cells(500 * 41 / 1000, 0) == 2);
  // Every cell lies in some pixel.
  for (const Index columns : {37, 699, 700}) {
    for (Index column = 0; column < 700; column += 7) {
      Matrix<double> row = Matrix<double>::Zero(1, 700);
      row(0, column) = 1;
      CHECK(drawn_cells(row, {}, columns, 1).maxCoeff() == 1);
      CHECK(drawn_cells(row.transpose(), {.transposed = true}, columns, 1).maxCoeff() == 1);
    }
  }
}

TEST_CASE("heat map: the cell under the pointer is the one that is drawn there") {
  Offscreen offscreen(picture_size, picture_size);
  offscreen.render([] {}, 1);  // makes the context current
  const ImVec2 position(10, 20);
  for (const Case& c : cases) {
    const ImVec2 size = c.at.where().size();
    const Rectangle where = box_at(position, size);
    const auto at = [&](float x, float y) {
      return hovered_cell(where, c.rows, c.columns, {position.x + x, position.y + y});
    };
    CHECK(!at(-0.5F, 1));
    CHECK(!at(size.x, 1));
    CHECK(!at(1, size.y));
    if (c.rows > c.at.height || c.columns > c.at.width) continue;
    CHECK((at(0, 0) == Cell{0, 0}));
    CHECK((at(size.x - 0.5F, size.y - 0.5F) == Cell{c.rows - 1, c.columns - 1}));
    for (Index row = 0; row < c.rows; row += 3) {
      for (Index column = 0; column < c.columns; column += 3) {
        const Rectangle cell = cell_rectangle(where, c.rows, c.columns, {row, column});
        REQUIRE(cell.maximum.x > cell.minimum.x);
        CHECK(hovered_cell(where, c.rows, c.columns, cell.minimum) == Cell{row, column});
        CHECK(hovered_cell(where, c.rows, c.columns, {cell.maximum.x - 1, cell.maximum.y - 1}) ==
              Cell{row, column});
      }
    }
  }
  CHECK(!hovered_cell(box_at(position, {50, 50}), 0, 3, {20, 30}));
}
