#pragma once

#include <imgui.h>
#include <imgui_internal.h>  // for the hook that runs when a context ends

#include <map>
#include <memory>

namespace palimpsest {

/// The one T of the current Dear ImGui context. It is made at the first use and destroyed with the context,
/// whose OpenGL context is still current then: a T may own textures and programs.
template <class T>
T& context_local() {
  static std::map<ImGuiContext*, std::unique_ptr<T>> instances;
  // The one that was asked for last: a frame asks for some of them thousands of times.
  static ImGuiContext* last = nullptr;
  static T* found = nullptr;
  ImGuiContext* const context = ImGui::GetCurrentContext();
  if (found && last == context) return *found;
  std::unique_ptr<T>& instance = instances[context];
  if (!instance) {
    instance = std::make_unique<T>();
    ImGuiContextHook hook;
    hook.Type = ImGuiContextHookType_Shutdown;
    hook.Callback = [](ImGuiContext* ending, ImGuiContextHook*) {
      if (last == ending) found = nullptr;
      instances.erase(ending);
    };
    ImGui::AddContextHook(context, &hook);
  }
  last = context;
  found = instance.get();
  return *found;
}

}  // namespace palimpsest
