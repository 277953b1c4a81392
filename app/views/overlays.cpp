#include "app/views/overlays.h"

#include "app/studio/workspaces.h"
#include "app/views/symbol_tip.h"

namespace palimpsest {

void draw_overlays(Application& application) {
  draw_data_page(application);
  draw_keys_help(application);
  draw_open_dialog(application);
  draw_places_card(application);
  draw_save_dialog(application);
  draw_palette(application);
  draw_symbol_tip(application);
}

}  // namespace palimpsest
