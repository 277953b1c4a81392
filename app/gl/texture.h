#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace palimpsest {

/// A picture or table on the graphics card, freed while the OpenGL context is current. Textures are read
/// texel by texel (nearest) and not repeated.
class Texture {
 public:
  Texture() = default;
  ~Texture();
  Texture(Texture&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  Texture& operator=(Texture&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }

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

}  // namespace palimpsest
