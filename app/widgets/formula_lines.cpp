#include "app/widgets/formula_lines.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "app/widgets/formula.h"

namespace palimpsest {

namespace {

/// A command with its backslash, or one letter.
std::string_view next_symbol(std::string_view latex) {
  if (latex.front() != '\\') return latex.substr(0, 1);
  std::size_t length = 1;
  while (length < latex.size() && std::isalpha(static_cast<unsigned char>(latex[length])) != 0) ++length;
  return latex.substr(0, std::max<std::size_t>(length, 2));
}

bool is_space(std::string_view symbol) {
  return symbol == " " || symbol == "\\quad" || symbol == "\\qquad" || symbol == "\\," || symbol == "\\;";
}

bool is_sign(std::string_view symbol) {
  return symbol == "=" || symbol == "+" || symbol == "-" || symbol == "\\leftarrow" || symbol == "\\odot";
}

/// The places at which a line may begin: signs that have something before them, and what follows a wide
/// space. `inside_brackets`: those between brackets of one size as well.
std::vector<std::size_t> places(std::string_view latex, bool inside_brackets) {
  std::vector<std::size_t> found;
  int depth = 0;
  bool is_after_sign = true;
  for (std::size_t i = 0; i < latex.size();) {
    const std::string_view symbol = next_symbol(latex.substr(i));
    const bool opens = symbol == "{" || symbol == "\\left" || symbol == "\\begin";
    const bool closes = symbol == "}" || symbol == "\\right" || symbol == "\\end";
    const bool opens_bracket = !inside_brackets && (symbol == "(" || symbol == "[");
    const bool closes_bracket = !inside_brackets && (symbol == ")" || symbol == "]");
    if (opens || opens_bracket) ++depth;
    if (closes || closes_bracket) --depth;
    if (depth == 0 && is_sign(symbol) && !is_after_sign) found.push_back(i);
    if (depth == 0 && (symbol == "\\quad" || symbol == "\\qquad") && i + symbol.size() < latex.size())
      found.push_back(i + symbol.size());
    if (!is_space(symbol)) is_after_sign = is_sign(symbol) || symbol == "(" || symbol == "[";
    // \left and \right stand with their bracket.
    const bool is_sized = symbol == "\\left" || symbol == "\\right";
    i += symbol.size() + (is_sized && i + symbol.size() < latex.size()
                              ? next_symbol(latex.substr(i + symbol.size())).size()
                              : 0);
  }
  return found;
}

/// With all brackets of one size: a line may end between two of them.
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
      line = "{}";  // a sign at its beginning has room on both sides
    }
    line += piece;
  }
  lines.push_back(line);
  return lines;
}

}  // namespace

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
