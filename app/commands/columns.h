#pragma once

#include <string>
#include <vector>

namespace palimpsest {

inline constexpr std::size_t text_width = 100;

using TextRows = std::vector<std::vector<std::string>>;

/// Rows of cells, each column as wide as its widest cell and two spaces from the next; the last cell of a row
/// is wrapped at text_width. A cell is shown in one line, whatever it holds. Every line starts with `indent`
/// spaces and ends with a newline.
std::string columns(TextRows rows, std::size_t indent = 2);

/// `text` wrapped at text_width, ending with a newline.
std::string paragraph(const std::string& text, std::size_t indent = 0);

/// Writes a text into a file, in the place of what it held. Throws InputError.
void write_text(const std::string& file, const std::string& text);

}  // namespace palimpsest
