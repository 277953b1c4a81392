#pragma once

#include "app/scene/layout.h"

namespace palimpsest::scene {

/// Draws a scene where it was laid out, in the current window, and notes its named nodes in parts(). What was
/// pressed or set acts when all is drawn: until then what the scene was made from stays as it is.
void draw(const Placed& placed);

/// Lays a scene out in what is left of the current window, draws it there and moves on below it.
void show(const Node& scene);

/// The same in a room of one's own, for a window that is as large as what is in it.
void show_in(const Node& scene, ImVec2 room);

/// The same in a place on the screen, among what is drawn otherwise.
void show_at(const Node& scene, const Rectangle& where);

}  // namespace palimpsest::scene
