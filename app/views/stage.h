#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The steps and tensors of a block as panels show them.
struct Shown {
  const Phase& phase;
  const Record& record;
};

/// The block of Session::sight(), which must have a record. States are key x value as recorded, or transposed
/// if the view asks for it (core/steps/recognised.h). Valid until the next frame.
Shown shown(const Application& application);

/// How often the Stage rebuilt what it shows, and its layout.
struct StageWork {
  int views = 0;  // made so far
  int layouts = 0;
};

/// That of the current Dear ImGui context.
StageWork stage_work();

}  // namespace palimpsest
