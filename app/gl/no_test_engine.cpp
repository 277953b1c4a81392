#include <imgui.h>
#include <imgui_internal.h>

// What Dear ImGui calls in the test engine. Programs without that link this in its place; it is never called,
// since only the test engine switches the calls on.

void ImGuiTestEngineHook_ItemAdd(ImGuiContext* /*context*/, ImGuiID /*id*/, const ImRect& /*where*/,
                                 const ImGuiLastItemData* /*item*/) {}
void ImGuiTestEngineHook_ItemInfo(ImGuiContext* /*context*/, ImGuiID /*id*/, const char* /*label*/,
                                  ImGuiItemStatusFlags /*flags*/) {}
void ImGuiTestEngineHook_Log(ImGuiContext* /*context*/, const char* /*format*/, ...) {}
const char* ImGuiTestEngine_FindItemDebugLabel(ImGuiContext* /*context*/, ImGuiID /*id*/) { return nullptr; }
