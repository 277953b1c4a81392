#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The steps and tensors of a block as the panels show them.
struct Shown {
  const Phase& phase;
  const Record& record;
};

/// The block of Session::sight(), which must have a record, with states as the view wants them: key x value,
/// as they are recorded, or turned (core/steps/recognised.h). Valid until the next frame.
Shown shown(const Application& application);

/// How often the Stage had to think about what it shows, and where.
struct StageWork {
  int views = 0;  // made so far
  int layouts = 0;
};

/// That of the current Dear ImGui context.
StageWork stage_work();

}  // namespace palimpsest
