#include "app/views/open_dialog.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/views/card.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

namespace fs = std::filesystem;

constexpr float card_width = 560;
constexpr float list_height = 240;

/// What a folder offers; read again when another one is looked at.
struct Folder {
  fs::path path;
  bool known = false;
  bool asks = false;              // the typed path is to be selected, so that typing replaces it
  const DataSet* left = nullptr;  // what was open when other data were asked for; null: none are
  std::vector<std::string> folders;
  std::vector<std::string> files;

  void look_up(const fs::path& wanted) {
    if (known && path == wanted) return;
    path = wanted;
    known = true;
    folders.clear();
    files.clear();
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (auto entry = fs::directory_iterator(path, options, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      std::error_code unknown;
      if (name.starts_with('.')) continue;
      if (entry->is_directory(unknown))
        folders.push_back(name);
      else if (entry->path().extension() == ".npz" || entry->path().extension() == ".json")
        files.push_back(name);
    }
    std::ranges::sort(folders);
    std::ranges::sort(files);
  }
};

fs::path typed_path(const std::string& typed) {
  const char* home = std::getenv("HOME");
  if (home && typed.starts_with('~')) return fs::path(home + typed.substr(1));
  return typed;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path.empty() ? "." : path, error);
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The folder to list: the typed one, or the one that what is typed begins with.
fs::path folder_of(const std::string& typed) {
  const fs::path path = typed_path(typed);
  const fs::path folder = is_folder(path) ? path : path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

void open(Application& application, const fs::path& path) {
  context_local<Folder>().left = &application.session.data();
  application.open(path);
}

/// Closes the card when the data that were asked for are there; asks again when they cannot be opened.
void follow_opening(Application& application, Folder& folder) {
  if (!folder.left) return;
  const bool failed = !application.session.message().empty();
  const bool is_open = folder.left != &application.session.data();
  if (!failed && !is_open) return;
  folder.left = nullptr;
  folder.asks = failed;
  if (failed) return;
  application.show_open = false;
  ImGui::CloseCurrentPopup();
}

/// One sentence on what is typed.
void verdict(const Application& application, const Folder& folder) {
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
  else if (application.open_path.empty() || is_folder(path))
    ImGui::TextUnformatted("Type the path of data (.npz) or of a saved place (.json), or choose one below.");
  else
    ImGui::TextUnformatted("There is no such file.");
  ImGui::PopTextWrapPos();
}

bool entry(const std::string& name) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, style::px(4)));
  const bool pressed = ImGui::Selectable(name.c_str());
  ImGui::PopStyleVar();
  return pressed;
}

/// Folders first; of the files only those that go on as typed.
void list(Application& application, const Folder& folder) {
  const fs::path path = typed_path(application.open_path);
  const std::string begin = is_folder(path) ? std::string() : path.filename().string();
  ImGui::BeginChild("files", {style::px(card_width), style::px(list_height)});
  if (folder.path.has_relative_path() && entry("../")) {
    std::error_code gone;  // the current folder may have been removed
    application.open_path = fs::absolute(folder.path, gone).lexically_normal().parent_path().string() + "/";
  }
  for (const std::string& name : folder.folders) {
    if (name.starts_with(begin) && entry(name + "/"))
      application.open_path = (folder.path / name).string() + "/";
  }
  for (const std::string& name : folder.files) {
    if (!name.starts_with(begin) && name != begin) continue;
    if (!entry(name)) continue;
    application.open_path = (folder.path / name).string();
    open(application, folder.path / name);
  }
  ImGui::EndChild();
}

}  // namespace

void draw_open_dialog(Application& application) {
  if (!begin_card("Open", application.show_open)) return;
  auto& folder = context_local<Folder>();
  if (ImGui::IsWindowAppearing()) {
    application.session.clear_message();
    folder.known = false;
    folder.asks = true;
    folder.left = nullptr;
    std::error_code gone;
    const fs::path last =
        application.open_path.empty() ? fs::current_path(gone) : folder_of(application.open_path);
    application.open_path = (is_folder(last) ? last / "" : fs::current_path(gone) / "").string();
  }
  {
    const style::TextStyle style(style::Text::title);
    ImGui::TextUnformatted("Open data with q, k and v (.npz), or a saved place (.json)");
  }
  ImGui::Dummy({0, style::px(4)});
  ImGui::SetNextItemWidth(style::px(card_width));
  if (std::exchange(folder.asks, false)) ImGui::SetKeyboardFocusHere();
  const bool entered =
      ImGui::InputText("##path", &application.open_path,
                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  if (ImGui::IsItemEdited()) application.session.clear_message();
  folder.look_up(folder_of(application.open_path));
  verdict(application, folder);
  list(application, folder);
  if (entered) open(application, typed_path(application.open_path));
  if (style::pill_button("Open")) open(application, typed_path(application.open_path));
  follow_opening(application, folder);
  ImGui::SameLine();
  if (style::pill_button("Cancel")) application.show_open = false;
  end_card();
}

}  // namespace palimpsest
