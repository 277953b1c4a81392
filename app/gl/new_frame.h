#pragma once

namespace palimpsest {

/// ImGui::NewFrame() that keeps what was typed between two frames in its order: a key counts with the
/// modifiers that were held when it was pressed, however early they were let go. What follows waits for the
/// next frame.
void new_frame();

}  // namespace palimpsest
