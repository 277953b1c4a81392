#include "app/gl/canvas.h"

#include <imgui.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>  // for room for hooks and the queue of events that Dear ImGui has not yet seen

#include <algorithm>

#include "app/gl/opengl.h"
#include "core/base/matrix.h"
#include "core/io/file.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace palimpsest {

namespace {

/// The number of events for one frame: up to a change of modifiers after a key was pressed. Dear ImGui reads
/// modifiers once a frame, after all events, and would treat a quick Ctrl+P as P.
int events_of_one_frame(const ImVector<ImGuiInputEvent>& queue) {
  bool pressed = false;
  for (int i = 0; i < queue.Size; ++i) {
    const ImGuiInputEvent& event = queue[i];
    if (event.Type != ImGuiInputEventType_Key) continue;
    const bool is_modifier = (event.Key.Key & ImGuiMod_Mask_) != 0;
    if (is_modifier && pressed) return i;
    if (!is_modifier && !ImGui::IsLRModKey(event.Key.Key) && event.Key.Down) pressed = true;
  }
  return queue.Size;
}

/// ImGui::NewFrame() that keeps the order of input between two frames: a key has the modifiers that were held
/// when it was pressed, however early they were released. Later events wait for the next frame.
void new_frame() {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  const int seen = events_of_one_frame(queue);
  const std::vector<ImGuiInputEvent> later(queue.begin() + seen, queue.end());
  queue.resize(seen);
  ImGui::NewFrame();
  for (const ImGuiInputEvent& event : later) queue.push_back(event);
}

// Every context_local() adds a hook, and may do so while Dear ImGui goes through them: the test engine runs
// tests in one. They must not move then.
constexpr int most_hooks = 512;

}  // namespace

Canvas::Canvas() {
#ifndef __EMSCRIPTEN__  // a browser has WebGL 2 or no context
  if (const int version = epoxy_gl_version(); !epoxy_is_desktop_gl() || version < 33)
    throw Error(
        fmt::format("OpenGL 3.3 is needed, but this machine offers {}.{}", version / 10, version % 10));
#endif
  IMGUI_CHECKVERSION();
  context_ = ImGui::CreateContext();
  context_->Hooks.reserve(most_hooks);
  make_current();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // settings are ours to keep
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard | ImGuiConfigFlags_DockingEnable;
  ImGui_ImplOpenGL3_Init(shader_version);
  glGenFramebuffers(1, &framebuffer_);
}

Canvas::~Canvas() {
  make_current();
  glDeleteTextures(1, &texture_);
  glDeleteFramebuffers(1, &framebuffer_);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void Canvas::make_current() const { ImGui::SetCurrentContext(context_); }

void Canvas::resize(int width, int height) {
  if (width == width_ && height == height_) return;
  width_ = width;
  height_ = height;
  glDeleteTextures(1, &texture_);
  glGenTextures(1, &texture_);
  glBindTexture(GL_TEXTURE_2D, texture_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glBindTexture(GL_TEXTURE_2D, 0);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    throw Error(fmt::format("OpenGL cannot draw into a picture of {} by {} pixels", width, height));
}

void Canvas::build(int width, int height, const std::function<void()>& draw) {
  make_current();
  resize(std::max(width, 1), std::max(height, 1));
  ImGui_ImplOpenGL3_NewFrame();
  new_frame();
  draw();
  ImGui::Render();
}

void Canvas::fill(bool seen) {
  if (!seen) {
    for (ImTextureData* texture : *ImGui::GetDrawData()->Textures) {
      if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
    }
    return;
  }
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, width_, height_);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Canvas::show() const {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  glDisable(GL_SCISSOR_TEST);
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

Image Canvas::read_pixels() const {
  Image image{.width = width_, .height = height_, .rgb = {}};
  if (width_ == 0) return image;                   // nothing was drawn yet
  Matrix<std::uint8_t> rgba(height_, width_ * 4);  // WebGL reads nothing else
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  image.rgb.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * 3);
  std::uint8_t* to = image.rgb.data();
  for (int y = height_ - 1; y >= 0; --y) {  // OpenGL's first row is the lowest one
    for (int x = 0; x < width_; ++x) to = std::copy_n(&rgba(y, 4 * x), 3, to);
  }
  return image;
}

Image cropped(const Image& image, int left, int top, int right, int bottom) {
  Image part;
  part.width = std::max(right - left, 0);
  part.height = std::max(bottom - top, 0);
  for (int y = top; y < top + part.height && part.width > 0; ++y)
    part.rgb.insert(part.rgb.end(), image.pixel(left, y), image.pixel(right - 1, y) + 3);
  return part;
}

std::vector<std::byte> png_of(const Image& image) {
  std::vector<std::byte> bytes;
  const auto append = [](void* context, void* data, int size) {
    const auto* first = static_cast<const std::byte*>(data);
    auto& all = *static_cast<std::vector<std::byte>*>(context);
    all.insert(all.end(), first, first + size);
  };
  if (stbi_write_png_to_func(append, &bytes, image.width, image.height, 3, image.rgb.data(),
                             image.width * 3) == 0) {
    throw Error("the picture could not be made into a PNG");
  }
  return bytes;
}

void write_png(const Image& image, const std::filesystem::path& file) { replace_file(file, png_of(image)); }

}  // namespace palimpsest
