#include "app/widgets/formula.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "app/gl/context_local.h"
#include "app/gl/heat_map_renderer.h"
#include "app/widgets/formula_painter.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

struct KeptFormula {
  bool known = false;
  std::unique_ptr<const LaidOutFormula> formula;  // null: it cannot be read
  std::optional<std::vector<FormulaMark>> marks;  // computed when the pointer is first on it
};

struct Picture {
  Texture texture;
  ImVec2 size;  // in pixels
};

struct Formulas {
  FrameCache<std::tuple<std::string, float>, KeptFormula> layouts;      // by LaTeX and size in pixels,
  FrameCache<std::tuple<std::string, float, ImU32>, Picture> pictures;  // and by colour
};

// The symbol under the pointer, and in which frame.
struct Pointed {
  int frame = -1;
  PointedSymbol symbol;
};

float density() { return ImGui::GetIO().DisplayFramebufferScale.y; }

KeptFormula& layout(const std::string& latex, float pixels) {
  KeptFormula& result = context_local<Formulas>().layouts[std::tie(latex, pixels)];
  if (result.known) return result;
  try {
    result.formula = std::make_unique<const LaidOutFormula>(latex, pixels);
  } catch (const Error&) {
    throw;  // a problem of the font: no other formula can be drawn either
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "The formula '{}' cannot be read: {}\n", latex, problem.what());
  }
  result.known = true;
  return result;
}

const Picture& picture(const LaidOutFormula& formula, const std::string& latex, float pixels, ImU32 colour) {
  Picture& result = context_local<Formulas>().pictures[std::tie(latex, pixels, colour)];
  if (result.texture.name() != 0) return result;
  const std::uint32_t argb = (colour >> IM_COL32_A_SHIFT & 255) << 24 |
                             (colour >> IM_COL32_R_SHIFT & 255) << 16 |
                             (colour >> IM_COL32_G_SHIFT & 255) << 8 | (colour >> IM_COL32_B_SHIFT & 255);
  const Matrix<std::uint8_t> rgba = formula.paint(argb);
  const auto width = static_cast<int>(rgba.cols() / 4);
  const auto height = static_cast<int>(rgba.rows());
  result.texture.upload_pixels({rgba.data(), static_cast<std::size_t>(rgba.size())}, width, height);
  result.size = {static_cast<float>(width), static_cast<float>(height)};
  return result;
}

// The font for the source of LaTeX that cannot be parsed.
ImFont* source_font() { return style::font(style::Text::number); }

FormulaSize source_size(const std::string& latex, float size_px) {
  const ImVec2 extent = source_font()->CalcTextSizeA(size_px, FLT_MAX, 0, latex.c_str());
  return {.width = extent.x, .height = extent.y, .baseline = extent.y * 0.8F};
}

FormulaSize size_of(const FormulaExtent& extent) {
  const float ascent = std::ceil(extent.ascent);
  return {.width = std::ceil(extent.width) / density(),
          .height = (ascent + std::ceil(extent.descent)) / density(),
          .baseline = ascent / density()};
}

// Smaller letters would be a blot. Without any room in a panel, the requested size may be negative.
constexpr float smallest_letters = 2;  // pixels of the picture

constexpr float readable = 32;  // pixels, if only the symbols matter

bool is_drawn(float size_px) { return size_px * density() >= smallest_letters; }

float whole(float coordinate) { return std::round(coordinate * density()) / density(); }

const std::vector<FormulaMark>& marks_of(KeptFormula& found) {
  if (!found.marks) found.marks = found.formula->marks();
  return *found.marks;
}

// Remembers which symbol the pointer is on. `from`: the upper left corner of the formula.
void point_at(ImVec2 from, FormulaSize size, const std::string& latex, float size_px) {
  if (!is_pointed(box_at(from, {size.width, size.height}), ImGuiHoveredFlags_AllowWhenBlockedByActiveItem))
    return;
  const float pixels = size_px * density();
  KeptFormula& found = layout(latex, pixels);
  const ImVec2 at = (ImGui::GetMousePos() - from) * density();
  for (const FormulaMark& mark : marks_of(found)) {
    if (mark.where.grown(pixels * 0.08F).holds({at, at}))
      context_local<Pointed>() = {ImGui::GetFrameCount(), {mark.letter, mark.symbol}};
  }
}

/// A command with its backslash, or one letter.
std::string_view next_symbol(std::string_view latex) {
  if (latex.front() != '\\') return latex.substr(0, 1);
  std::size_t length = 1;
  while (length < latex.size() && std::isalpha(static_cast<unsigned char>(latex[length])) != 0) ++length;
  return latex.substr(0, std::max<std::size_t>(length, 2));
}

bool is_sign(std::string_view symbol) { return is_among(symbol, {"=", "+", "-", "\\leftarrow", "\\odot"}); }

/// The places at which a line may begin: signs with something before them, and after a wide space.
/// `inside_brackets`: also those between brackets of fixed size.
std::vector<std::size_t> places(std::string_view latex, bool inside_brackets) {
  std::vector<std::size_t> found;
  int depth = 0;
  bool is_after_sign = true;
  for (std::size_t i = 0; i < latex.size();) {
    const std::string_view symbol = next_symbol(latex.substr(i));
    const bool opens = is_among(symbol, {"{", "\\left", "\\begin"});
    const bool closes = is_among(symbol, {"}", "\\right", "\\end"});
    const bool opens_bracket = !inside_brackets && (symbol == "(" || symbol == "[");
    const bool closes_bracket = !inside_brackets && (symbol == ")" || symbol == "]");
    if (opens || opens_bracket) ++depth;
    if (closes || closes_bracket) --depth;
    if (depth == 0 && is_sign(symbol) && !is_after_sign) found.push_back(i);
    if (depth == 0 && is_among(symbol, {"\\quad", "\\qquad"}) && i + symbol.size() < latex.size())
      found.push_back(i + symbol.size());
    const bool is_space = is_among(symbol, {" ", "\\quad", "\\qquad", "\\,", "\\;"});
    if (!is_space) is_after_sign = is_sign(symbol) || symbol == "(" || symbol == "[";
    // \left and \right include their bracket.
    const bool is_sized = symbol == "\\left" || symbol == "\\right";
    i += symbol.size() + (is_sized && i + symbol.size() < latex.size()
                              ? next_symbol(latex.substr(i + symbol.size())).size()
                              : 0);
  }
  return found;
}

std::vector<std::string> filled(const std::string& latex, const std::vector<std::size_t>& breaks,
                                float size_px, float width, float indent) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= breaks.size(); ++i) {
    const std::size_t end = i < breaks.size() ? breaks[i] : latex.size();
    const std::string piece = latex.substr(begin, end - begin);
    begin = end;
    const float room = width - (lines.empty() ? 0 : indent);
    if (!line.empty() && measure_formula(line + piece, size_px).width > room) {
      lines.push_back(line);
      line = "{}";  // gives a sign at the beginning space on both sides
    }
    line += piece;
  }
  lines.push_back(line);
  return lines;
}

}  // namespace

const PointedSymbol* pointed_symbol() {
  const auto& pointed = context_local<Pointed>();
  return pointed.frame == ImGui::GetFrameCount() ? &pointed.symbol : nullptr;
}

PointedSymbol first_symbol(const std::string& latex) {
  KeptFormula& found = layout(latex, readable);
  if (!found.formula || marks_of(found).empty()) return {};
  return {found.marks->front().letter, found.marks->front().symbol};
}

std::vector<Rectangle> symbol_places(const std::string& latex, float size_px,
                                     const std::vector<std::string>& symbols) {
  if (!is_drawn(size_px)) return {};
  std::vector<std::string> wanted;
  for (const std::string& symbol : symbols) {
    KeptFormula& alone = layout(symbol, readable);
    if (!alone.formula) continue;
    for (const FormulaMark& mark : marks_of(alone)) wanted.push_back(mark.symbol);
  }
  std::vector<Rectangle> places;
  KeptFormula& found = layout(latex, size_px * density());
  if (!found.formula || wanted.empty()) return places;
  for (const FormulaMark& mark : marks_of(found)) {
    if (is_among(mark.symbol, wanted))
      places.push_back({mark.where.minimum / density(), mark.where.maximum / density()});
  }
  return places;
}

FormulaSize measure_formula(const std::string& latex, float size_px) {
  if (!is_drawn(size_px)) return {};
  const KeptFormula& found = layout(latex, size_px * density());
  return found.formula ? size_of(found.formula->extent()) : source_size(latex, size_px);
}

FormulaSize draw_formula(ImDrawList* list, ImVec2 position, const std::string& latex, float size_px,
                         ImU32 colour) {
  if (!is_drawn(size_px)) return {};
  const KeptFormula& found = layout(latex, size_px * density());
  if (!found.formula) {
    const FormulaSize size = source_size(latex, size_px);
    list->AddText(source_font(), size_px, {position.x, position.y - size.baseline}, colour, latex.c_str());
    return size;
  }
  const FormulaSize size = size_of(found.formula->extent());
  const Picture& shown = picture(*found.formula, latex, size_px * density(), colour);
  const float margin = FormulaExtent::margin / density();
  // Aligned to whole pixels, so that it stays sharp.
  const ImVec2 from(whole(position.x) - margin, whole(position.y) - size.baseline - margin);
  list->AddImage(static_cast<ImTextureID>(shown.texture.name()), from,
                 {from.x + shown.size.x / density(), from.y + shown.size.y / density()});
  point_at({from.x + margin, from.y + margin}, size, latex, size_px);
  return size;
}

int cached_layouts() { return static_cast<int>(context_local<Formulas>().layouts.size()); }

int cached_formulas() { return static_cast<int>(context_local<Formulas>().pictures.size()); }

std::string with_plain_brackets(std::string latex) {
  for (const std::string_view command : {"\\left", "\\right"}) {
    for (std::size_t at = latex.find(command); at != std::string::npos; at = latex.find(command, at + 1)) {
      const std::size_t next = at + command.size();
      if (next < latex.size() && std::string_view("()[]").find(latex[next]) != std::string_view::npos)
        latex.erase(at, command.size());
    }
  }
  return latex;
}

std::vector<std::string> formula_lines(const std::string& latex, float size_px, float width, float indent) {
  if (measure_formula(latex, size_px).width <= width) return {latex};
  std::vector<std::string> lines = filled(latex, places(latex, false), size_px, width, indent);
  const bool fits = std::ranges::all_of(
      lines, [&](const std::string& line) { return measure_formula(line, size_px).width <= width; });
  if (fits) return lines;
  const std::string plain = with_plain_brackets(latex);
  return filled(plain, places(plain, true), size_px, width, indent);
}

}  // namespace palimpsest
