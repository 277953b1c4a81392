#include "app/session/paths.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>
#include <vector>

#include "core/base/error.h"

namespace palimpsest {

namespace {

std::function<void(std::string_view)>& fetching() {
  static std::function<void(std::string_view)> fetch;
  return fetch;
}

}  // namespace

void fetch_assets_by(std::function<void(std::string_view relative)> fetch) { fetching() = std::move(fetch); }

std::filesystem::path asset(std::string_view relative) {
  if (fetching()) fetching()(relative);
  std::vector<std::filesystem::path> folders;
  if (const char* chosen = std::getenv("PALIMPSEST_ASSETS"); chosen != nullptr && *chosen != '\0')
    folders.emplace_back(chosen);
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  folders.push_back((failed ? std::filesystem::path(".") : program.parent_path()) / "assets");
  const std::filesystem::path source = PALIMPSEST_SOURCE_DIR;
  folders.push_back(source / "assets");
  folders.push_back(source);

  std::string searched;
  for (const std::filesystem::path& folder : folders) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / relative, ignored)) return folder / relative;
    searched += "\n  " + folder.string();
  }
  throw Error(
      fmt::format("the file '{}' was not found; searched:{}\n"
                  "set PALIMPSEST_ASSETS to the folder that holds it",
                  relative, searched));
}

}  // namespace palimpsest
