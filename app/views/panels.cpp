#include "app/views/panels.h"

#include "app/studio/application.h"
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

std::string nothing_to_show(const Application& application, const char* without_tokens) {
  const auto computed = application.session.computed();
  if (!computed)
    return "Nothing is open yet. Drop a file here or press Ctrl+O; D lists captures and presets.";
  if (computed->sequence.tokens > 0) return {};
  return std::string("This sequence has no tokens") + without_tokens + '.';
}

}  // namespace palimpsest
