#include "app/views/floor.h"

#include <imgui_internal.h>  // to own the mouse wheel while it zooms

#include <algorithm>
#include <cmath>

#include "app/studio/application.h"
#include "app/widgets/controls.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float around = 8;  // the transport, in design pixels
constexpr float transport_height = 28;

}  // namespace

void draw_floor_panel(Application& application, const char* name, float top, float gap, RowsAbove above,
                      const std::function<void(ImVec2 from, ImVec2 to)>& rows) {
  if (style::begin_panel(name, {0, 0}, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse) &&
      application.session.computed()) {
    const ImVec2 panel = ImGui::GetWindowPos();
    const ImVec2 size = ImGui::GetWindowSize();
    const float padding = px(style::panel_padding);
    const float transport = panel.y + size.y - px(around + transport_height);
    rows({panel.x + padding, panel.y + px(top)}, {panel.x + size.x - padding, transport - px(gap)});
    ImGui::SetCursorScreenPos({panel.x + padding, std::max(transport, panel.y + px(around))});
    draw_transport(application, above);
    ImGui::Dummy({1, 1});  // where there is no room for it
  }
  style::end_panel();
}

void scrub(Application& application, TimelineView& view, const TimelineColumns& columns) {
  if (!ImGui::IsItemActive()) return;
  application.playing = false;
  const float right = columns.position.x + columns.size.x - 1;
  const Index token = columns.token_at(std::clamp(ImGui::GetIO().MousePos.x, columns.position.x, right));
  if (token != application.session.token()) {
    application.show_welcome = false;
    application.session.go_to_token(token);
  }
  view.followed = application.session.token();  // what is under the pointer stays there
}

void turn_wheel(TimelineView& view, const TimelineColumns& columns, const Session& session) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseWheel != 0) zoom_timeline(view, columns, session, std::pow(1.2F, io.MouseWheel), io.MousePos.x);
  if (io.MouseWheelH != 0) view.first -= static_cast<double>(io.MouseWheelH * px(60) / view.column);
}

void turn_wheel_over_item(TimelineView& view, const TimelineColumns& columns, const Session& session) {
  if (!ImGui::IsItemHovered()) return;
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelX);
  turn_wheel(view, columns, session);
}

}  // namespace palimpsest
