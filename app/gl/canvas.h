#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

struct ImGuiContext;

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

/// The part of a picture between two corners, without the right column and the lower row; may be empty.
Image cropped(const Image& image, int left, int top, int right, int bottom);

/// A PNG file's bytes. Throws Error.
std::vector<std::byte> png_of(const Image& image);

/// Writes a PNG file, whole or not at all; throws an Error that names the file when it cannot be written.
void write_png(const Image& image, const std::filesystem::path& file);

/// Dear ImGui drawn by OpenGL 3.3 into a picture of its own, on whatever context is current. The window and
/// the off-screen renderer both draw through it, so that what they show is the same and can be read back at
/// any time. Needs the same OpenGL context to be current in every call, the destructor included.
class Canvas {
 public:
  /// Creates the Dear ImGui context and its renderer; throws an Error when OpenGL is older than 3.3.
  Canvas();
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  /// The two halves of a frame of `width` by `height` pixels: build() runs the program up to Dear ImGui's
  /// draw lists, fill() draws them by OpenGL. The caller sets Dear ImGui's display size and time. A frame
  /// that is not `seen` is not filled, as this takes most of the time.
  void build(int width, int height, const std::function<void()>& draw);
  void fill(bool seen);

  /// Copies the last frame to the framebuffer 0 of the current context.
  void show() const;

  /// The last frame.
  Image read_pixels() const;

  /// Makes this canvas's Dear ImGui context the current one.
  void make_current() const;

 private:
  void resize(int width, int height);

  ImGuiContext* context_ = nullptr;
  unsigned framebuffer_ = 0;
  unsigned texture_ = 0;
  int width_ = 0;
  int height_ = 0;
};

}  // namespace palimpsest
