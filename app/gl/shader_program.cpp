#include "app/gl/shader_program.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "app/session/paths.h"
#include "core/base/error.h"

namespace palimpsest {
namespace {

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(fmt::format("the shader '{}' could not be read", file.string()));
  return {std::istreambuf_iterator<char>(stream), {}};
}

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
  const std::string source = read_text(file);
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

}  // namespace

ShaderProgram::ShaderProgram(std::string_view name) {
  // First the paths: nothing is left to free when a file is missing.
  const auto vertex = asset(fmt::format("shaders/{}.vert", name));
  const auto fragment = asset(fmt::format("shaders/{}.frag", name));
  name_ = glCreateProgram();
  try {
    attach(name_, GL_VERTEX_SHADER, vertex);
    attach(name_, GL_FRAGMENT_SHADER, fragment);
    glLinkProgram(name_);
    GLint good = GL_FALSE;
    glGetProgramiv(name_, GL_LINK_STATUS, &good);
    if (good == GL_FALSE) {
      throw Error(fmt::format("the shaders '{}' do not link:\n{}", name,
                              log_of(name_, glGetProgramiv, glGetProgramInfoLog)));
    }
  } catch (...) {
    glDeleteProgram(name_);
    throw;
  }
}

ShaderProgram::~ShaderProgram() { glDeleteProgram(name_); }

int ShaderProgram::uniform(const char* uniform) const {
  const int location = glGetUniformLocation(name_, uniform);
  if (location < 0) throw Error(fmt::format("a shader has no uniform called '{}'", uniform));
  return location;
}

}  // namespace palimpsest
