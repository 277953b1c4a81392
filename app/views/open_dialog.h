#pragma once

namespace palimpsest {

class Application;

/// A card to open a file: a path, and what lies in its folder.
void draw_open_dialog(Application& application);

}  // namespace palimpsest
