#pragma once

#include <ft2build.h>
#include FT_FREETYPE_H

#include <string>

namespace palimpsest {

/// FreeType: one per process, which ends with it and closes the faces.
FT_Library freetype();

/// The face of a font file, one per file however often it is asked for: each maps the file into memory.
/// Throws an Error when the file cannot be opened or is no font.
FT_Face font_face(const std::string& file);

/// How many font files are open.
int open_font_faces();

}  // namespace palimpsest
