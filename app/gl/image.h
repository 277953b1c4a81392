#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace palimpsest {

/// A picture: rows from top to bottom, 8-bit red, green and blue per pixel, no padding.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  // [height, width, 3]

  /// The three bytes of the pixel in column x and row y.
  const std::uint8_t* pixel(int x, int y) const {
    return rgb.data() +
           (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 3;
  }
};

/// The part of a picture from one corner to before another; nothing where it has no extent.
Image cropped(const Image& image, int left, int top, int right, int bottom);

/// Writes a PNG file, whole or not at all; throws an Error that names the file when it cannot be written.
void write_png(const Image& image, const std::filesystem::path& file);

}  // namespace palimpsest
