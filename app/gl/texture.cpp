#include "app/gl/texture.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <cassert>
#include <cstddef>

#include "core/base/error.h"

namespace palimpsest {

Texture::~Texture() {
  if (name_ != 0) glDeleteTextures(1, &name_);
}

void Texture::upload_numbers(std::span<const float> numbers, int width, int height) {
  assert(numbers.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  upload(GL_R32F, GL_RED, GL_FLOAT, numbers.data(), width, height);
}

void Texture::upload_pixels(std::span<const std::uint8_t> rgba, int width, int height) {
  assert(rgba.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  upload(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data(), width, height);
}

void Texture::upload(int format_on_card, unsigned format, unsigned type, const void* data, int width,
                     int height) {
  GLint previous = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &previous);
  if (name_ == 0) glGenTextures(1, &name_);
  glBindTexture(GL_TEXTURE_2D, name_);
  for (const GLenum direction : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) {
    glTexParameteri(GL_TEXTURE_2D, direction, GL_CLAMP_TO_EDGE);
  }
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER}) {
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  }
  glTexImage2D(GL_TEXTURE_2D, 0, format_on_card, width, height, 0, format, type, data);
  GLint taken = 0;
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &taken);
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(previous));
  if (taken != width) {
    throw Error(fmt::format("the graphics card has no room for a picture of {} by {} pixels", width, height));
  }
}

}  // namespace palimpsest
