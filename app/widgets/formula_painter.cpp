#include "app/widgets/formula_painter.h"

#include <fmt/format.h>
#include <ft2build.h>
#include FT_OUTLINE_H
#include <core/formula.h>
#include <microtex.h>
#include <render/builder.h>
#include <utils/exceptions.h>
#include <utils/utf.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include "app/session/paths.h"
#include "app/widgets/font_face.h"
#include "core/base/error.h"

namespace palimpsest {
namespace {

// FreeType counts in 64ths of a pixel.
FT_Pos fixed(float pixels) { return std::lround(pixels * 64); }

class FormulaFont : public microtex::Font {
 public:
  explicit FormulaFont(const std::string& file) : face_(font_face(file)) {}
  bool operator==(const microtex::Font& other) const override {
    return face_ == dynamic_cast<const FormulaFont&>(other).face_;
  }
  FT_Face face() const { return face_; }

 private:
  FT_Face face_;
};

// Where filled shapes end up: colours over each other by their coverage.
class Paper {
 public:
  Paper(int width, int height) {
    picture_.width = width;
    picture_.height = height;
    picture_.rgba.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  }

  // Fills an outline in pixels with y upwards from the lower edge of the paper.
  void fill(FT_Outline& outline, microtex::color colour) {
    FT_BBox box;
    FT_Outline_Get_CBox(&outline, &box);
    const int left = static_cast<int>(box.xMin >> 6);
    const int bottom = static_cast<int>(box.yMin >> 6);
    const int width = static_cast<int>((box.xMax + 63) >> 6) - left;
    const int height = static_cast<int>((box.yMax + 63) >> 6) - bottom;
    if (width <= 0 || height <= 0) return;
    std::vector<std::uint8_t> coverage(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    FT_Bitmap bitmap{};
    bitmap.width = static_cast<unsigned>(width);
    bitmap.rows = static_cast<unsigned>(height);
    bitmap.pitch = width;
    bitmap.buffer = coverage.data();
    bitmap.num_grays = 256;
    bitmap.pixel_mode = FT_PIXEL_MODE_GRAY;
    FT_Outline_Translate(&outline, -FT_Pos{left} * 64, -FT_Pos{bottom} * 64);
    FT_Outline_Get_Bitmap(freetype(), &outline, &bitmap);
    const int top = picture_.height - bottom - height;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        blend(left + x, top + y, colour,
              coverage[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                       static_cast<std::size_t>(x)]);
      }
    }
  }

  int height() const { return picture_.height; }
  FormulaPicture take() { return std::move(picture_); }

 private:
  void blend(int x, int y, microtex::color colour, std::uint8_t coverage) {
    if (coverage == 0 || x < 0 || y < 0 || x >= picture_.width || y >= picture_.height) return;
    std::uint8_t* pixel =
        picture_.rgba.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture_.width) +
                                static_cast<std::size_t>(x)) *
                                   4;
    const float above = static_cast<float>(microtex::color_a(colour)) * static_cast<float>(coverage) / 65025;
    const float below = static_cast<float>(pixel[3]) / 255 * (1 - above);
    const float alpha = above + below;
    const std::array<microtex::color, 3> ink = {microtex::color_r(colour), microtex::color_g(colour),
                                                microtex::color_b(colour)};
    for (std::size_t i = 0; i < ink.size(); ++i) {
      pixel[i] = static_cast<std::uint8_t>(
          std::lround((static_cast<float>(ink[i]) * above + static_cast<float>(pixel[i]) * below) / alpha));
    }
    pixel[3] = static_cast<std::uint8_t>(std::lround(alpha * 255));
  }

  FormulaPicture picture_;
};

// x' = xx x + xy y + x0 and so on, to pixels with y downwards.
struct Transform {
  float xx = 1, xy = 0, x0 = 0;
  float yx = 0, yy = 1, y0 = 0;

  microtex::Point operator()(float x, float y) const { return {xx * x + xy * y + x0, yx * x + yy * y + y0}; }
  bool upright() const { return xy == 0 && yx == 0; }

  void translate(float dx, float dy) {
    const microtex::Point moved = (*this)(dx, dy);
    x0 = moved.x;
    y0 = moved.y;
  }
  void scale(float sx, float sy) {
    xx *= sx;
    yx *= sx;
    xy *= sy;
    yy *= sy;
  }
  void rotate(float angle) {
    const float c = std::cos(angle);
    const float s = std::sin(angle);
    const Transform before = *this;
    xx = before.xx * c + before.xy * s;
    xy = before.xy * c - before.xx * s;
    yx = before.yx * c + before.yy * s;
    yy = before.yy * c - before.yx * s;
  }
};

// A closed shape that FreeType can fill.
class Shape {
 public:
  void move_to(microtex::Point point) {
    close();
    add(point, FT_CURVE_TAG_ON);
  }
  void line_to(microtex::Point point) { add(point, FT_CURVE_TAG_ON); }
  void quad_to(microtex::Point control, microtex::Point point) {
    add(control, FT_CURVE_TAG_CONIC);
    add(point, FT_CURVE_TAG_ON);
  }
  void cubic_to(microtex::Point first, microtex::Point second, microtex::Point point) {
    add(first, FT_CURVE_TAG_CUBIC);
    add(second, FT_CURVE_TAG_CUBIC);
    add(point, FT_CURVE_TAG_ON);
  }

  void fill(Paper& paper, microtex::color colour) {
    close();
    if (ends_.empty()) return;
    for (FT_Vector& point : points_) point.y = FT_Pos{paper.height()} * 64 - point.y;
    FT_Outline outline{};
    outline.n_contours = static_cast<decltype(outline.n_contours)>(ends_.size());
    outline.n_points = static_cast<decltype(outline.n_points)>(points_.size());
    outline.points = points_.data();
    outline.tags = tags_.data();
    outline.contours = ends_.data();
    paper.fill(outline, colour);
    *this = {};
  }

 private:
  using Tag = std::remove_pointer_t<decltype(FT_Outline::tags)>;
  using End = std::remove_pointer_t<decltype(FT_Outline::contours)>;

  void add(microtex::Point point, int tag) {
    points_.push_back({fixed(point.x), fixed(point.y)});
    tags_.push_back(static_cast<Tag>(tag));
  }
  void close() {
    if (!points_.empty() && (ends_.empty() || static_cast<std::size_t>(ends_.back()) + 1 < points_.size())) {
      ends_.push_back(static_cast<End>(points_.size() - 1));
    }
  }

  std::vector<FT_Vector> points_;  // y downwards until filled
  std::vector<Tag> tags_;
  std::vector<End> ends_;
};

// From the left end of a contour of an outline to its right one.
std::pair<FT_Pos, FT_Pos> width_of(std::span<const FT_Vector> contour) {
  const auto [left, right] = std::ranges::minmax(contour, {}, &FT_Vector::x);
  return {left.x, right.x};
}

// Whether it is an upright bar: no letter is so slender.
bool is_bar(std::span<const FT_Vector> contour) {
  const auto [left, right] = width_of(contour);
  const auto [bottom, top] = std::ranges::minmax(contour, {}, &FT_Vector::y);
  return right > left && top.y - bottom.y > 10 * (right - left);
}

// Moves the bars of a glyph that is made of nothing else, | and its kin, to whole pixels: of a fraction of
// one they would be grey.
void sharpen_bars(FT_Outline& outline) {
  std::vector<std::span<FT_Vector>> contours;
  int first = 0;
  for (int i = 0; i < outline.n_contours; ++i) {
    const int end = outline.contours[i] + 1;
    contours.emplace_back(outline.points + first, static_cast<std::size_t>(end - first));
    first = end;
  }
  if (!std::ranges::all_of(contours, is_bar)) return;
  constexpr FT_Pos pixel = 64;
  const auto whole = [](FT_Pos length) { return (length + pixel / 2) & ~(pixel - 1); };
  for (const std::span<FT_Vector> contour : contours) {
    const auto [left, right] = width_of(contour);
    const FT_Pos width = std::max(whole(right - left), pixel);
    const FT_Pos from = whole((left + right - width) / 2);
    for (FT_Vector& point : contour) point.x = from + (point.x - left) * width / (right - left);
  }
}

// Letters keep their fraction of a pixel in x and sit on whole pixels in y, lightly hinted; rules and bars
// are whole pixels: so a formula is as sharp as text.
class Painter : public microtex::Graphics2D {
 public:
  Painter(Paper& paper, float x, float y) : paper_(paper) { transform_.translate(x, y); }

  void setColor(microtex::color colour) override { colour_ = colour; }
  microtex::color getColor() const override { return colour_; }
  void setStroke(const microtex::Stroke& stroke) override { stroke_ = stroke; }
  const microtex::Stroke& getStroke() const override { return stroke_; }
  void setStrokeWidth(float width) override { stroke_.lineWidth = width; }
  void setDash(const std::vector<float>& dash) override { dash_ = dash; }
  std::vector<float> getDash() override { return dash_; }
  microtex::sptr<microtex::Font> getFont() const override { return font_; }
  void setFont(const microtex::sptr<microtex::Font>& font) override {
    font_ = std::dynamic_pointer_cast<FormulaFont>(font);
  }
  float getFontSize() const override { return font_size_; }
  void setFontSize(float size) override { font_size_ = size; }

  void translate(float dx, float dy) override { transform_.translate(dx, dy); }
  void scale(float sx, float sy) override { transform_.scale(sx, sy); }
  void rotate(float angle) override { transform_.rotate(angle); }
  void rotate(float angle, float x, float y) override {
    transform_.translate(x, y);
    transform_.rotate(angle);
    transform_.translate(-x, -y);
  }
  void reset() override { transform_ = {}; }
  float sx() const override { return std::hypot(transform_.xx, transform_.yx); }
  float sy() const override { return std::hypot(transform_.xy, transform_.yy); }

  void drawGlyph(microtex::u16 glyph, float x, float y) override {
    if (font_) draw_glyph(font_->face(), glyph, font_size_, x, y);
  }

  void draw_glyph(FT_Face face, FT_UInt glyph, float size, float x, float y) {
    const bool upright = transform_.upright();
    FT_Set_Char_Size(face, 0, std::max<FT_Pos>(fixed(size * sy()), 64), 72, 72);
    const FT_Int32 flags = FT_LOAD_NO_BITMAP | (upright ? FT_LOAD_TARGET_LIGHT : FT_LOAD_NO_HINTING);
    if (FT_Load_Glyph(face, glyph, flags) != 0) {
      const char* name = face->family_name != nullptr ? face->family_name : "without a name";
      throw Error(fmt::format("the font '{}' is damaged: its glyph {} cannot be read", name, glyph));
    }
    if (face->glyph->format != FT_GLYPH_FORMAT_OUTLINE) return;
    FT_Outline& outline = face->glyph->outline;
    const microtex::Point origin = transform_(x, y);
    if (!upright) {
      const auto part = [](float value) { return static_cast<FT_Fixed>(std::lround(value * 65536)); };
      const FT_Matrix turn = {part(transform_.xx / sx()), part(-transform_.xy / sy()),
                              part(-transform_.yx / sx()), part(transform_.yy / sy())};
      FT_Outline_Transform(&outline, &turn);
    }
    const float baseline = upright ? std::round(origin.y) : origin.y;
    FT_Outline_Translate(&outline, fixed(origin.x), fixed(static_cast<float>(paper_.height()) - baseline));
    if (upright) sharpen_bars(outline);
    paper_.fill(outline, colour_);
  }

  bool beginPath(microtex::i32) override {
    shape_ = {};
    return false;
  }
  void moveTo(float x, float y) override { shape_.move_to(transform_(x, y)); }
  void lineTo(float x, float y) override { shape_.line_to(transform_(x, y)); }
  void cubicTo(float x1, float y1, float x2, float y2, float x3, float y3) override {
    shape_.cubic_to(transform_(x1, y1), transform_(x2, y2), transform_(x3, y3));
  }
  void quadTo(float x1, float y1, float x2, float y2) override {
    shape_.quad_to(transform_(x1, y1), transform_(x2, y2));
  }
  void closePath() override {}  // a filled shape is closed anyway
  void fillPath(microtex::i32) override { shape_.fill(paper_, colour_); }

  void drawLine(float x1, float y1, float x2, float y2) override {
    const float length = std::hypot(x2 - x1, y2 - y1);
    if (length == 0) return;
    const float half = std::max(stroke_.lineWidth, 1 / sy()) / 2;
    const float nx = -(y2 - y1) / length * half;
    const float ny = (x2 - x1) / length * half;
    fill_polygon({microtex::Point(x1 + nx, y1 + ny), microtex::Point(x2 + nx, y2 + ny),
                  microtex::Point(x2 - nx, y2 - ny), microtex::Point(x1 - nx, y1 - ny)});
  }

  // Where a point lies, in pixels with y downwards.
  microtex::Point at(float x, float y) const { return transform_(x, y); }

  void drawRect(float x, float y, float w, float h) override {
    drawLine(x, y, x + w, y);
    drawLine(x + w, y, x + w, y + h);
    drawLine(x + w, y + h, x, y + h);
    drawLine(x, y + h, x, y);
  }

  void fillRect(float x, float y, float w, float h) override {
    if (!transform_.upright()) {
      fill_polygon({microtex::Point(x, y), microtex::Point(x + w, y), microtex::Point(x + w, y + h),
                    microtex::Point(x, y + h)});
      return;
    }
    const microtex::Point from = transform_(x, y);
    const float height = std::max(1.0F, std::round(h * sy()));
    const float top = std::round(from.y + (h * sy() - height) / 2);
    const float right = from.x + std::max(1.0F, w * sx());
    Shape rule;
    rule.move_to({from.x, top});
    rule.line_to({right, top});
    rule.line_to({right, top + height});
    rule.line_to({from.x, top + height});
    rule.fill(paper_, colour_);
  }

  // MicroTeX rounds only the frames of \Ovalbox and the like, which we do not use.
  void drawRoundRect(float x, float y, float w, float h, float, float) override { drawRect(x, y, w, h); }
  void fillRoundRect(float x, float y, float w, float h, float, float) override { fillRect(x, y, w, h); }

 private:
  void fill_polygon(const std::array<microtex::Point, 4>& corners) {
    Shape polygon;
    polygon.move_to(transform_(corners[0].x, corners[0].y));
    for (std::size_t i = 1; i < corners.size(); ++i) {
      polygon.line_to(transform_(corners[i].x, corners[i].y));
    }
    polygon.fill(paper_, colour_);
  }

  Paper& paper_;
  Transform transform_;
  microtex::color colour_ = microtex::black;
  microtex::Stroke stroke_;
  std::vector<float> dash_;
  std::shared_ptr<FormulaFont> font_;
  float font_size_ = 1;
  Shape shape_;
};

// Collects where letters lie instead of painting them.
class Marker : public Painter {
 public:
  using Painter::Painter;

  void drawGlyph(microtex::u16 glyph, float x, float y) override {
    const auto font = std::dynamic_pointer_cast<FormulaFont>(getFont());
    if (!font) return;
    FT_Face face = font->face();
    const float size = getFontSize() * sy();
    FT_Set_Char_Size(face, 0, std::max<FT_Pos>(fixed(size), 64), 72, 72);
    if (FT_Load_Glyph(face, glyph, FT_LOAD_NO_BITMAP | FT_LOAD_NO_HINTING) != 0) return;
    FT_BBox box;
    FT_Outline_Get_CBox(&face->glyph->outline, &box);
    const microtex::Point origin = at(x, y);
    const auto pixels = [](FT_Pos length) { return static_cast<float>(length) / 64; };
    add({.glyph = glyph,
         .character = character(face, glyph),
         .size = size,
         .baseline = origin.y,
         .left = origin.x + pixels(box.xMin),
         .top = origin.y - pixels(box.yMax),
         .right = origin.x + pixels(box.xMax),
         .bottom = origin.y - pixels(box.yMin)});
  }

  // A bar over a letter may be a rule.
  void fillRect(float x, float y, float w, float h) override {
    const microtex::Point from = at(x, y);
    const microtex::Point to = at(x + w, y + h);
    add({.character = rule, .left = from.x, .top = from.y, .right = to.x, .bottom = to.y});
  }
  void drawLine(float, float, float, float) override {}
  void fillPath(microtex::i32) override {}

  std::vector<FormulaMark> marks() const {
    std::vector<FormulaMark> all;
    for (std::size_t i = 0; i < signs_.size(); ++i) {
      if (is_letter(signs_[i])) all.push_back(mark(i));
    }
    return all;
  }

 private:
  static constexpr FT_ULong rule = 1;
  static constexpr FT_ULong transpose = 0x22A4;

  struct Sign {
    unsigned glyph = 0;
    FT_ULong character = 0;  // 0: one that no text has, such as a smaller form of a letter
    float size = 0;
    float baseline = 0;
    float left = 0, top = 0, right = 0, bottom = 0;
  };

  static FT_ULong character(FT_Face face, FT_UInt glyph) {
    static const std::map<FT_UInt, FT_ULong> characters = [face] {
      std::map<FT_UInt, FT_ULong> all;
      FT_UInt index = 0;
      for (FT_ULong code = FT_Get_First_Char(face, &index); index != 0;
           code = FT_Get_Next_Char(face, code, &index))
        all.emplace(index, code);
      return all;
    }();
    const auto found = characters.find(glyph);
    return found == characters.end() ? 0 : found->second;
  }

  void add(Sign sign) {
    largest_ = std::max(largest_, sign.size);
    signs_.push_back(sign);
  }

  bool is_letter(const Sign& sign) const {
    const FT_ULong c = sign.character;
    const bool slanted = (c >= 0x1D400 && c < 0x1D7CA) || c == 0x210E || c == 0x2113;
    const bool greek = c >= 0x391 && c <= 0x3F5;
    return (slanted || greek) && sign.size > 0.85F * largest_;
  }

  // What stands over a letter, in its middle.
  static bool is_accent(const Sign& sign, const Sign& letter) {
    const float middle = (sign.left + sign.right) / 2;
    const bool over =
        sign.bottom < letter.top + 0.1F * letter.size && sign.bottom > letter.top - 0.4F * letter.size;
    const bool narrow = sign.right - sign.left < 1.3F * (letter.right - letter.left) + 0.1F * letter.size;
    return over && narrow && middle > letter.left && middle < letter.right + 0.15F * letter.size;
  }

  FormulaMark mark(std::size_t index) const {
    const Sign& letter = signs_[index];
    FormulaMark result{.letter = fmt::format("{}", letter.glyph),
                       .symbol = {},
                       .left = letter.left,
                       .top = letter.top,
                       .right = letter.right,
                       .bottom = letter.bottom};
    const auto reach = [&](const Sign& sign) {
      result.left = std::min(result.left, sign.left);
      result.top = std::min(result.top, sign.top);
      result.right = std::max(result.right, sign.right);
      result.bottom = std::max(result.bottom, sign.bottom);
    };
    for (const Sign& sign : signs_) {
      if (&sign == &letter || is_letter(sign) || !is_accent(sign, letter)) continue;
      result.letter += sign.character == rule ? " bar" : fmt::format(" {}", sign.glyph);
      reach(sign);
    }
    result.symbol = result.letter;
    for (std::size_t i = index + 1; i < signs_.size(); ++i) {
      const Sign& sign = signs_[i];
      if (sign.character == rule || is_accent(sign, letter)) continue;
      const bool is_set_beside = sign.size < 0.85F * letter.size && sign.left > letter.left;
      if (!is_set_beside) break;
      if (sign.character == transpose) continue;
      result.symbol += fmt::format(" {}{}", sign.baseline > letter.baseline ? "_" : "^", sign.glyph);
      reach(sign);
    }
    return result;
  }

  std::vector<Sign> signs_;
  float largest_ = 0;
};

// Text that is not in the mathematical font, such as Chinese words.
class PlainText : public microtex::TextLayout {
 public:
  PlainText(const std::string& text, float size) : size_(size) {
    static const FT_Face shared = font_face(asset("fonts/Inter-Regular.otf").string());
    face_ = shared;
    float x = 0;
    FT_Set_Char_Size(face_, 0, fixed(100), 72, 72);
    int bytes = 0;
    for (int at = 0; at < static_cast<int>(text.size()); at += bytes) {
      const FT_UInt glyph = FT_Get_Char_Index(face_, microtex::nextUnicode(text, at, bytes));
      glyphs_.push_back({glyph, x});
      if (FT_Load_Glyph(face_, glyph, FT_LOAD_NO_HINTING) == 0) {
        x += static_cast<float>(face_->glyph->linearHoriAdvance) / 65536 / 100 * size_;
      }
      bytes = std::max(bytes, 1);
    }
    width_ = x;
  }

  void getBounds(microtex::Rect& bounds) override { bounds = {0, -0.75F * size_, width_, size_}; }

  void draw(microtex::Graphics2D& graphics, float x, float y) override {
    auto& painter = dynamic_cast<Painter&>(graphics);
    for (const Placed& placed : glyphs_) painter.draw_glyph(face_, placed.glyph, size_, x + placed.x, y);
  }

 private:
  struct Placed {
    FT_UInt glyph;
    float x;
  };

  FT_Face face_ = nullptr;
  float size_;
  float width_ = 0;
  std::vector<Placed> glyphs_;
};

class Factory : public microtex::PlatformFactory {
 public:
  microtex::sptr<microtex::Font> createFont(const std::string& file) override {
    return std::make_shared<FormulaFont>(file);
  }
  microtex::sptr<microtex::TextLayout> createTextLayout(const std::string& text, microtex::FontStyle,
                                                        float size) override {
    return std::make_shared<PlainText>(text, size);
  }
};

// Why MicroTeX does not start; empty if it does. It is one per process and is asked once.
std::string start_microtex() {
  const std::string metrics = asset("fonts/latex/latinmodern-math.clm1").string();
  const std::string letters = asset("fonts/latex/latinmodern-math.otf").string();
  microtex::PlatformFactory::registerFactory("palimpsest", std::make_unique<Factory>());
  microtex::PlatformFactory::activate("palimpsest");
  try {
    microtex::MicroTeX::init(microtex::FontSrcFile(metrics, letters));
  } catch (const microtex::ex_tex& problem) {
    return fmt::format("formulas cannot be laid out with '{}': {}", metrics, problem.what());
  }
  return {};
}

void require_microtex() {
  static const std::string problem = start_microtex();
  if (!problem.empty()) throw Error(problem);
}

// Whether the capital at `i` stands by itself, before a sign such as + or =.
bool touches_a_sign(std::string_view latex, std::size_t i) {
  constexpr std::array<std::string_view, 9> signs = {"+",       "-",     "=",     "\\odot",  "\\cdot",
                                                     "\\times", "\\le ", "\\ge ", "\\approx"};
  const auto letter_at = [&](std::size_t at) {
    return at < latex.size() && std::isalpha(static_cast<unsigned char>(latex[at])) != 0;
  };
  if (letter_at(i + 1) || (i > 0 && (letter_at(i - 1) || latex[i - 1] == '\\'))) return false;
  const std::string_view rest = latex.substr(std::min(latex.find_first_not_of(" }", i + 1), latex.size()));
  return std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return rest.starts_with(sign); });
}

// What MicroTeX does not do by itself: it leaves out italic corrections, so that slanted capitals touch the
// sign that follows (they get a thin space), and takes \| for a single bar.
std::string mended(std::string_view latex) {
  constexpr std::string_view slanted = "FPTUVWY";
  std::string result;
  for (std::size_t i = 0; i < latex.size(); ++i) {
    if (latex.substr(i, 2) == "\\\\" || latex.substr(i, 2) == "\\|") {
      result += latex[i + 1] == '|' ? "\\Vert " : "\\\\";
      ++i;
      continue;
    }
    result += latex[i];
    if (slanted.find(latex[i]) != std::string_view::npos && touches_a_sign(latex, i)) result += "\\,";
  }
  return result;
}

// What MicroTeX::parse does, but strictly: that one draws what it does not understand in red.
microtex::Render* parse(const std::string& latex, float size) {
  require_microtex();
  microtex::Formula nothing;
  const microtex::Parser strict(false, "", &nothing);
  microtex::Formula formula(strict, mended(latex));
  return microtex::RenderBuilder()
      .setStyle(microtex::TexStyle::display)
      .setTextSize(size)
      .setMathFontName(microtex::MicroTeX::mathFontNames().front())
      .setLineSpace({size / 3, microtex::UnitType::pixel})
      .build(formula);
}

}  // namespace

struct LaidOutFormula::State {
  std::unique_ptr<microtex::Render> render;
  float size = 0;
  FormulaExtent extent;
};

LaidOutFormula::LaidOutFormula(const std::string& latex, float size) : state_(std::make_unique<State>()) {
  state_->render.reset(parse(latex, size));
  state_->size = size;
  // It tells its extent in whole pixels, cut off: ask at a size where that does not matter.
  constexpr float magnified = 256;
  microtex::Render& render = *state_->render;
  render.setTextSize(size * magnified);
  FormulaExtent& extent = state_->extent;
  extent.width = static_cast<float>(render.getWidth()) / magnified;
  extent.descent = static_cast<float>(render.getDepth()) / magnified;
  extent.ascent = static_cast<float>(render.getHeight()) / magnified - extent.descent;
  render.setTextSize(size);
}

LaidOutFormula::~LaidOutFormula() = default;

FormulaExtent LaidOutFormula::extent() const { return state_->extent; }

FormulaPicture LaidOutFormula::paint(std::uint32_t argb) const {
  const FormulaExtent& extent = state_->extent;
  constexpr int margin = FormulaExtent::margin;
  const int above = static_cast<int>(std::ceil(extent.ascent));
  const int below = static_cast<int>(std::ceil(extent.descent));
  Paper paper(static_cast<int>(std::ceil(extent.width)) + 2 * margin, above + below + 2 * margin);
  Painter painter(paper, margin, static_cast<float>(margin + above) - extent.ascent);
  state_->render->setForeground(argb);
  state_->render->draw(painter, 0, 0);
  return paper.take();
}

std::vector<FormulaMark> LaidOutFormula::marks() const {
  Paper nowhere(1, 1);
  Marker marker(nowhere, 0, 0);
  state_->render->draw(marker, 0, 0);
  return marker.marks();
}

}  // namespace palimpsest
