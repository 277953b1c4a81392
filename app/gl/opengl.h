#pragma once

// The only way to OpenGL: 3.3 by epoxy on a desktop, its subset WebGL 2 (OpenGL ES 3) in a browser.

#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>
#else
#include <epoxy/gl.h>
#endif

namespace palimpsest {

/// The first line of a shader.
#ifdef __EMSCRIPTEN__
inline constexpr const char* shader_version = "#version 300 es";
#else
inline constexpr const char* shader_version = "#version 330 core";
#endif

}  // namespace palimpsest
