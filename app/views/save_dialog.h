#pragma once

namespace palimpsest {

class Application;

/// The card that asks where something is to be saved.
void draw_save_dialog(Application& application);

}  // namespace palimpsest
