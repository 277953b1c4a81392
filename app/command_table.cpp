#include "app/actions.h"

#include <imgui.h>

#include <algorithm>

#include "app/application.h"

namespace palimpsest {

namespace {

using Grain = Session::Grain;

void choose_form(Application& application, Form form) {
  Choice choice = application.session.choice();
  choice.form = form;
  application.session.choose(std::move(choice));
}

void change_chunk(Application& application, double factor) {
  Choice choice = application.session.choice();
  const Index size = choice.chunk_size;
  choice.chunk_size = factor > 1 ? size * 2 : std::max<Index>(size / 2, 1);
  application.session.choose(std::move(choice));
}

void change_precision(Application& application) {
  Choice choice = application.session.choice();
  choice.precision = choice.precision == Precision::f64 ? Precision::f32 : Precision::f64;
  application.session.choose(std::move(choice));
}

void flip(Application& application, bool ViewOptions::*option) {
  application.change_view([option](ViewOptions& view) { view.*option = !(view.*option); });
}

void change_grain(Application& application) {
  switch (application.grain) {
    case Grain::operation:
      application.grain = Grain::token;
      break;
    case Grain::token:
      application.grain = Grain::chunk;
      break;
    default:
      application.grain = Grain::operation;
      break;
  }
}

void change_head(Application& application, int direction) {
  Choice choice = application.session.choice();
  choice.head += direction;
  application.session.choose(std::move(choice));
}

void change_variant(Application& application, int direction) {
  const auto table = variants();
  Choice choice = application.session.choice();
  const auto present = std::ranges::find(table, choice.variant, &Variant::id) - table.begin();
  const auto size = static_cast<std::ptrdiff_t>(table.size());
  choice.variant = table[static_cast<std::size_t>((present + direction + size) % size)].id;
  application.session.choose(std::move(choice));
}

}  // namespace

std::span<const Action> actions() {
  static constexpr Action table[] = {
      {"Time", "play or pause", ImGuiKey_Space, [](Application& a) { a.playing = !a.playing; }},
      {"Time", "one operation on", ImGuiKey_RightArrow, [](Application& a) { a.step(Grain::operation, 1); },
       true},
      {"Time", "one operation back", ImGuiKey_LeftArrow, [](Application& a) { a.step(Grain::operation, -1); },
       true},
      {"Time", "one token on", ImGuiMod_Shift | ImGuiKey_RightArrow,
       [](Application& a) { a.step(Grain::token, 1); }, true},
      {"Time", "one token back", ImGuiMod_Shift | ImGuiKey_LeftArrow,
       [](Application& a) { a.step(Grain::token, -1); }, true},
      {"Time", "one chunk on", ImGuiMod_Ctrl | ImGuiKey_RightArrow,
       [](Application& a) { a.step(Grain::chunk, 1); }, true},
      {"Time", "one chunk back", ImGuiMod_Ctrl | ImGuiKey_LeftArrow,
       [](Application& a) { a.step(Grain::chunk, -1); }, true},
      {"Time", "to the end", ImGuiKey_End, [](Application& a) { a.step(Grain::end, 1); }},
      {"Time", "to the start", ImGuiKey_Home, [](Application& a) { a.step(Grain::end, -1); }},
      {"Time", "play by operation, token or chunk", ImGuiKey_G, change_grain},
      {"Time", "play faster", ImGuiKey_UpArrow,
       [](Application& a) { a.steps_per_second = std::min(a.steps_per_second * 2, 64.0F); }, true},
      {"Time", "play slower", ImGuiKey_DownArrow,
       [](Application& a) { a.steps_per_second = std::max(a.steps_per_second / 2, 0.25F); }, true},
      {"Form", "recurrent", ImGuiKey_1, [](Application& a) { choose_form(a, Form::recurrent); }},
      {"Form", "chunkwise", ImGuiKey_2, [](Application& a) { choose_form(a, Form::chunkwise); }},
      {"Form", "two-pass", ImGuiKey_3, [](Application& a) { choose_form(a, Form::two_pass); }},
      {"Form", "parallel", ImGuiKey_4, [](Application& a) { choose_form(a, Form::parallel); }},
      {"Form", "larger chunks", ImGuiKey_RightBracket, [](Application& a) { change_chunk(a, 2); }, true},
      {"Form", "smaller chunks", ImGuiKey_LeftBracket, [](Application& a) { change_chunk(a, 0.5); }, true},
      {"Form", "f64 or f32", ImGuiKey_P, change_precision},
      {"Change", "undo", ImGuiMod_Ctrl | ImGuiKey_Z, [](Application& a) { a.undo(); }, true},
      {"Change", "redo", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z, [](Application& a) { a.redo(); }, true},
      {"Change", "redo", ImGuiMod_Ctrl | ImGuiKey_Y, [](Application& a) { a.redo(); }, true},
      {"Change", "copy this place", ImGuiMod_Ctrl | ImGuiKey_C, [](Application& a) { a.copy_state(); }},
      {"Change", "go to a copied place", ImGuiMod_Ctrl | ImGuiKey_V, [](Application& a) { a.paste_state(); }},
      {"Data", "captures and presets", ImGuiKey_D, [](Application& a) { a.show_data = true; }},
      {"Data", "save this place", ImGuiMod_Ctrl | ImGuiKey_S, [](Application& a) { a.save_place(); }},
      {"Data", "next variant", ImGuiKey_V, [](Application& a) { change_variant(a, 1); }, true},
      {"Data", "previous variant", ImGuiMod_Shift | ImGuiKey_V, [](Application& a) { change_variant(a, -1); },
       true},
      {"Data", "next head", ImGuiKey_H, [](Application& a) { change_head(a, 1); }, true},
      {"Data", "previous head", ImGuiMod_Shift | ImGuiKey_H, [](Application& a) { change_head(a, -1); },
       true},
      {"Data", "open a file", ImGuiMod_Ctrl | ImGuiKey_O, [](Application& a) { a.show_open = true; }},
      {"View", "dark or light", ImGuiKey_L,
       [](Application& a) {
         a.change_view([](ViewOptions& view) {
           view.theme = view.theme == style::Theme::dark ? style::Theme::light : style::Theme::dark;
         });
       }},
      {"View", "one colour scale, or one per matrix", ImGuiKey_C,
       [](Application& a) { flip(a, &ViewOptions::shared_scale); }},
      {"View", "S as key x value, or value x key", ImGuiKey_T, [](Application& a) { a.turn_states(); }},
      {"View", "numbers in large cells", ImGuiKey_N, [](Application& a) { flip(a, &ViewOptions::numbers); }},
      {"View", "let go of the clicked number", ImGuiKey_Escape, [](Application& a) { a.pinned.reset(); }},
      {"Help", "these keys", ImGuiMod_Shift | ImGuiKey_Slash, [](Application& a) { a.show_keys = true; }},
      {"Help", "quit", ImGuiMod_Ctrl | ImGuiKey_Q, [](Application& a) { a.quit(); }},
  };
  return table;
}

std::string key_name(int chord) {
  const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  std::string name;
  if ((chord & ImGuiMod_Ctrl) != 0) name += "Ctrl+";
  if (key == ImGuiKey_Slash && (chord & ImGuiMod_Shift) != 0) return name + "?";
  if ((chord & ImGuiMod_Shift) != 0) name += "Shift+";
  switch (key) {
    case ImGuiKey_LeftArrow:
      return name + "←";
    case ImGuiKey_RightArrow:
      return name + "→";
    case ImGuiKey_UpArrow:
      return name + "↑";
    case ImGuiKey_DownArrow:
      return name + "↓";
    case ImGuiKey_LeftBracket:
      return name + "[";
    case ImGuiKey_RightBracket:
      return name + "]";
    case ImGuiKey_Escape:
      return name + "Esc";
    default:
      return name + ImGui::GetKeyName(key);
  }
}

void handle_keys(Application& application) {
  const ImGuiIO& io = ImGui::GetIO();
  // A list or a card that is open has the keys to itself.
  if (io.WantTextInput || ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) return;
  for (const Action& action : actions()) {
    const ImGuiInputFlags held = action.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None;
    if (!ImGui::Shortcut(action.key, ImGuiInputFlags_RouteGlobal | held)) continue;
    application.notice.clear();
    action.perform(application);
  }
  // A question mark that the layout types without Shift+/ opens the help as well.
  for (const ImWchar character : io.InputQueueCharacters) {
    if (character == '?' && !ImGui::IsKeyChordPressed(ImGuiMod_Shift | ImGuiKey_Slash))
      application.show_keys = true;
  }
}

}  // namespace palimpsest
