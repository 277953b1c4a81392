#pragma once

// Included before Dear ImGui's OpenGL backend. It asks for the state that it finds, to set it again in the
// end. A browser answers only when the graphics process has drawn all that came before: a hundred
// milliseconds a frame. Canvas sets what it needs, so the answer may be OpenGL's first state.

#include "app/gl/opengl.h"

inline void first_state(GLenum name, GLint* values) {
  constexpr GLenum polygon_mode = 0x0B40;  // unknown to OpenGL ES
  constexpr GLint fill = 0x1B02;
  switch (name) {
    case GL_ACTIVE_TEXTURE:
      *values = GL_TEXTURE0;
      break;
    case GL_BLEND_SRC_RGB:
    case GL_BLEND_SRC_ALPHA:
      *values = GL_ONE;
      break;
    case GL_BLEND_EQUATION_RGB:
    case GL_BLEND_EQUATION_ALPHA:
      *values = GL_FUNC_ADD;
      break;
    case GL_VIEWPORT:
    case GL_SCISSOR_BOX:
      values[0] = values[1] = values[2] = values[3] = 0;
      break;
    case polygon_mode:
      values[0] = values[1] = fill;
      break;
    case GL_UNPACK_ALIGNMENT:
      *values = 4;
      break;
    case GL_BLEND_DST_RGB:
    case GL_BLEND_DST_ALPHA:
    case GL_CURRENT_PROGRAM:
    case GL_TEXTURE_BINDING_2D:
    case GL_SAMPLER_BINDING:
    case GL_ARRAY_BUFFER_BINDING:
    case GL_VERTEX_ARRAY_BINDING:
    case GL_UNPACK_ROW_LENGTH:
      *values = 0;
      break;
    default:
      glGetIntegerv(name, values);
  }
}

#undef glGetIntegerv
#define glGetIntegerv first_state
#undef glIsEnabled
#define glIsEnabled(capability) GL_FALSE
