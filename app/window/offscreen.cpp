#include "app/window/offscreen.h"

// GL before EGL: the order in which libepoxy's headers know each other.
#include <epoxy/gl.h>
// clang-format off
#include <epoxy/egl.h>
// clang-format on
#include <fmt/format.h>
#include <imgui.h>

#include <array>

#include "core/base/error.h"

namespace palimpsest {
namespace {

// Places where EGL may offer OpenGL without a display, the one without any device first.
std::vector<EGLDisplay> candidate_displays() {
  std::vector<EGLDisplay> displays;
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    displays.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") &&
      epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device")) {
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count) == EGL_TRUE) {
      for (EGLint i = 0; i < count; ++i)
        displays.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, entry(devices, i), nullptr));
    }
  }
  displays.push_back(eglGetDisplay(EGL_DEFAULT_DISPLAY));
  return displays;
}

}  // namespace

/// An OpenGL context that is current while this lives, with no surface of its own.
class SurfacelessContext {
 public:
  SurfacelessContext() {
    for (EGLDisplay display : candidate_displays()) {
      if (display != EGL_NO_DISPLAY && open(display)) return;
    }
    throw Error(fmt::format(
        "pictures cannot be drawn: EGL offers no OpenGL 3.3 here (its last error is {:#x})", eglGetError()));
  }

  ~SurfacelessContext() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
    // The display stays open: it is one per process, and other contexts may live on it.
  }
  SurfacelessContext(const SurfacelessContext&) = delete;
  SurfacelessContext& operator=(const SurfacelessContext&) = delete;

  void make_current() const { eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_); }

 private:
  bool open(EGLDisplay display) {
    constexpr EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
    constexpr EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                                     3,
                                     EGL_CONTEXT_MINOR_VERSION,
                                     3,
                                     EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                     EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                     EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (eglInitialize(display, nullptr, nullptr) == EGL_FALSE ||
        !epoxy_has_egl_extension(display, "EGL_KHR_surfaceless_context") ||
        eglBindAPI(EGL_OPENGL_API) == EGL_FALSE ||
        eglChooseConfig(display, wanted, &config, 1, &count) == EGL_FALSE || count != 1)
      return false;
    display_ = display;
    context_ = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
    if (context_ == EGL_NO_CONTEXT) return false;
    if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_TRUE) return true;
    eglDestroyContext(display, context_);
    return false;
  }

  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
};

double clock_milliseconds(int clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

Offscreen::Offscreen(int width, int height)
    : context_(std::make_unique<SurfacelessContext>()), width_(width), height_(height) {}

Offscreen::~Offscreen() { context_->make_current(); }

void Offscreen::resize(int width, int height) {
  width_ = width;
  height_ = height;
}

void Offscreen::prepare() {
  context_->make_current();
  canvas_.make_current();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width_), static_cast<float>(height_));
  io.DeltaTime = 1.0F / 60.0F;
}

void Offscreen::pass(const std::function<void()>& draw, bool seen) {
  prepare();
  canvas_.build(width_, height_, draw);
  canvas_.fill(seen);
}

FrameTime Offscreen::time(const std::function<void()>& draw, bool seen) {
  prepare();
  const double processor = clock_milliseconds(CLOCK_THREAD_CPUTIME_ID);
  const double start = clock_milliseconds(CLOCK_MONOTONIC);
  canvas_.build(width_, height_, draw);
  const double built = clock_milliseconds(CLOCK_MONOTONIC);
  const double used = clock_milliseconds(CLOCK_THREAD_CPUTIME_ID) - processor;
  canvas_.fill(seen);
  glFinish();
  return {.processor = used, .elapsed = built - start, .driver = clock_milliseconds(CLOCK_MONOTONIC) - built};
}

Image Offscreen::render(const std::function<void()>& draw, int frames) {
  for (int frame = 1; frame < frames; ++frame) pass(draw);
  pass(draw, true);
  return canvas_.read_pixels();
}

}  // namespace palimpsest
