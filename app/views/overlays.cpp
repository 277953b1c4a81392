#include <imgui.h>

#include "app/studio/application.h"
#include "app/studio/bars.h"
#include "app/views/data_page.h"
#include "app/views/keys_help.h"
#include "app/views/open_dialog.h"
#include "app/views/palette.h"
#include "app/views/places_card.h"
#include "app/views/prove.h"
#include "app/views/save_dialog.h"
#include "app/views/symbol_tip.h"

namespace palimpsest {

void draw_overlays(Application& application) {
  keep_checking(application);
  draw_data_page(application);
  draw_keys_help(application);
  draw_open_dialog(application);
  draw_places_card(application);
  draw_save_dialog(application);
  draw_palette(application);
  draw_symbol_tip(application);
}

}  // namespace palimpsest
