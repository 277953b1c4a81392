#include "app/gl/new_frame.h"

#include <imgui.h>
#include <imgui_internal.h>  // for the queue of events that Dear ImGui has not yet seen

#include <vector>

namespace palimpsest {

namespace {

/// How many events a frame may see: up to where a modifier changes after another key was pressed. Dear ImGui
/// looks at modifiers once a frame, after all of them, and would take a quick Ctrl+P for P.
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

}  // namespace

void new_frame() {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  const int seen = events_of_one_frame(queue);
  const std::vector<ImGuiInputEvent> later(queue.begin() + seen, queue.end());
  queue.resize(seen);
  ImGui::NewFrame();
  for (const ImGuiInputEvent& event : later) queue.push_back(event);
}

}  // namespace palimpsest
