#pragma once

#include <span>

#include "app/studio/workspaces.h"

namespace palimpsest {

/// The panels of Step.
std::span<const Panel> panels();

// One function per file.
void draw_stage(Application& application);
void draw_answers(Application& application);
void draw_timeline(Application& application);
void draw_equation(Application& application);
/// In a low window the knob takes the column: the lines of a chunk stand on the Stage, too.
bool has_room_for_lines(const Application& application);
void draw_forms(Application& application);
void draw_data(Application& application);
void draw_why(Application& application);

}  // namespace palimpsest
