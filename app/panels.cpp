#include "app/panels.h"

namespace palimpsest {

std::span<const Panel> panels() {
  static constexpr Panel list[] = {
      {"Data", Place::left_top, draw_data},
      {"Equation", Place::left_bottom, draw_equation},
      {"Stage", Place::center, draw_stage},
      {"Forms", Place::right_top, draw_forms},
      {"Why this number?", Place::right_bottom, draw_why},
      {"Timeline", Place::bottom, draw_timeline},
  };
  return list;
}

}  // namespace palimpsest
