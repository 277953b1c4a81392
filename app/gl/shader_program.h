#pragma once

#include <string_view>
#include <utility>

namespace palimpsest {

/// A vertex and a fragment shader, linked; freed while the OpenGL context is current.
class ShaderProgram {
 public:
  /// Compiles "shaders/NAME.vert" and "shaders/NAME.frag". Throws an Error with the compiler's log and the
  /// numbered source when one does not compile.
  explicit ShaderProgram(std::string_view name);
  ~ShaderProgram();
  ShaderProgram(const ShaderProgram&) = delete;
  ShaderProgram& operator=(const ShaderProgram&) = delete;

  /// OpenGL's name.
  unsigned name() const { return name_; }

  /// Where a uniform is; throws an Error when the program does not use it.
  int uniform(const char* uniform) const;

 private:
  unsigned name_ = 0;
};

}  // namespace palimpsest
