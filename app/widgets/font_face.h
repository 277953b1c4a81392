#pragma once

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_SIZES_H

#include <span>
#include <string>

namespace palimpsest {

/// FreeType: one per process; it is freed with its faces when the process ends.
FT_Library freetype();

/// The face of a font file, shared by all callers, as each face maps its file into memory. Throws an Error
/// when the file cannot be opened or is no font.
FT_Face font_face(const std::string& file);

/// The file that a face was opened from, as FreeType has mapped it; stays until the process ends.
std::span<const unsigned char> font_bytes(FT_Face face);

/// How many font files are open.
int open_font_faces();

}  // namespace palimpsest
