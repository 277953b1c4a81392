#include <imgui.h>

#include "app/application.h"
#include "app/overlays/keys_help.h"
#include "app/overlays/open_dialog.h"
#include "app/overlays/palette.h"
#include "app/panels.h"

namespace palimpsest {

void draw_overlays(Application& application) {
  draw_keys_help(application);
  draw_open_dialog(application);
  draw_palette(application);
}

}  // namespace palimpsest
