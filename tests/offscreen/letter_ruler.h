#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "app/widgets/text.h"

/// Letters of one width, so that a layout can be checked without a screen.
namespace palimpsest::testing {

inline constexpr float letter = 0.55F;  // the width of a letter, in heights of it

/// Letters of one width; a command of LaTeX counts as one.
inline float letters_of(const std::string& text) {
  float count = 0;
  bool in_command = false;
  for (const char character : text) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(character)) != 0;
    if (character == '\\') in_command = true;
    if (in_command && is_letter) continue;
    if (in_command && character != '\\') in_command = false;
    if (character != '{' && character != '}' && character != '^' && character != '_') ++count;
  }
  return count + (in_command ? 1 : 0);
}

/// A ruler of such letters.
inline Ruler ruler_of(float scale) {
  const auto size_of = [scale](style::Text text) {
    return std::round((text == style::Text::body ? 14 : 12) * scale);
  };
  const auto words = [size_of](const std::string& text, style::Text kind) {
    return ImVec2(letter * size_of(kind) * static_cast<float>(text.size()), size_of(kind) * 1.2F);
  };
  return {.scale = scale,
          .formula =
              [](const std::string& latex, float size) {
                return FormulaSize{std::ceil(letter * size * letters_of(latex)), size, size * 0.8F};
              },
          .number =
              [scale](const std::string& digits, float size) {
                const float height = std::round(size * scale);
                return ImVec2(letter * height * static_cast<float>(digits.size()), height);
              },
          .words = words,
          .shortened =
              [words](const std::string& text, style::Text kind, float width) {
                std::string shown = text;
                while (!shown.empty() && words(shown, kind).x > width) shown.pop_back();
                return shown;
              },
          .lines =
              [size_of](const std::string& text, style::Text kind, float width) {
                const auto most = static_cast<std::size_t>(std::max(width / (letter * size_of(kind)), 1.0F));
                std::vector<std::string> lines;
                for (std::size_t from = 0; from < text.size(); from += most)
                  lines.push_back(text.substr(from, most));
                return lines;
              }};
}

}  // namespace palimpsest::testing
