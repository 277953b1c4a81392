#include "app/studio/own_folder.h"

#include <cstdlib>
#include <string>

#include "app/session/kept.h"
#include "app/studio/application.h"

namespace palimpsest {

std::filesystem::path own_folder(const Application& application) {
  std::error_code gone;
  for (const std::string& file : application.recent_files) {
    std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (std::filesystem::is_directory(folder, gone)) return folder;
  }
  const char* home = std::getenv("HOME");
  if (home && std::filesystem::path(home).is_absolute() && std::filesystem::is_directory(home, gone))
    return home;
  return std::filesystem::current_path(gone);
}

void remember_file(Application& application, const std::filesystem::path& file) {
  std::error_code unknown;
  const std::string path = std::filesystem::absolute(file, unknown).string();
  std::vector<std::string>& files = application.recent_files;
  std::erase(files, path);
  files.insert(files.begin(), path);
  if (files.size() > most_recent_files) files.pop_back();
}

}  // namespace palimpsest
