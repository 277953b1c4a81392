#include "hello_imgui/texture_gpu.h"

#include <epoxy/gl.h>

namespace HelloImGui {
namespace {

class GlTexture : public TextureGpu {
 public:
  GlTexture(const unsigned char* rgba, int width, int height) {
    Width = width;
    Height = height;
    GLint previous = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &previous);
    glGenTextures(1, &name_);
    glBindTexture(GL_TEXTURE_2D, name_);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(previous));
  }

  ~GlTexture() override { glDeleteTextures(1, &name_); }

  ImTextureID TextureID() override { return name_; }

 private:
  GLuint name_ = 0;
};

}  // namespace

TextureGpuPtr CreateTextureGpuFromRgbaData(const unsigned char* rgba, int width, int height) {
  return std::make_shared<GlTexture>(rgba, width, height);
}

}  // namespace HelloImGui
