#include "app/gl/opengl.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace palimpsest {

void require_opengl() {
#ifndef __EMSCRIPTEN__
  if (const int version = epoxy_gl_version(); !epoxy_is_desktop_gl() || version < 33)
    throw Error(
        fmt::format("OpenGL 3.3 is needed, but this machine offers {}.{}", version / 10, version % 10));
#endif
}

}  // namespace palimpsest
