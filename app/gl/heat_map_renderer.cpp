#include "app/gl/heat_map_renderer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "app/gl/opengl.h"
#include "app/session/paths.h"
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
  GLint most = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
  if (width > most || height > most)
    throw Error(fmt::format("the graphics card has no room for a picture of {} by {} pixels", width, height));
  if (name_ == 0) glGenTextures(1, &name_);
  glBindTexture(GL_TEXTURE_2D, name_);
  for (const GLenum direction : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, direction, GL_CLAMP_TO_EDGE);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, format_on_card, width, height, 0, format, type, data);
  glBindTexture(GL_TEXTURE_2D, 0);
}

namespace {

std::string numbered(const std::string& source) {
  std::istringstream lines(source);
  std::string result;
  int number = 0;
  for (std::string line; std::getline(lines, line);) result += fmt::format("{:4}  {}\n", ++number, line);
  return result;
}

template <class GetLength, class GetLog>
std::string log_of(GLuint object, GetLength get_length, GetLog get_log) {
  GLint length = 0;
  get_length(object, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(length), '\0');
  get_log(object, length, &length, log.data());
  log.resize(static_cast<std::size_t>(length));
  return log;
}

// Attaches a shader to the program, which then keeps it.
void attach(GLuint program, GLenum kind, const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(fmt::format("the shader '{}' could not be read", file.string()));
  const std::string source =
      std::string(shader_version) + "\n" + std::string(std::istreambuf_iterator<char>(stream), {});
  const char* const text = source.c_str();
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint good = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good == GL_FALSE) {
    const std::string log = log_of(shader, glGetShaderiv, glGetShaderInfoLog);
    glDeleteShader(shader);
    throw Error(
        fmt::format("the shader '{}' does not compile:\n{}\n{}", file.string(), log, numbered(source)));
  }
  glAttachShader(program, shader);
  glDeleteShader(shader);
}

/// "shaders/heat_map.vert" and "shaders/heat_map.frag", linked.
GLuint linked_shaders() {
  // First the paths: nothing is left to free when a file is missing.
  const auto vertex = asset("shaders/heat_map.vert");
  const auto fragment = asset("shaders/heat_map.frag");
  const GLuint program = glCreateProgram();
  try {
    attach(program, GL_VERTEX_SHADER, vertex);
    attach(program, GL_FRAGMENT_SHADER, fragment);
    glLinkProgram(program);
    GLint good = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (good == GL_FALSE) {
      throw Error(fmt::format("the shaders 'heat_map' do not link:\n{}",
                              log_of(program, glGetProgramiv, glGetProgramInfoLog)));
    }
  } catch (...) {
    glDeleteProgram(program);
    throw;
  }
  return program;
}

constexpr int entries = 2 * colour_steps + 2;  // every step, then NaN

void upload_colours(Texture& texture, const ColourMap& map) {
  std::vector<std::uint8_t> rgba;
  for (const ColourMap& each : {map, faded(map, HeatMapRenderer::strength_of_lines)}) {
    for (int step = -colour_steps; step <= nan_step; ++step) {
      const Rgb8 colour = colour_of_step(each, step);
      rgba.insert(rgba.end(), {colour.red, colour.green, colour.blue, 255});
    }
  }
  texture.upload_pixels(rgba, entries, 2);
}

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

HeatMapRenderer::HeatMapRenderer() : program_(linked_shaders()) {
  for (const char* name : {"numbers", "colours", "half_steps_per_unit", "origin", "size", "height", "line",
                           "hatch_distance", "hatch_line", "hatch_paper", "hatch_ink"}) {
    const int location = uniforms_[name] = glGetUniformLocation(program_, name);
    if (location >= 0) continue;
    glDeleteProgram(program_);
    throw Error(fmt::format("a shader has no uniform called '{}'", name));
  }
  glGenVertexArrays(1, &no_vertices_);
}

HeatMapRenderer::~HeatMapRenderer() {
  glDeleteVertexArrays(1, &no_vertices_);
  glDeleteProgram(program_);
}

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
  glUseProgram(program_);
  bind(0, pass.numbers);
  bind(1, pass.dim ? dim_.name() : bright_.name());
  glUniform1i(uniforms_.at("numbers"), 0);
  glUniform1i(uniforms_.at("colours"), 1);
  glUniform1f(uniforms_.at("half_steps_per_unit"), half_steps_per_unit(pass.range));
  glUniform2i(uniforms_.at("origin"), rectangle.x, rectangle.y);
  glUniform2i(uniforms_.at("size"), rectangle.width, rectangle.height);
  glUniform1i(uniforms_.at("height"), pass.picture_height);
  glUniform1i(uniforms_.at("line"), pass.line);
  glUniform1i(uniforms_.at("hatch_distance"), pass.hatch.distance);
  glUniform1i(uniforms_.at("hatch_line"), pass.hatch.line);
  set_colour(uniforms_.at("hatch_paper"), pass.hatch.paper);
  set_colour(uniforms_.at("hatch_ink"), pass.hatch.ink);
  glBindVertexArray(no_vertices_);
  glDisable(GL_BLEND);
  glEnable(GL_SCISSOR_TEST);
  glScissor(visible.x, pass.picture_height - visible.y - visible.height, visible.width, visible.height);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  bind(1, 0);
  bind(0, 0);
}

}  // namespace palimpsest
