#include "app/views/overlays.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/studio/own_folder.h"
#include "app/views/folder_list.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

namespace fs = std::filesystem;

constexpr float card_width = 560;
constexpr float list_height = 240;

constexpr std::string_view endings[] = {".npz", ".npy", ".safetensors", ".csv", ".json"};

struct OpenDialog {
  FolderList folder;
  bool asks = false;              // the typed path is to be selected, so that typing replaces it
  const DataSet* left = nullptr;  // what was open when other data were asked for; null: none are
};

void open(Application& application, const fs::path& path) {
  context_local<OpenDialog>().left = &application.session.data();
  application.open(path);
}

/// Closes the card when the data that were asked for are there; asks again when they cannot be opened.
void follow_opening(Application& application, OpenDialog& dialog) {
  if (!dialog.left) return;
  const bool failed = !application.session.message().empty();
  const bool is_open = dialog.left != &application.session.data();
  if (!failed && !is_open) return;
  dialog.left = nullptr;
  dialog.asks = failed;
  if (failed) return;
  application.show_open = false;
  ImGui::CloseCurrentPopup();
}

/// One sentence on what is typed.
void verdict(const Application& application, const FolderList& folder) {
  const style::Palette& c = style::colours();
  const fs::path path = typed_path(application.open_path);
  const bool failed = !application.session.message().empty();
  const style::TextStyle style(style::Text::caption, failed ? c.alarm : is_file(path) ? c.good : c.dim);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + style::px(card_width));
  if (failed)
    ImGui::TextUnformatted(application.session.message().c_str());
  else if (is_file(path))
    ImGui::TextUnformatted("This file is there: Enter opens it.");
  else if (!is_folder(folder.path))
    ImGui::TextUnformatted("There is no such folder.");
  else if (is_folder(path) && std::ranges::find(folder.files, "q.npy") != folder.files.end())
    ImGui::TextUnformatted("This folder holds q.npy: Enter opens its .npy files together.");
  else if (application.open_path.empty() || is_folder(path))
    ImGui::TextUnformatted(
        "Type the path of a file, or choose one below. Of .npy files any one stands for its folder.");
  else
    ImGui::TextUnformatted("There is no such file.");
  ImGui::PopTextWrapPos();
}

}  // namespace

void draw_open_dialog(Application& application) {
  if (!begin_card("Open", application.show_open)) return;
  auto& dialog = context_local<OpenDialog>();
  if (ImGui::IsWindowAppearing()) {
    application.session.clear_message();
    dialog.folder.known = false;
    dialog.asks = true;
    dialog.left = nullptr;
    const fs::path last = folder_of(application.open_path);
    const bool goes_on = !application.open_path.empty() && is_folder(last);
    application.open_path = ((goes_on ? last : own_folder(application)) / "").string();
  }
  {
    const style::TextStyle style(style::Text::title);
    ImGui::TextUnformatted(
        "Open data with q, k and v (.npz, .npy, .safetensors, .csv), saved places or reports of bench "
        "(.json)");
  }
  ImGui::Dummy({0, style::px(4)});
  if (std::exchange(dialog.asks, false)) ImGui::SetKeyboardFocusHere();
  const bool entered = path_line(application.open_path, dialog.folder, style::px(card_width));
  if (ImGui::IsItemEdited()) application.session.clear_message();
  dialog.folder.look_up(folder_of(application.open_path), endings);
  verdict(application, dialog.folder);
  if (const auto pressed =
          dialog.folder.draw(application.open_path, style::px(card_width), style::px(list_height))) {
    application.open_path = *pressed;
    if (!pressed->ends_with('/')) open(application, *pressed);
  }
  if (entered) open(application, typed_path(application.open_path));
  if (style::pill_button("Open")) open(application, typed_path(application.open_path));
  follow_opening(application, dialog);
  ImGui::SameLine();
  if (style::pill_button("Cancel")) application.show_open = false;
  end_card();
}

}  // namespace palimpsest
