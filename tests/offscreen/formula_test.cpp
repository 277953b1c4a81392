// Formulas: what is drawn, in which colours and how sharp, and what is too wide for its panel.

#include <fstream>

#include "app/session/paths.h"
#include "app/widgets/font_face.h"
#include "app/widgets/formula.h"
#include "app/widgets/formula_painter.h"
#include "tests/core/io/files.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest::testing;
using namespace palimpsest;

namespace {

constexpr int width = 400;
constexpr int height = 120;

Image draw(Offscreen& offscreen, const std::string& latex, float size, ImU32 colour) {
  return offscreen.render(
      [&] {
        ImDrawList* list = ImGui::GetBackgroundDrawList();
        list->AddRectFilled({0, 0}, {width, height}, IM_COL32_BLACK);
        draw_formula(list, {20, 60}, latex, size, colour);
      },
      2);
}

// How many pixels are nearly of this colour.
int count(const Image& image, int red, int green, int blue) {
  return count_pixels(everywhere(image), [&](int x, int y) {
    const Rgb8 p = pixel(image, x, y);
    return std::abs(p.red - red) + std::abs(p.green - green) + std::abs(p.blue - blue) < 60;
  });
}

// The rows that hold any ink.
struct InkedRows {
  int first = height;
  int last = -1;
};

InkedRows inked(const Image& image) {
  InkedRows rows;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (image.pixel(x, y)[0] < 100) continue;
      rows.first = std::min(rows.first, y);
      rows.last = y;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("formula: it is drawn in its colours, standing on its baseline") {
  DarkOffscreen offscreen(width, height);
  const Image white = draw(offscreen, "H", 40, IM_COL32_WHITE);
  CHECK(count(white, 255, 255, 255) > 100);
  const InkedRows rows = inked(white);
  CHECK(rows.last == 59);  // the baseline is the lower edge of this row
  CHECK(rows.first > 60 - 40);
  CHECK(rows.first < 60 - 20);
  const Image coloured =
      draw(offscreen, R"(\fgcolor{#ff0000}{M} = \fgcolor{#0000ff}{M})", 40, IM_COL32(0, 255, 0, 255));
  CHECK(count(coloured, 255, 0, 0) > 50);
  CHECK(count(coloured, 0, 0, 255) > 50);
  CHECK(count(coloured, 0, 255, 0) > 20);
}

TEST_CASE("formula: its measure does not depend on colours") {
  DarkOffscreen offscreen(width, height);
  const FormulaSize plain = measure_formula(R"(S_t = \alpha_t S_{t-1} + k_t v_t^\top)", 26);
  const FormulaSize coloured =
      measure_formula(R"(\fgcolor{#123456}{S_t} = \alpha_t S_{t-1} + k_t \fgcolor{#abcdef}{v_t^\top})", 26);
  CHECK(plain.width == Approx(coloured.width).margin(1));
  CHECK(plain.height == coloured.height);
  CHECK(plain.baseline == coloured.baseline);
  CHECK(plain.width > 150);
  CHECK(plain.baseline > plain.height / 2);
  const FormulaSize doubled = measure_formula(R"(S_t = \alpha_t S_{t-1} + k_t v_t^\top)", 52);
  CHECK(doubled.width == Approx(2 * plain.width).margin(2));
}

TEST_CASE("formula: everything that our formulas use can be read") {
  DarkOffscreen offscreen(width, height);
  for (const char* latex :
       {R"(\left( \alpha_t S_{t-1} \right)^\top)", R"(\underline{(\alpha_t S_{t-1})^\top k_t})",
        R"(\mathrm{Diag}(\gamma) \odot G)", R"(\bar S \tilde{k} \hat q \widetilde G)", R"(\boldsymbol{1})",
        R"(\lVert k \rVert^2 \le 2)", R"(\frac{\partial \mathcal{L}}{\partial S} \nabla)",
        R"(\tfrac12 \sqrt{x})", R"(\sum_{i=1}^{t} \prod_j \exp\log\max)",
        R"(\begin{pmatrix} a & b \\ c & d \end{pmatrix})",
        R"((I + N)^{-1} U \quad \text{with} \quad \operatorname{tril}(A))", R"(+0.987 \cdot 10^{-3})",
        R"(\rightarrow \infty \times \in \mathbb{R}^{d \times d})"}) {
    INFO(latex);
    // What cannot be read is measured as text, which is as high as a line.
    const FormulaSize alone = measure_formula(latex, 30);
    const FormulaSize beside_a_tall_one = measure_formula(std::string(latex) + R"(\rule{1em}{9em})", 30);
    CHECK(alone.width > 0);
    CHECK(beside_a_tall_one.height > 200);
  }
}

TEST_CASE("formula: what MicroTeX does differently is mended") {
  DarkOffscreen offscreen(width, height);
  const auto width_of = [](const char* latex) { return measure_formula(latex, 40).width; };
  CHECK(width_of(R"(\|k\|)") == width_of(R"(\lVert k \rVert)"));
  // V needs room before the sign, A does not.
  CHECK(width_of("V - K") - width_of("V") > width_of("A - K") - width_of("A") + 4);
  CHECK(width_of("V_t") == Approx(width_of("{V}_t")).margin(1));
  CHECK(width_of(R"(\begin{matrix} a \\ b \end{matrix})") < width_of("a b b"));
}

TEST_CASE("formula: what stands in brackets stands on the baseline") {
  Offscreen offscreen(width, height);
  const auto top_above_baseline = [](const char* latex) {
    const LaidOutFormula formula(latex, 40);
    return formula.extent().ascent - formula.marks().front().where.minimum.y;
  };
  const float alone = top_above_baseline("x");
  for (const char* latex :
       {R"(\left[x_{j+1:i}\right])", R"(\left(x_{1:i}\right)_i)", R"(\left\{x\right\})"}) {
    INFO(latex);
    CHECK(top_above_baseline(latex) == Approx(alone).margin(0.5));
  }
}

TEST_CASE("formula: upright bars are whole pixels") {
  DarkOffscreen offscreen(width, height);
  for (const float size : {12.0F, 13.5F, 15.0F, 26.0F}) {
    const Image bars = draw(offscreen, R"(\lVert\,\,\lVert)", size, IM_COL32_WHITE);
    const InkedRows rows = inked(bars);
    const int middle = (rows.first + rows.last) / 2;
    int lit = 0;
    for (int x = 0; x < bars.width; ++x) {
      const int ink = bars.pixel(x, middle)[0];
      const bool is_whole = ink < 8 || ink > 247;
      CHECK(is_whole);
      lit += ink > 247 ? 1 : 0;
    }
    CHECK(lit >= 4);
  }
}

TEST_CASE("formula: bad LaTeX is shown as it was written") {
  DarkOffscreen offscreen(width, height);
  for (const char* latex :
       {R"(\frac{)", R"(\nosuchmacro{x})", "}", R"(\left( x)", "a^", R"(\begin{matrix} a)", "&",
        R"(\fgcolor{#ff)", "\xff\xfe", R"(\)", R"(\text{词})"}) {
    INFO(latex);
    FormulaSize size;
    CHECK_NOTHROW(size = measure_formula(latex, 20));
    Image image;
    CHECK_NOTHROW(image = draw(offscreen, latex, 20, IM_COL32_WHITE));
  }
  CHECK(measure_formula("", 20).width == 0);
  CHECK(measure_formula(R"(\nosuchmacro{x})", 20).width > 100);
  CHECK(count(draw(offscreen, R"(\nosuchmacro{x})", 20, IM_COL32_WHITE), 255, 255, 255) > 50);
}

TEST_CASE("formula: pictures that nobody asks for are forgotten") {
  DarkOffscreen offscreen(width, height);
  for (int i = 0; i < 50; ++i) draw(offscreen, fmt::format("x_{{{}}}", i), 20, IM_COL32_WHITE);
  const int many = cached_formulas();
  CHECK(many >= 50);
  offscreen.render(
      [] {
        draw_formula(ImGui::GetBackgroundDrawList(), {20, 60}, "y", 20, IM_COL32_WHITE);
      },
      160);  // kept for 120 frames, and swept every 30
  CHECK(cached_formulas() == 1);
}

TEST_CASE("formula: a font file is open once, however many formulas are drawn") {
  DarkOffscreen offscreen(width, height);
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) count += line.ends_with("latinmodern-math.otf") ? 1 : 0;
    return count;
  };
  draw(offscreen, R"(x_0 \text{word})", 20, IM_COL32_WHITE);
  const int faces = open_font_faces();
  const int mapped = mappings();
  CHECK(mapped > 0);
  for (int i = 1; i < 40; ++i)
    draw(offscreen, fmt::format(R"(\sum_{{i={}}}^{{t}} k_i v_i^\top)", i), 20, IM_COL32_WHITE);
  CHECK(open_font_faces() == faces);
  CHECK(mappings() <= mapped + 1);  // Dear ImGui may open its own
}

TEST_CASE("formula: a font that is none is an error that names it") {
  const TemporaryFolder folder;
  const std::string none = folder / "none.otf";
  CHECK_THROWS_WITH(font_face(none), says("'" + none + "' cannot be opened"));
  for (const std::string& content : {std::string(), std::string("words"), std::string(5000, '\xff')}) {
    const std::string broken = folder / "broken.otf";
    write_file(broken, content);
    const int before = open_font_faces();
    CHECK_THROWS_WITH(font_face(broken), says("broken.otf' "));
    CHECK(open_font_faces() == before);
  }
  CHECK(font_face(asset("fonts/Inter-Regular.otf").string()) ==
        font_face(asset("fonts/Inter-Regular.otf").string()));
}

TEST_CASE("formula: where there is no room nothing is drawn") {
  DarkOffscreen offscreen(width, height);
  for (const float size : {-40.0F, -0.1F, 0.0F, 0.01F}) {
    CHECK(measure_formula("S_t", size).width == 0);
    CHECK(count(draw(offscreen, "S_t", size, IM_COL32_WHITE), 255, 255, 255) == 0);
  }
}

TEST_CASE("a font file that was cut short is refused, although it opens") {
  const TemporaryFolder folder;
  const std::string bytes = read_file(asset("fonts/JetBrainsMono-Regular.ttf"));
  REQUIRE(bytes.size() > 100000);
  const int before = open_font_faces();
  for (const std::size_t size : {bytes.size() / 4, bytes.size() / 2}) {
    const std::string file = (folder / fmt::format("cut-{}.ttf", size)).string();
    write_file(file, std::string_view(bytes).substr(0, size));
    CHECK_THROWS_WITH(font_face(file), says("is damaged"));
  }
  CHECK(open_font_faces() == before);
}

TEST_CASE("a wide formula is cut before its signs, between brackets only where nothing else helps",
          "[formula]") {
  const Offscreen fonts(64, 64);
  const std::string latex = "S_t = (1 - f_t) S_{t-1} + \\left(a + b\\right) - \\eta_t M_t";
  CHECK(formula_lines(latex, 16, 1e6F) == std::vector<std::string>{latex});
  const std::vector<std::string> cut = formula_lines(latex, 16, 1);
  std::string joined;
  for (std::size_t i = 0; i < cut.size(); ++i) joined += i == 0 ? cut[i] : cut[i].substr(2);
  CHECK(joined == "S_t = (1 - f_t) S_{t-1} + (a + b) - \\eta_t M_t");  // brackets are of one size then
  CHECK(cut.size() == 6);
  const float width = 0.6F * measure_formula(latex, 16).width;
  const std::vector<std::string> two = formula_lines(latex, 16, width);
  REQUIRE(two.size() == 2);
  for (const std::string& line : two) CHECK(measure_formula(line, 16).width <= width);
  // A sign that follows another one begins no line.
  CHECK(formula_lines("x = -y", 16, 1).size() == 2);
}
