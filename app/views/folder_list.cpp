#include "app/views/folder_list.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cstdlib>

#include "app/widgets/style.h"

namespace palimpsest {

namespace {

namespace fs = std::filesystem;

bool entry(const std::string& name) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, style::px(4)));
  const bool pressed = ImGui::Selectable(name.c_str(), false, ImGuiSelectableFlags_NoAutoClosePopups);
  ImGui::PopStyleVar();
  return pressed;
}

/// The last name of what is typed, which may be only begun; none where a folder is typed.
std::string begun_name(const std::string& typed) {
  const fs::path path = typed_path(typed);
  return is_folder(path) ? std::string() : path.filename().string();
}

}  // namespace

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

fs::path folder_of(const std::string& typed) {
  const fs::path path = typed_path(typed);
  const fs::path folder = is_folder(path) ? path : path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

void FolderList::look_up(const fs::path& wanted, std::span<const std::string_view> endings) {
  if (known && path == wanted) return;
  path = wanted;
  known = true;
  folders.clear();
  files.clear();
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::directory_iterator(path, options, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string ending = entry->path().extension().string();
    std::error_code unknown;
    if (name.starts_with('.')) continue;
    if (entry->is_directory(unknown))
      folders.push_back(name);
    else if (std::ranges::find(endings, ending) != endings.end())
      files.push_back(name);
  }
  std::ranges::sort(folders);
  std::ranges::sort(files);
}

std::string FolderList::completed(const std::string& typed) const {
  const std::string begin = begun_name(typed);
  std::vector<std::string> fitting;
  for (const std::string& name : folders) {
    if (name.starts_with(begin)) fitting.push_back(name + "/");
  }
  for (const std::string& name : files) {
    if (name.starts_with(begin)) fitting.push_back(name);
  }
  if (fitting.empty()) return typed;
  std::string common = fitting.front();
  for (const std::string& name : fitting)
    common.resize(static_cast<std::size_t>(std::ranges::mismatch(common, name).in1 - common.begin()));
  const bool needs_slash = begin.empty() && !typed.empty() && !typed.ends_with('/');
  return typed.substr(0, typed.size() - begin.size()) + (needs_slash ? "/" : "") + common;
}

std::optional<std::string> FolderList::draw(const std::string& typed, float width, float height) const {
  const std::string begin = begun_name(typed);
  std::optional<std::string> pressed;
  ImGui::BeginChild("files", {width, height});
  if (path.has_relative_path() && entry("../")) {
    std::error_code gone;  // the current folder may have been removed
    fs::path up = fs::absolute(path, gone).lexically_normal();
    if (!up.has_filename()) up = up.parent_path();  // it ends with a slash
    pressed = (up.parent_path() / "").string();
  }
  for (const std::string& name : folders) {
    if (name.starts_with(begin) && entry(name + "/")) pressed = (path / name / "").string();
  }
  for (const std::string& name : files) {
    if (name.starts_with(begin) && entry(name)) pressed = (path / name).string();
  }
  ImGui::EndChild();
  return pressed;
}

bool path_line(std::string& typed, const FolderList& list, float width) {
  const auto complete = [](ImGuiInputTextCallbackData* data) {
    const auto& known = *static_cast<const FolderList*>(data->UserData);
    const std::string so_far(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    const std::string further = known.completed(so_far);
    if (further == so_far) return 0;
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, further.c_str());
    return 0;
  };
  FolderList known = list;  // Dear ImGui wants to be able to change it
  ImGui::SetNextItemWidth(width);
  return ImGui::InputText("##path", &typed,
                          ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll |
                              ImGuiInputTextFlags_CallbackCompletion,
                          complete, &known);
}

}  // namespace palimpsest
