// The window of a page: its canvas. The page (site/page.js) calls what stands at the end.

#include "app/window/window.h"

#include <emscripten/em_js.h>
#include <emscripten/emscripten.h>
#include <emscripten/html5.h>
#include <imgui.h>
#include <imgui_internal.h>  // for the item that a finger holds

#include <atomic>
#include <cmath>

#include "app/gl/opengl.h"
#include "app/window/pace.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

struct Page {
  WindowOptions options;
  EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = 0;
  std::unique_ptr<Canvas> canvas = nullptr;
  std::function<void()> frame = {};               // draws one
  std::vector<std::filesystem::path> lying = {};  // what was dropped and is not handed over yet
  std::string clipboard = {};
  int width = 1;  // in pixels
  int height = 1;
  float ratio = 1;                          // pixels of the screen per pixel of the page
  double last_time = emscripten_get_now();  // of a frame, in milliseconds
  bool is_closed = false;
  int cursor = 0;
  std::atomic<bool> redraw = true;
  Pace pace = {};
};

Page* page = nullptr;  // there is one

// Each takes or gives strings of the page's own memory.
EM_JS(void, show_cursor, (const char* name),
      { document.getElementById("canvas").style.cursor = UTF8ToString(name); });
EM_JS(void, copy_text, (const char* text), { globalThis.page.copy(UTF8ToString(text)); });
EM_JS(void, take_text, (bool takes, float x, float y), { globalThis.page.takeText(takes, x, y); });
EM_JS(void, begin_frames, (), { globalThis.page.begin(); });
EM_JS(void, show_failure, (const char* reason), { globalThis.page.fail(UTF8ToString(reason)); });

const char* name_of_cursor(int cursor) {
  static constexpr std::pair<int, const char*> names[] = {{ImGuiMouseCursor_None, "none"},
                                                          {ImGuiMouseCursor_TextInput, "text"},
                                                          {ImGuiMouseCursor_ResizeAll, "move"},
                                                          {ImGuiMouseCursor_ResizeNS, "ns-resize"},
                                                          {ImGuiMouseCursor_ResizeEW, "ew-resize"},
                                                          {ImGuiMouseCursor_ResizeNESW, "nesw-resize"},
                                                          {ImGuiMouseCursor_ResizeNWSE, "nwse-resize"},
                                                          {ImGuiMouseCursor_Hand, "pointer"},
                                                          {ImGuiMouseCursor_NotAllowed, "not-allowed"}};
  for (const auto& [each, name] : names) {
    if (each == cursor) return name;
  }
  return "default";
}

/// The key of a keyboard event: the letter or digit that it writes where it writes one, else its place.
ImGuiKey key_of(std::string_view written, std::string_view code) {
  if (written.size() == 1) {
    const char letter = written[0];
    if (letter >= 'a' && letter <= 'z') return static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'a'));
    if (letter >= 'A' && letter <= 'Z') return static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'A'));
    if (letter >= '0' && letter <= '9' && !code.starts_with("Numpad"))
      return static_cast<ImGuiKey>(ImGuiKey_0 + (letter - '0'));
  }
  static constexpr std::pair<std::string_view, ImGuiKey> keys[] = {
      {"ArrowLeft", ImGuiKey_LeftArrow},
      {"ArrowRight", ImGuiKey_RightArrow},
      {"ArrowUp", ImGuiKey_UpArrow},
      {"ArrowDown", ImGuiKey_DownArrow},
      {"ControlLeft", ImGuiKey_LeftCtrl},
      {"ControlRight", ImGuiKey_RightCtrl},
      {"ShiftLeft", ImGuiKey_LeftShift},
      {"ShiftRight", ImGuiKey_RightShift},
      {"AltLeft", ImGuiKey_LeftAlt},
      {"AltRight", ImGuiKey_RightAlt},
      {"MetaLeft", ImGuiKey_LeftSuper},
      {"MetaRight", ImGuiKey_RightSuper},
      {"Quote", ImGuiKey_Apostrophe},
      {"BracketLeft", ImGuiKey_LeftBracket},
      {"BracketRight", ImGuiKey_RightBracket},
      {"Backquote", ImGuiKey_GraveAccent},
      {"NumpadDecimal", ImGuiKey_KeypadDecimal},
      {"NumpadDivide", ImGuiKey_KeypadDivide},
      {"NumpadMultiply", ImGuiKey_KeypadMultiply},
      {"NumpadSubtract", ImGuiKey_KeypadSubtract},
      {"NumpadAdd", ImGuiKey_KeypadAdd},
      {"NumpadEnter", ImGuiKey_KeypadEnter},
  };
  for (const auto& [name, key] : keys) {
    if (name == code) return key;
  }
  // Dear ImGui calls the others as browsers do.
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_GamepadStart; ++key) {
    if (code == ImGui::GetKeyName(static_cast<ImGuiKey>(key))) return static_cast<ImGuiKey>(key);
  }
  const auto numbered = [&](std::string_view prefix, ImGuiKey first, int least, int most) {
    if (!code.starts_with(prefix)) return ImGuiKey_None;
    const int number = parse_all<int>(code.substr(prefix.size())).value_or(-1);
    return number >= least && number <= most ? static_cast<ImGuiKey>(first + (number - least))
                                             : ImGuiKey_None;
  };
  if (const ImGuiKey key = numbered("Digit", ImGuiKey_0, 0, 9); key != ImGuiKey_None) return key;
  return numbered("Numpad", ImGuiKey_Keypad0, 0, 9);
}

void connect_platform() {
  ImGuiIO& io = ImGui::GetIO();
  io.BackendPlatformName = "page";
  io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
    page->clipboard = text;
    copy_text(text);
  };
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) { return page->clipboard.c_str(); };
  platform.Platform_SetImeDataFn = [](ImGuiContext*, ImGuiViewport*, ImGuiPlatformImeData* data) {
    take_text(data->WantVisible, data->InputPos.x / page->ratio, data->InputPos.y / page->ratio);
  };
}

}  // namespace

struct Window::State : Page {};

extern "C" void page_resize(int width, int height, float ratio);

Window::Window(WindowOptions options) : state_(std::make_unique<State>()) {
  page = state_.get();
  page->options = std::move(options);
  EmscriptenWebGLContextAttributes wanted;
  emscripten_webgl_init_context_attributes(&wanted);
  wanted.alpha = wanted.depth = wanted.stencil = wanted.antialias = false;
  wanted.majorVersion = 2;
  state_->context = emscripten_webgl_create_context("#canvas", &wanted);
  if (state_->context <= 0) throw Error("this browser gives no WebGL 2");
  emscripten_webgl_make_context_current(state_->context);
  state_->canvas = std::make_unique<Canvas>();
  double width = 0;
  double height = 0;
  emscripten_get_element_css_size("#canvas", &width, &height);
  const auto ratio = static_cast<float>(emscripten_get_device_pixel_ratio());
  page_resize(static_cast<int>(std::lround(width * ratio)), static_cast<int>(std::lround(height * ratio)),
              ratio);
  connect_platform();
}

Window::~Window() {
  state_->canvas.reset();
  emscripten_webgl_destroy_context(state_->context);
  page = nullptr;
}

void Window::run(const std::function<void()>& draw) {
  state_->frame = [this, draw] { draw_frame(draw); };
  state_->pace.change();
  begin_frames();
}

void Window::draw_frame(const std::function<void()>& draw, bool seen) {
  State& state = *state_;
  state.canvas->make_current();
  if (!state.lying.empty() && state.options.dropped) state.options.dropped(std::exchange(state.lying, {}));
  int width = 0;
  int height = 0;
  emscripten_get_canvas_element_size("#canvas", &width, &height);
  if (width != state.width || height != state.height)  // it is empty until the end of this frame
    emscripten_set_canvas_element_size("#canvas", state.width, state.height);
  ImGuiIO& io = ImGui::GetIO();
  const double now = emscripten_get_now();
  constexpr double least_step = 1e-3;
  io.DeltaTime = static_cast<float>(std::max((now - state.last_time) / 1000, least_step));
  state.last_time = now;
  io.DisplaySize = {static_cast<float>(state.width), static_cast<float>(state.height)};
  state.canvas->build(state.width, state.height, draw);
  state.canvas->fill(seen);
  if (seen) state.canvas->show();
  if (const int cursor = ImGui::GetMouseCursor(); std::exchange(state.cursor, cursor) != cursor)
    show_cursor(name_of_cursor(cursor));
  if (state.options.after_frame) state.options.after_frame();
}

void Window::finish_drawing() { glFinish(); }

void Window::request_redraw() { state_->redraw = true; }

void Window::close() { state_->is_closed = true; }

bool Window::closing() const { return state_->is_closed; }

float Window::scale() const { return state_->options.scale > 0 ? state_->options.scale : state_->ratio; }

std::pair<int, int> Window::size() const {
  return {std::lround(static_cast<float>(state_->width) / state_->ratio),
          std::lround(static_cast<float>(state_->height) / state_->ratio)};
}

Image Window::read_pixels() const { return state_->canvas->read_pixels(); }

}  // namespace palimpsest

using palimpsest::page;

// What the page calls; nothing is thrown into it. Lengths are in pixels of the page.
extern "C" {

/// Draws the next frame if one is wanted. Returns whether another will be.
EMSCRIPTEN_KEEPALIVE bool page_frame() {
  if (!page || !page->frame || page->is_closed) return false;
  try {
    if (page->redraw.exchange(false)) page->pace.change();
    page->pace.listen();
    if (ImGui::GetIO().WantTextInput) page->pace.once();  // its cursor blinks
    if (!page->pace.wants_frame()) return false;
    page->frame();
    page->pace.drawn();
    page->pace.listen();
    return page->pace.wants_frame() || page->redraw;
  } catch (...) {
    palimpsest::show_failure(palimpsest::problem_in_words().c_str());
    page->is_closed = true;
    return false;
  }
}

/// `ratio`: pixels of the screen per pixel of the page.
EMSCRIPTEN_KEEPALIVE void page_resize(int width, int height, float ratio) {
  if (!page) return;
  page->width = std::max(width, 1);
  page->height = std::max(height, 1);
  page->ratio = ratio;
  page->redraw = true;
}

EMSCRIPTEN_KEEPALIVE void page_pointer(float x, float y, bool is_touch) {
  ImGui::GetIO().AddMouseSourceEvent(is_touch ? ImGuiMouseSource_TouchScreen : ImGuiMouseSource_Mouse);
  ImGui::GetIO().AddMousePosEvent(x * page->ratio, y * page->ratio);
}

EMSCRIPTEN_KEEPALIVE void page_pointer_gone() { ImGui::GetIO().AddMousePosEvent(-FLT_MAX, -FLT_MAX); }

EMSCRIPTEN_KEEPALIVE void page_button(int button, bool down) {
  ImGui::GetIO().AddMouseButtonEvent(button, down);
}

EMSCRIPTEN_KEEPALIVE void page_wheel(float x, float y) { ImGui::GetIO().AddMouseWheelEvent(x, y); }

/// Whether something is held that follows the pointer; else a finger that moves scrolls.
EMSCRIPTEN_KEEPALIVE bool page_holds() {
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  return context.ActiveId != 0 &&
         context.ActiveId != (context.ActiveIdWindow ? context.ActiveIdWindow->MoveId : 0);
}

EMSCRIPTEN_KEEPALIVE void page_modifiers(bool control, bool shift, bool alt, bool super) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, control);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  io.AddKeyEvent(ImGuiMod_Alt, alt);
  io.AddKeyEvent(ImGuiMod_Super, super);
}

EMSCRIPTEN_KEEPALIVE void page_key(const char* written, const char* code, bool down) {
  if (const ImGuiKey key = palimpsest::key_of(written, code); key != ImGuiKey_None)
    ImGui::GetIO().AddKeyEvent(key, down);
}

EMSCRIPTEN_KEEPALIVE void page_text(const char* text) { ImGui::GetIO().AddInputCharactersUTF8(text); }

EMSCRIPTEN_KEEPALIVE void page_focus(bool has) { ImGui::GetIO().AddFocusEvent(has); }

/// What is in the clipboard.
EMSCRIPTEN_KEEPALIVE void page_clipboard(const char* text) { page->clipboard = text; }

EMSCRIPTEN_KEEPALIVE void page_dropped(const char* path) {
  page->lying.emplace_back(path);
  page->redraw = true;
}
}
