#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/colour_map.h"

namespace palimpsest {

/// A picture or table on the graphics card, freed while the OpenGL context is current. Textures are read
/// texel by texel (nearest) and not repeated.
class Texture {
 public:
  Texture() = default;
  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  /// Replaces the contents by `width * height` numbers, row by row. Throws an Error when OpenGL does not take
  /// them: they are too many.
  void upload_numbers(std::span<const float> numbers, int width, int height);

  /// The same with pixels of 8-bit red, green, blue and alpha.
  void upload_pixels(std::span<const std::uint8_t> rgba, int width, int height);

  /// OpenGL's name; 0 before the first upload.
  unsigned name() const { return name_; }

 private:
  void upload(int format_on_card, unsigned format, unsigned type, const void* data, int width, int height);

  unsigned name_ = 0;
};

/// Pixels of the picture, counted from its upper left corner.
struct PixelRectangle {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

/// Lines that rise from the left to the right, in pixels.
struct Hatch {
  int distance = 0;  // from one to the next; 0: there are none
  int line = 1;      // their width
  Rgb8 paper;
  Rgb8 ink;
};

/// Where and how a table of numbers is drawn.
struct HeatMapPass {
  unsigned numbers = 0;  // a texture with one number per cell
  int picture_height = 0;
  PixelRectangle rectangle;  // the cells are stretched to fill it
  PixelRectangle clip;       // nothing is drawn outside
  float range = 1;
  int line = 0;  // width of a line between cells in pixels; 0: none
  bool dim = false;
  Hatch hatch = {};  // in place of -inf
};

/// Draws tables of numbers through a colour map into the current framebuffer, exactly as
/// core/base/colour_map.h says, except for -inf where it is hatched. A cell's lines are at its left and upper
/// edges; their colour is halfway between the cell's and the background.
class HeatMapRenderer {
 public:
  static constexpr float strength_of_lines = 0.55F;
  static constexpr float strength_when_dim = 0.35F;

  /// Throws an Error when the shaders do not compile or lack a uniform.
  HeatMapRenderer();
  ~HeatMapRenderer();
  HeatMapRenderer(const HeatMapRenderer&) = delete;
  HeatMapRenderer& operator=(const HeatMapRenderer&) = delete;

  /// The colours from now on.
  void set_colours(const ColourMap& map);

  /// Runs while Dear ImGui renders, which must restore its OpenGL state afterwards. It cannot throw, as an
  /// error could not be reported there.
  void draw(const HeatMapPass& pass) const noexcept;

 private:
  unsigned program_ = 0;                      // its shaders, linked
  std::map<std::string_view, int> uniforms_;  // where they are
  unsigned no_vertices_ = 0;
  std::optional<ColourMap> map_;
  Texture bright_;
  Texture dim_;
};

}  // namespace palimpsest
