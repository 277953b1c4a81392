#include "app/widgets/font_face.h"

#include <fmt/format.h>

#include <map>

#include "core/base/error.h"

namespace palimpsest {
namespace {

struct Library {
  Library() {
    if (FT_Init_FreeType(&library) != 0) throw Error("FreeType, which draws letters, does not start");
  }
  ~Library() { FT_Done_FreeType(library); }  // frees the faces, too
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  FT_Library library = nullptr;
  std::map<std::string, FT_Face> faces;  // by file
};

Library& instance() {
  static Library only;
  return only;
}

/// Whether the face's ASCII glyphs load and are not blank: a truncated file opens, but its missing glyphs are
/// blank.
bool has_its_letters(FT_Face face) {
  for (FT_ULong letter = '!'; letter <= '~'; ++letter) {
    const FT_UInt glyph = FT_Get_Char_Index(face, letter);
    if (glyph == 0) continue;
    if (FT_Load_Glyph(face, glyph, FT_LOAD_NO_SCALE) != 0) return false;
    if (face->glyph->format == FT_GLYPH_FORMAT_OUTLINE && face->glyph->outline.n_points == 0) return false;
  }
  return true;
}

}  // namespace

FT_Library freetype() { return instance().library; }

FT_Face font_face(const std::string& file) {
  auto& faces = instance().faces;
  if (const auto open = faces.find(file); open != faces.end()) return open->second;
  FT_Face face = nullptr;
  const FT_Error failed = FT_New_Face(freetype(), file.c_str(), 0, &face);
  if (failed == FT_Err_Cannot_Open_Resource || failed == FT_Err_Cannot_Open_Stream)
    throw Error(fmt::format("the font '{}' cannot be opened", file));
  if (failed != 0) throw Error(fmt::format("'{}' is not a font", file));
  if (!has_its_letters(face)) {
    FT_Done_Face(face);
    throw Error(fmt::format("the font '{}' is damaged: not all of its letters can be read", file));
  }
  return faces.emplace(file, face).first->second;
}

std::span<const unsigned char> font_bytes(FT_Face face) {
  const FT_Stream stream = face->stream;
  if (stream->base == nullptr) throw Error("FreeType does not keep its fonts in memory");
  return {stream->base, stream->size};
}

int open_font_faces() { return static_cast<int>(instance().faces.size()); }

}  // namespace palimpsest
