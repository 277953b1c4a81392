#include "app/commands/columns.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

/// Code points: the bytes that do not continue another.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Appends `text` to a line of which `used` columns are taken, going on below where it does not fit.
void append_wrapped(std::string& lines, std::string_view text, std::size_t used) {
  std::size_t filled = used;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (filled > used && filled + 1 + width(word) > text_width) {
      lines += '\n' + std::string(used, ' ');
      filled = used;
    } else if (filled > used) {
      lines += ' ';
      ++filled;
    }
    lines += word;
    filled += width(word);
  }
}

}  // namespace

std::string columns(TextRows rows, std::size_t indent) {
  for (auto& row : rows) std::ranges::transform(row, row.begin(), one_line);
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string lines;
  for (const auto& row : rows) {
    std::size_t used = indent;
    lines.append(indent, ' ');
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      lines += row[i] + std::string(widths[i] + 2 - width(row[i]), ' ');
      used += widths[i] + 2;
    }
    if (!row.empty()) append_wrapped(lines, row.back(), used);
    lines.erase(lines.find_last_not_of(' ') + 1);
    lines += '\n';
  }
  return lines;
}

std::string paragraph(const std::string& text, std::size_t indent) { return columns({{text}}, indent); }

void write_text(const std::string& file, const std::string& text) {
  replace_file(file, std::as_bytes(std::span(text)));
}

}  // namespace palimpsest
