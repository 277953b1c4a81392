#include "app/widgets/formula_painter.h"

#include <fmt/format.h>
#include FT_OUTLINE_H
#include <core/formula.h>
#include <microtex.h>
#include <render/builder.h>
#include <utils/exceptions.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <type_traits>
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

// The picture that shapes are filled into: colours are blended by their coverage.
class Paper {
 public:
  Paper(int width, int height) : rgba_(Matrix<std::uint8_t>::Zero(height, width * 4)) {}

  // Fills an outline; its pixels count upwards from the lower edge of the picture.
  void fill(FT_Outline& outline, microtex::color colour) {
    FT_BBox box;
    FT_Outline_Get_CBox(&outline, &box);
    const int left = static_cast<int>(box.xMin >> 6);
    const int bottom = static_cast<int>(box.yMin >> 6);
    const int width = static_cast<int>((box.xMax + 63) >> 6) - left;
    const int height = static_cast<int>((box.yMax + 63) >> 6) - bottom;
    if (width <= 0 || height <= 0) return;
    Matrix<std::uint8_t> coverage = Matrix<std::uint8_t>::Zero(height, width);
    FT_Bitmap bitmap{};
    bitmap.width = static_cast<unsigned>(width);
    bitmap.rows = static_cast<unsigned>(height);
    bitmap.pitch = width;
    bitmap.buffer = coverage.data();
    bitmap.num_grays = 256;
    bitmap.pixel_mode = FT_PIXEL_MODE_GRAY;
    FT_Outline_Translate(&outline, -FT_Pos{left} * 64, -FT_Pos{bottom} * 64);
    FT_Outline_Get_Bitmap(freetype(), &outline, &bitmap);
    const int top = rows() - bottom - height;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) blend(left + x, top + y, colour, coverage(y, x));
    }
  }

  // Fills a rectangle between two opposite corners; y points downwards.
  void fill(microtex::Point from, microtex::Point to, microtex::color colour) {
    const FT_Pos top = FT_Pos{rows()} * 64 - fixed(from.y);
    const FT_Pos bottom = FT_Pos{rows()} * 64 - fixed(to.y);
    std::array<FT_Vector, 4> points = {
        {{fixed(from.x), top}, {fixed(to.x), top}, {fixed(to.x), bottom}, {fixed(from.x), bottom}}};
    std::array<std::remove_pointer_t<decltype(FT_Outline::tags)>, 4> tags;
    tags.fill(FT_CURVE_TAG_ON);
    std::array<std::remove_pointer_t<decltype(FT_Outline::contours)>, 1> ends = {3};
    FT_Outline outline{};
    outline.n_contours = 1;
    outline.n_points = 4;
    outline.points = points.data();
    outline.tags = tags.data();
    outline.contours = ends.data();
    fill(outline, colour);
  }

  int rows() const { return static_cast<int>(rgba_.rows()); }
  Matrix<std::uint8_t> take() { return std::move(rgba_); }

 private:
  void blend(int x, int y, microtex::color colour, std::uint8_t coverage) {
    if (coverage == 0 || x < 0 || y < 0 || 4 * x >= rgba_.cols() || y >= rgba_.rows()) return;
    std::uint8_t* const pixel = &rgba_(y, 4 * x);
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

  Matrix<std::uint8_t> rgba_;  // as paint() returns it
};

// The left and the right end of a contour of an outline.
std::pair<FT_Pos, FT_Pos> width_of(std::span<const FT_Vector> contour) {
  const auto [left, right] = std::ranges::minmax(contour, {}, &FT_Vector::x);
  return {left.x, right.x};
}

// Whether a contour is an upright bar: no letter is so narrow.
bool is_bar(std::span<const FT_Vector> contour) {
  const auto [left, right] = width_of(contour);
  const auto [bottom, top] = std::ranges::minmax(contour, {}, &FT_Vector::y);
  return right > left && top.y - bottom.y > 10 * (right - left);
}

// Aligns the bars of a glyph that only consists of bars, such as |, to whole pixels; otherwise they would be
// grey.
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

// The parts of MicroTeX's drawing interface that our formulas need: letters and upright rectangles, moved and
// scaled uniformly. Nothing is rotated, reflected, dashed, rounded or drawn as a path.
class FormulaPen : public microtex::Graphics2D {
 public:
  FormulaPen(float x, float y) : origin_(x, y) {}

  void setColor(microtex::color colour) override { colour_ = colour; }
  microtex::color getColor() const override { return colour_; }
  void setStroke(const microtex::Stroke& stroke) override { stroke_ = stroke; }
  const microtex::Stroke& getStroke() const override { return stroke_; }
  void setStrokeWidth(float width) override { stroke_.lineWidth = width; }
  microtex::sptr<microtex::Font> getFont() const override { return font_; }
  void setFont(const microtex::sptr<microtex::Font>& font) override {
    font_ = std::dynamic_pointer_cast<FormulaFont>(font);
  }
  float getFontSize() const override { return font_size_; }
  void setFontSize(float size) override { font_size_ = size; }
  void translate(float dx, float dy) override { origin_ = at(dx, dy); }
  void scale(float factor, float) override { scale_ *= factor; }
  float sx() const override { return scale_; }
  float sy() const override { return scale_; }

  void drawLine(float, float, float, float) override {}
  void drawRect(float x, float y, float w, float h) override {
    drawLine(x, y, x + w, y);
    drawLine(x + w, y, x + w, y + h);
    drawLine(x, y + h, x + w, y + h);
    drawLine(x, y, x, y + h);
  }
  void drawRoundRect(float x, float y, float w, float h, float, float) override { drawRect(x, y, w, h); }
  void fillRoundRect(float x, float y, float w, float h, float, float) override { fillRect(x, y, w, h); }
  void setDash(const std::vector<float>&) override {}
  std::vector<float> getDash() override { return {}; }
  void rotate(float) override {}
  void rotate(float, float, float) override {}
  void reset() override {}
  bool beginPath(microtex::i32) override { return false; }
  void moveTo(float, float) override {}
  void lineTo(float, float) override {}
  void cubicTo(float, float, float, float, float, float) override {}
  void quadTo(float, float, float, float) override {}
  void closePath() override {}
  void fillPath(microtex::i32) override {}

 protected:
  // A point in pixels, with y downwards.
  microtex::Point at(float x, float y) const { return {scale_ * x + origin_.x, scale_ * y + origin_.y}; }

  // The outline of a glyph of the current font at its size; null if it has none.
  FT_Outline* outline_of(microtex::u16 glyph, FT_Int32 flags) const {
    if (!font_) return nullptr;
    FT_Face face = font_->face();
    FT_Set_Char_Size(face, 0, std::max<FT_Pos>(fixed(font_size_ * scale_), 64), 72, 72);
    if (FT_Load_Glyph(face, glyph, FT_LOAD_NO_BITMAP | flags) != 0) {
      const char* name = face->family_name != nullptr ? face->family_name : "without a name";
      throw Error(fmt::format("the font '{}' is damaged: its glyph {} cannot be read", name, glyph));
    }
    return face->glyph->format == FT_GLYPH_FORMAT_OUTLINE ? &face->glyph->outline : nullptr;
  }

  microtex::Point origin_;
  float scale_ = 1;
  microtex::color colour_ = microtex::black;
  microtex::Stroke stroke_;
  std::shared_ptr<FormulaFont> font_;
  float font_size_ = 1;
};

// Letters keep fractions of a pixel in x and are aligned to whole pixels in y, lightly hinted; rules and bars
// are aligned to whole pixels. So a formula is as sharp as text.
class Painter : public FormulaPen {
 public:
  Painter(Paper& paper, float x, float y) : FormulaPen(x, y), paper_(paper) {}

  void drawGlyph(microtex::u16 glyph, float x, float y) override {
    FT_Outline* const outline = outline_of(glyph, FT_LOAD_TARGET_LIGHT);
    if (!outline) return;
    const microtex::Point place = at(x, y);
    FT_Outline_Translate(outline, fixed(place.x),
                         fixed(static_cast<float>(paper_.rows()) - std::round(place.y)));
    sharpen_bars(*outline);
    paper_.fill(*outline, colour_);
  }

  // Horizontal from left to right, or vertical downwards.
  void drawLine(float x1, float y1, float x2, float y2) override {
    const float half = std::max(stroke_.lineWidth, 1 / scale_) / 2;
    const float across = y1 == y2 ? 0 : half;
    const float down = half - across;
    paper_.fill(at(x1 - across, y1 - down), at(x2 + across, y2 + down), colour_);
  }

  void fillRect(float x, float y, float w, float h) override {
    const microtex::Point from = at(x, y);
    const float height = std::max(1.0F, std::round(h * scale_));
    const float top = std::round(from.y + (h * scale_ - height) / 2);
    paper_.fill({from.x, top}, {from.x + std::max(1.0F, w * scale_), top + height}, colour_);
  }

 private:
  Paper& paper_;
};

// Collects the places of letters instead of painting them.
class Marker : public FormulaPen {
 public:
  Marker() : FormulaPen(0, 0) {}

  void drawGlyph(microtex::u16 glyph, float x, float y) override {
    FT_Outline* const outline = outline_of(glyph, FT_LOAD_NO_HINTING);
    if (!outline) return;
    FT_BBox box;
    FT_Outline_Get_CBox(outline, &box);
    const microtex::Point origin = at(x, y);
    const auto pixels = [](FT_Pos length) { return static_cast<float>(length) / 64; };
    add({.glyph = glyph,
         .character = character(font_->face(), glyph),
         .size = font_size_ * scale_,
         .baseline = origin.y,
         .where = {{origin.x + pixels(box.xMin), origin.y - pixels(box.yMax)},
                   {origin.x + pixels(box.xMax), origin.y - pixels(box.yMin)}}});
  }

  // A bar over a letter may be a rule.
  void fillRect(float x, float y, float w, float h) override {
    const microtex::Point from = at(x, y);
    const microtex::Point to = at(x + w, y + h);
    add({.character = rule, .where = {{from.x, from.y}, {to.x, to.y}}});
  }

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
    FT_ULong character = 0;  // 0: not a character, such as a smaller variant of a letter
    float size = 0;
    float baseline = 0;
    Rectangle where = {};
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

  // Whether a sign is centred over a letter.
  static bool is_accent(const Sign& sign, const Sign& letter) {
    const auto& [from, to] = letter.where;
    const float middle = sign.where.middle().x;
    const float foot = sign.where.maximum.y;
    const bool over = foot < from.y + 0.1F * letter.size && foot > from.y - 0.4F * letter.size;
    const bool narrow = sign.where.width() < 1.3F * letter.where.width() + 0.1F * letter.size;
    return over && narrow && middle > from.x && middle < to.x + 0.15F * letter.size;
  }

  FormulaMark mark(std::size_t index) const {
    const Sign& letter = signs_[index];
    FormulaMark result{fmt::format("{}", letter.glyph), {}, letter.where};
    const auto reach = [&](const Sign& sign) {
      result.where = {lower_of(result.where.minimum, sign.where.minimum),
                      upper_of(result.where.maximum, sign.where.maximum)};
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
      const bool is_set_beside =
          sign.size < 0.85F * letter.size && sign.where.minimum.x > letter.where.minimum.x;
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

class Factory : public microtex::PlatformFactory {
 public:
  microtex::sptr<microtex::Font> createFont(const std::string& file) override {
    return std::make_shared<FormulaFont>(file);
  }
  microtex::sptr<microtex::TextLayout> createTextLayout(const std::string& text, microtex::FontStyle,
                                                        float) override {
    throw microtex::ex_tex(fmt::format("formulas are written without the letters '{}'", text));
  }
};

// Why MicroTeX does not start; empty if it does. It is started once per process.
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

// Works around MicroTeX: it omits italic corrections, so that slanted capitals touch the next sign (they get
// a thin space), and draws \| as a single bar.
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

// As MicroTeX::parse, but strict: that draws what it does not understand in red.
microtex::Render* parse(const std::string& latex, float size) {
  static const std::string problem = start_microtex();
  if (!problem.empty()) throw Error(problem);
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

LaidOutFormula::LaidOutFormula(const std::string& latex, float size) : render_(parse(latex, size)) {
  // The extent is truncated to whole pixels: measure at a size where that does not matter.
  constexpr float magnified = 256;
  render_->setTextSize(size * magnified);
  extent_.width = static_cast<float>(render_->getWidth()) / magnified;
  extent_.descent = static_cast<float>(render_->getDepth()) / magnified;
  extent_.ascent = static_cast<float>(render_->getHeight()) / magnified - extent_.descent;
  render_->setTextSize(size);
}

LaidOutFormula::~LaidOutFormula() = default;

Matrix<std::uint8_t> LaidOutFormula::paint(std::uint32_t argb) const {
  constexpr int margin = FormulaExtent::margin;
  const int above = static_cast<int>(std::ceil(extent_.ascent));
  const int below = static_cast<int>(std::ceil(extent_.descent));
  Paper paper(static_cast<int>(std::ceil(extent_.width)) + 2 * margin, above + below + 2 * margin);
  Painter painter(paper, margin, static_cast<float>(margin + above) - extent_.ascent);
  render_->setForeground(argb);
  render_->draw(painter, 0, 0);
  return paper.take();
}

std::vector<FormulaMark> LaidOutFormula::marks() const {
  Marker marker;
  render_->draw(marker, 0, 0);
  return marker.marks();
}

}  // namespace palimpsest
