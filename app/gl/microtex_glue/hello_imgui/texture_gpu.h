#pragma once

// The formula renderer keeps its pictures in this type of a library that we do not build. This is the part of
// it that the renderer uses, on OpenGL.

#include <imgui.h>

#include <memory>

// NOLINTBEGIN(readability-identifier-naming): the names are the renderer's.
namespace HelloImGui {

/// A picture on the graphics card, freed with its last reference while the OpenGL context is current.
class TextureGpu {
 public:
  int Width = 0;
  int Height = 0;

  TextureGpu() = default;
  TextureGpu(const TextureGpu&) = delete;
  TextureGpu& operator=(const TextureGpu&) = delete;
  virtual ~TextureGpu() = default;

  /// What ImGui::Image takes.
  virtual ImTextureID TextureID() = 0;
};

using TextureGpuPtr = std::shared_ptr<TextureGpu>;

/// Uploads `width * height` pixels of 8-bit RGBA.
TextureGpuPtr CreateTextureGpuFromRgbaData(const unsigned char* rgba, int width, int height);

}  // namespace HelloImGui
// NOLINTEND(readability-identifier-naming)
