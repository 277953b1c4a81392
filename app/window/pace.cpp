#include "app/window/pace.h"

#include <imgui.h>
#include <imgui_internal.h>  // for the queue of events that Dear ImGui has not yet seen

namespace palimpsest {
namespace {

// Dear ImGui needs a few frames until a change has settled: sizes measured in one are used in the next.
constexpr int frames_after_a_change = 5;  // a list that opens is laid out, then sized, then drawn

/// Whether something under the pointer has words that come only once the pointer has rested.
bool awaits_tooltip() {
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  const ImGuiStyle& style = context.Style;
  if (context.HoverItemDelayId == 0) return false;
  return context.HoverItemDelayTimer < style.HoverDelayShort ||
         context.MouseStationaryTimer < style.HoverStationaryDelay;
}

}  // namespace

void Pace::change() { frames_ = frames_after_a_change; }

void Pace::listen() {
  if (!ImGui::GetCurrentContext()->InputEventsQueue.empty()) change();
}

void Pace::drawn() {
  if (frames_ > 0) --frames_;
  if (awaits_tooltip()) change();
}

}  // namespace palimpsest
