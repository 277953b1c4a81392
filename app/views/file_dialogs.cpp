#include <cstdlib>

#include "app/views/data_parts.h"

// The dialogs that open a file and save one.

namespace palimpsest {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view data_endings[] = {".npz", ".npy", ".safetensors", ".csv", ".json", ".rule"};

/// The path for what was typed: "~" is the home folder.
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

/// The folder to list: the folder part of what is typed, which is `otherwise` if there is none.
fs::path folder_of(const std::string& typed, const fs::path& otherwise = ".") {
  const fs::path path = typed_path(typed);
  const fs::path folder = is_folder(path) ? path : path.parent_path();
  return folder.empty() ? otherwise : folder;
}

/// The last name in what is typed, which may be incomplete; empty if a folder is typed.
std::string begun_name(const std::string& typed) {
  const fs::path path = typed_path(typed);
  return is_folder(path) ? std::string() : path.filename().string();
}

/// The content of a folder: its folders, with a slash, and its files with certain endings, without hidden
/// ones.
struct FolderList {
  fs::path path = {};  // empty: not read yet
  std::vector<std::string> names = {};

  void look_up(const fs::path& wanted, std::span<const std::string_view> endings) {
    if (path == wanted) return;
    path = wanted;
    names.clear();
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (auto entry = fs::directory_iterator(path, options, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const std::string ending = entry->path().extension().string();
      std::error_code unknown;
      if (name.starts_with('.')) continue;
      const bool is_below = entry->is_directory(unknown);
      if (is_below || is_among(ending, endings)) names.push_back(is_below ? name + "/" : name);
    }
    // Folders come first.
    std::ranges::sort(names, {}, [](const auto& name) { return std::pair(!name.ends_with('/'), name); });
  }

  std::vector<std::string> going_on(const std::string& typed) const {
    std::vector<std::string> fitting = names;
    const std::string begin = begun_name(typed);
    std::erase_if(fitting, [&](const std::string& name) { return !name.starts_with(begin); });
    return fitting;
  }

  /// What is typed, completed as far as the matching names agree.
  std::string completed(const std::string& typed) const {
    const std::vector<std::string> fitting = going_on(typed);
    if (fitting.empty()) return typed;
    const std::string begin = begun_name(typed);
    std::string common = fitting.front();
    for (const std::string& name : fitting)
      common.resize(static_cast<std::size_t>(std::ranges::mismatch(common, name).in1 - common.begin()));
    const bool needs_slash = begin.empty() && !typed.empty() && !typed.ends_with('/');
    return typed.substr(0, typed.size() - begin.size()) + (needs_slash ? "/" : "") + common;
  }
};

struct FileDialog {
  FolderList folder = {};
  std::string problem = {};       // of the last try
  bool asks = false;              // select the typed path, so that typing replaces it
  const DataSet* left = nullptr;  // the data that were open at the request; null: no request
};

struct Asked {
  std::string title = {};
  std::string& typed;
  std::span<const std::string_view> endings = {};
  fs::path folder = ".";                                 // of a name that is typed alone
  std::function<Node()> verdict = {};                    // a sentence on what is typed
  std::function<void()> edited = {};                     // the typed path was changed
  std::function<void(const std::string&)> pressed = {};  // a file of the list
  std::function<void()> entered = {};
  Node button;
};

/// The content of the folder: a press opens a folder, or takes a file.
Nodes rows(const FolderList& folder, const Asked& asked) {
  Nodes all;
  const auto add = [&](const std::string& name, const std::string& path, bool is_typed = false) {
    all += scene::choice(name, is_typed).on([&typed = asked.typed, path, pressed = asked.pressed] {
      typed = path;
      pressed(path);
    });
  };
  if (folder.path.has_relative_path()) {
    std::error_code gone;  // the current folder may have been removed
    fs::path up = fs::absolute(folder.path, gone).lexically_normal();
    if (!up.has_filename()) up = up.parent_path();  // it ends with a slash
    add("../", (up.parent_path() / "").string());
  }
  const std::string typed = begun_name(asked.typed);
  const bool is_there = is_among(typed, folder.names);
  for (const std::string& name : is_there ? folder.names : folder.going_on(asked.typed))
    add(name, (folder.path / name).string(), name == typed);
  return all;
}

Node file_card(FileDialog& dialog, bool& shown, const Asked& asked) {
  dialog.folder.look_up(folder_of(asked.typed, asked.folder), asked.endings);
  Node line = {scene::Input{
      .text = asked.typed,
      .set =
          [&typed = asked.typed, edited = asked.edited](const std::string& text) {
            typed = text;
            edited();
          },
      .entered = asked.entered,
      .completed = [&folder = dialog.folder](const std::string& typed) { return folder.completed(typed); },
      .takes_keyboard = std::exchange(dialog.asks, false)}};
  return scene::column(
      {scene::text(asked.title, style::Text::title), std::move(line).named("path"), asked.verdict(),
       scene::scroll("files", scene::column(rows(dialog.folder, asked))).fixed(230),
       scene::row({asked.button, scene::pill("Cancel").on([&shown] { shown = false; })})},
      Gap::near);
}

Node sentence(const std::string& words, scene::Ink ink) {
  return scene::text(words, style::Text::caption, ink).named("verdict");
}

void open(Application& application, FileDialog& dialog, const fs::path& path) {
  dialog.left = &application.session.data();
  application.open(path);
}

/// Closes the dialog when the requested data are open; asks again if they cannot be opened.
void follow_opening(Application& application, FileDialog& dialog) {
  if (!dialog.left) return;
  const bool failed = !application.session.message().empty();
  const bool is_open = dialog.left != &application.session.data();
  if (!failed && !is_open) return;
  dialog.left = nullptr;
  dialog.asks = failed;
  application.show_open = failed;
}

Node opening_verdict(Application& application, const FolderList& folder) {
  const style::Palette& c = style::colours();
  const fs::path path = typed_path(path_in_id(application.open_path));
  if (std::string words = application.session.message(); !words.empty()) {
    const std::string named = path_in_id(application.session.refused()) + ": ";  // the line above shows it
    if (words.starts_with(named)) words.erase(0, named.size());
    Nodes all = {sentence(words, c.alarm)};
    all += ways_out(application, application.session.refused());
    return scene::column(std::move(all), Gap::small);
  }
  if (is_file(path)) return sentence("Enter opens this file.", c.good);
  if (!is_folder(folder.path)) return sentence("There is no such folder.", c.dim);
  if (is_folder(path) && is_among("q.npy", folder.names))
    return sentence("This folder holds q.npy: Enter opens its .npy files together.", c.dim);
  if (application.open_path.empty() || is_folder(path))
    return sentence(
        "Type the path of a file, or choose one below. For .npy files, choose any file in the folder; all "
        "are loaded.",
        c.dim);
  return sentence("There is no such file.", c.dim);
}

void begin_opening(Application& application, FileDialog& dialog) {
  application.session.clear_message();
  dialog = {.asks = true};
  const fs::path last = folder_of(application.open_path);
  const bool goes_on = !application.open_path.empty() && is_folder(last);
  application.open_path = ((goes_on ? last : application.own_folder()) / "").string();
}

/// The path to write: a name alone is one in the proposed folder, and without an ending it gets that of the
/// saved kind.
fs::path target(const Application& application) {
  fs::path path = typed_path(application.save_path);
  if (!path.empty() && !path.has_parent_path()) path = application.saving.folder / path;
  if (!is_folder(path) && !path.has_extension()) path += application.saving.ending;
  return path;
}

/// Why nothing can be written there; empty if no reason is known.
std::string refusal(const Application& application) {
  const std::string& ending = application.saving.ending;
  const fs::path path = target(application);
  if (application.save_path.empty() || is_folder(path) || !path.has_filename())
    return "Type a name in this folder.";
  if (path.extension() != ending)
    return fmt::format("The name ends with \"{}\"; it must end with \"{}\".", path.extension().string(),
                       ending);
  if (!is_folder(path.parent_path()))
    return fmt::format("There is no folder {}.", path.parent_path().string());
  return {};
}

Node saving_verdict(const Application& application, const FileDialog& dialog) {
  const style::Palette& c = style::colours();
  if (!dialog.problem.empty()) return sentence(dialog.problem, c.alarm);
  if (const std::string wrong = refusal(application); !wrong.empty()) return sentence(wrong, c.dim);
  const fs::path path = target(application);
  if (is_file(path)) return sentence("This file exists: saving replaces it.", c.alarm);
  return sentence(fmt::format("Enter writes {}", path.string()), c.dim);
}

/// Writes the file and closes the dialog, or shows why not and asks again.
void save(Application& application, FileDialog& dialog) {
  dialog.problem = refusal(application);
  if (dialog.problem.empty()) dialog.problem = application.save_to(target(application));
  dialog.asks = application.show_save = !dialog.problem.empty();
}

}  // namespace

Node open_dialog(Application& application, bool is_new) {
  auto& dialog = context_local<FileDialog, struct Opened>();
  if (is_new) begin_opening(application, dialog);
  follow_opening(application, dialog);
  const auto enter = [&application, &dialog] {
    open(application, dialog, typed_path(application.open_path));
  };
  return file_card(dialog, application.show_open,
                   {.title = "Open data with q, k and v (.npz, .npy, .safetensors, .csv), a rule (.rule), "
                             "saved places or reports of bench (.json)",
                    .typed = application.open_path,
                    .endings = data_endings,
                    .verdict = [&] { return opening_verdict(application, dialog.folder); },
                    .edited = [&application] { application.session.clear_message(); },
                    .pressed =
                        [&application, &dialog](const std::string& path) {
                          if (!path.ends_with('/')) open(application, dialog, path);
                        },
                    .entered = enter,
                    .button = scene::pill("Open").on(enter)});
}

Node save_dialog(Application& application, bool is_new) {
  auto& dialog = context_local<FileDialog, struct Saved>();
  if (is_new) dialog = {.asks = true};
  const std::string_view endings[] = {application.saving.ending};
  const auto enter = [&application, &dialog] { save(application, dialog); };
  const auto forget = [&dialog] { dialog.problem.clear(); };
  return file_card(
      dialog, application.show_save,
      {.title = "Save " + application.saving.what,
       .typed = application.save_path,
       .endings = endings,
       .folder = application.saving.folder,
       .verdict = [&] { return saving_verdict(application, dialog); },
       .edited = forget,
       .pressed = [forget](const std::string&) { forget(); },
       .entered = enter,
       .button = scene::pill(is_file(target(application)) ? "Replace" : "Save").named("save").on(enter)});
}

}  // namespace palimpsest
