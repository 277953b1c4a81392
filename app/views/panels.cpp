#include "app/views/panels.h"

#include "app/views/answers.h"

namespace palimpsest {

std::span<const Panel> panels() {
  static constexpr Panel list[] = {
      {"Data", PanelPlace::left_top, draw_data},
      {"Equation", PanelPlace::left_bottom, draw_equation, has_room_for_lines},
      {"Stage", PanelPlace::center, draw_stage},
      {"What the memory answers", PanelPlace::center_bottom, draw_answers, has_answers},
      {"Forms", PanelPlace::right_top, draw_forms},
      {"Why this number?", PanelPlace::right_bottom, draw_why},
      {"Timeline", PanelPlace::bottom, draw_timeline},
  };
  return list;
}

}  // namespace palimpsest
