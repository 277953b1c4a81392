#include "app/gl/heat_map_renderer.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace palimpsest {
namespace {

constexpr int entries = 2 * colour_steps + 2;  // every step, then NaN

void append_colours(std::vector<std::uint8_t>& rgba, const ColourMap& map) {
  for (int step = -colour_steps; step <= nan_step; ++step) {
    const Rgb8 colour = colour_of_step(map, step);
    rgba.insert(rgba.end(), {colour.red, colour.green, colour.blue, 255});
  }
}

void upload_colours(Texture& texture, const ColourMap& map) {
  std::vector<std::uint8_t> rgba;
  append_colours(rgba, map);
  append_colours(rgba, faded(map, HeatMapRenderer::strength_of_lines));
  texture.upload_pixels(rgba, entries, 2);
}

GLint integer(GLenum name) {
  GLint value = 0;
  glGetIntegerv(name, &value);
  return value;
}

GLuint object(GLenum name) { return static_cast<GLuint>(integer(name)); }

void enable(GLenum capability, bool on) { on ? glEnable(capability) : glDisable(capability); }

// What a pass changes of OpenGL's state; put back at the end of the scope.
class SavedState {
 public:
  SavedState() {
    glGetIntegerv(GL_SCISSOR_BOX, scissor_.data());
    for (std::size_t unit = 0; unit < textures_.size(); ++unit) {
      glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
      textures_[unit] = object(GL_TEXTURE_BINDING_2D);
      samplers_[unit] = object(GL_SAMPLER_BINDING);
    }
  }

  ~SavedState() {
    for (std::size_t unit = 0; unit < textures_.size(); ++unit) {
      glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
      glBindTexture(GL_TEXTURE_2D, textures_[unit]);
      glBindSampler(static_cast<GLuint>(unit), samplers_[unit]);
    }
    glActiveTexture(active_texture_);
    glUseProgram(program_);
    glBindVertexArray(vertex_array_);
    glScissor(scissor_[0], scissor_[1], scissor_[2], scissor_[3]);
    enable(GL_SCISSOR_TEST, scissor_test_);
    enable(GL_BLEND, blend_);
  }

  SavedState(const SavedState&) = delete;
  SavedState& operator=(const SavedState&) = delete;

 private:
  GLenum active_texture_ = object(GL_ACTIVE_TEXTURE);
  GLuint program_ = object(GL_CURRENT_PROGRAM);
  GLuint vertex_array_ = object(GL_VERTEX_ARRAY_BINDING);
  bool scissor_test_ = glIsEnabled(GL_SCISSOR_TEST) == GL_TRUE;
  bool blend_ = glIsEnabled(GL_BLEND) == GL_TRUE;
  std::array<GLint, 4> scissor_{};
  std::array<GLuint, 2> textures_{};
  std::array<GLuint, 2> samplers_{};
};

PixelRectangle intersection(const PixelRectangle& a, const PixelRectangle& b) {
  const int x = std::max(a.x, b.x);
  const int y = std::max(a.y, b.y);
  return {.x = x,
          .y = y,
          .width = std::min(a.x + a.width, b.x + b.width) - x,
          .height = std::min(a.y + a.height, b.y + b.height) - y};
}

void bind(int unit, GLuint texture) {
  glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
  glBindTexture(GL_TEXTURE_2D, texture);
  glBindSampler(static_cast<GLuint>(unit), 0);  // Dear ImGui's sampler would read between texels
}

void set_colour(GLint uniform, Rgb8 colour) {
  const auto part = [](std::uint8_t byte) { return static_cast<float>(byte) / 255; };
  glUniform3f(uniform, part(colour.red), part(colour.green), part(colour.blue));
}

}  // namespace

HeatMapRenderer::HeatMapRenderer()
    : program_("heat_map"),
      uniforms_{.numbers = program_.uniform("numbers"),
                .colours = program_.uniform("colours"),
                .half_steps_per_unit = program_.uniform("half_steps_per_unit"),
                .origin = program_.uniform("origin"),
                .size = program_.uniform("size"),
                .height = program_.uniform("height"),
                .line = program_.uniform("line"),
                .hatch_distance = program_.uniform("hatch_distance"),
                .hatch_line = program_.uniform("hatch_line"),
                .hatch_paper = program_.uniform("hatch_paper"),
                .hatch_ink = program_.uniform("hatch_ink")} {
  glGenVertexArrays(1, &no_vertices_);
}

HeatMapRenderer::~HeatMapRenderer() { glDeleteVertexArrays(1, &no_vertices_); }

void HeatMapRenderer::set_colours(const ColourMap& map) {
  if (map_ == map) return;
  upload_colours(bright_, map);
  upload_colours(dim_, faded(map, strength_when_dim));
  map_ = map;
}

void HeatMapRenderer::draw(const HeatMapPass& pass) const noexcept {
  const PixelRectangle& rectangle = pass.rectangle;
  const PixelRectangle visible = intersection(rectangle, pass.clip);
  if (visible.width <= 0 || visible.height <= 0) return;
  const SavedState saved;
  glUseProgram(program_.name());
  bind(0, pass.numbers);
  bind(1, pass.dim ? dim_.name() : bright_.name());
  glUniform1i(uniforms_.numbers, 0);
  glUniform1i(uniforms_.colours, 1);
  glUniform1f(uniforms_.half_steps_per_unit, half_steps_per_unit(pass.range));
  glUniform2i(uniforms_.origin, rectangle.x, rectangle.y);
  glUniform2i(uniforms_.size, rectangle.width, rectangle.height);
  glUniform1i(uniforms_.height, pass.picture_height);
  glUniform1i(uniforms_.line, pass.line);
  glUniform1i(uniforms_.hatch_distance, pass.hatch.distance);
  glUniform1i(uniforms_.hatch_line, pass.hatch.line);
  set_colour(uniforms_.hatch_paper, pass.hatch.paper);
  set_colour(uniforms_.hatch_ink, pass.hatch.ink);
  glBindVertexArray(no_vertices_);
  glDisable(GL_BLEND);
  glEnable(GL_SCISSOR_TEST);
  glScissor(visible.x, pass.picture_height - visible.y - visible.height, visible.width, visible.height);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

}  // namespace palimpsest
