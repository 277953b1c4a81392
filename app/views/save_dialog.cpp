#include "app/views/overlays.h"

#include <fmt/format.h>
#include <imgui.h>

#include <filesystem>
#include <utility>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/views/folder_list.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

namespace fs = std::filesystem;

constexpr float card_width = 560;
constexpr float list_height = 200;

struct SaveDialog {
  FolderList folder;
  std::string problem;  // of the last try
  bool asks = false;    // the typed path is to be selected, so that typing replaces it
};

/// Where it will be written: a name without an ending gets that of what is saved.
fs::path target(const std::string& typed, const std::string& ending) {
  fs::path path = typed_path(typed);
  if (!is_folder(path) && !path.has_extension()) path += ending;
  return path;
}

/// Why nothing can be written there; empty if that is not known.
std::string refusal(const std::string& typed, const std::string& ending) {
  const fs::path path = target(typed, ending);
  if (typed.empty() || is_folder(path) || !path.has_filename()) return "Type a name in this folder.";
  if (path.extension() != ending)
    return fmt::format("The name ends with \"{}\"; what is saved is {} by \"{}\".", path.extension().string(),
                       ending == ".json" ? "opened again" : "known", ending);
  if (!is_folder(path.parent_path()))
    return fmt::format("There is no folder {}.", path.parent_path().string());
  return {};
}

void verdict(const SaveDialog& dialog, const std::string& typed, const std::string& ending) {
  const style::Palette& c = style::colours();
  const std::string wrong = refusal(typed, ending);
  const bool failed = !dialog.problem.empty();
  const bool replaces = wrong.empty() && is_file(target(typed, ending));
  const style::TextStyle text(style::Text::caption, failed || replaces ? c.alarm : c.dim);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + style::px(card_width));
  const std::string words = failed     ? dialog.problem
                            : replaces ? "This file is there: saving replaces it."
                            : wrong.empty()
                                ? fmt::format("Enter writes {}", target(typed, ending).filename().string())
                                : wrong;
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
}

/// Writes it and closes the card, or says why not and asks again.
void save(Application& application, SaveDialog& dialog) {
  dialog.problem = refusal(application.save_path, application.text_ending);
  if (dialog.problem.empty())
    dialog.problem = application.save_to(target(application.save_path, application.text_ending));
  dialog.asks = !dialog.problem.empty();
  if (!dialog.problem.empty()) return;
  application.show_save = false;
  ImGui::CloseCurrentPopup();
}

}  // namespace

void draw_save_dialog(Application& application) {
  if (!begin_card("Save", application.show_save)) return;
  auto& dialog = context_local<SaveDialog>();
  if (ImGui::IsWindowAppearing()) dialog = {.folder = {}, .problem = {}, .asks = true};
  {
    const style::TextStyle text(style::Text::title);
    const std::string title = !application.text_name.empty() ? "Save the " + application.text_name
                              : application.saves_pins       ? std::string("Save the pinned places")
                                                             : std::string("Save this place");
    ImGui::TextUnformatted(title.c_str());
  }
  ImGui::Dummy({0, style::px(4)});
  if (std::exchange(dialog.asks, false)) ImGui::SetKeyboardFocusHere();
  const std::string_view endings[] = {application.text_ending};
  dialog.folder.look_up(folder_of(application.save_path), endings);
  const bool entered = path_line(application.save_path, dialog.folder, style::px(card_width));
  if (ImGui::IsItemEdited()) dialog.problem.clear();
  verdict(dialog, application.save_path, application.text_ending);
  if (const auto pressed =
          dialog.folder.draw(application.save_path, style::px(card_width), style::px(list_height))) {
    application.save_path = *pressed;
    dialog.problem.clear();
  }
  const bool replaces = is_file(target(application.save_path, application.text_ending));
  if (style::pill_button(replaces ? "Replace###save" : "Save###save") || entered) save(application, dialog);
  ImGui::SameLine();
  if (style::pill_button("Cancel")) application.show_save = false;
  end_card();
}

}  // namespace palimpsest
