#include "app/views/overlays.h"

#include <imgui.h>

#include <cmath>

#include "app/studio/application.h"
#include "app/studio/bars.h"
#include "app/views/prove.h"
#include "app/views/symbol_tip.h"
#include "app/widgets/style.h"

namespace palimpsest {

bool begin_card(const char* name, bool& open, CardPlace place) {
  if (open && !ImGui::IsPopupOpen(name)) ImGui::OpenPopup(name);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const bool middle = place == CardPlace::middle;
  const float y = middle ? viewport->WorkSize.y / 2 : std::round(viewport->WorkSize.y * 0.12F);
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2, viewport->WorkPos.y + y},
                          ImGuiCond_Always, {0.5F, middle ? 0.5F : 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(style::px(28), style::px(24)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, style::px(style::corner));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, style::px(style::line));
  const bool begun =
      ImGui::BeginPopupModal(name, nullptr,
                             ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar(3);
  if (!begun) return false;
  const bool beside = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::IsWindowAppearing() &&
                      !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows |
                                              ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (beside || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) open = false;
  if (!open) ImGui::CloseCurrentPopup();
  return true;
}

void end_card() { ImGui::EndPopup(); }

void draw_overlays(Application& application) {
  keep_checking(application);
  draw_data_page(application);
  draw_keys_help(application);
  draw_open_dialog(application);
  draw_places_card(application);
  draw_save_dialog(application);
  draw_palette(application);
  draw_symbol_tip(application);
}

}  // namespace palimpsest
