#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// What a folder offers: its folders, and its files with some endings. Hidden ones are left out.
struct FolderList {
  std::filesystem::path path;
  bool known = false;
  std::vector<std::string> folders;
  std::vector<std::string> files;

  /// Reads `wanted`, unless it is known already.
  void look_up(const std::filesystem::path& wanted, std::span<const std::string_view> endings);

  /// What was typed so far, gone on as far as only one name goes on: where it is a folder, with a slash.
  std::string completed(const std::string& typed) const;

  /// Draws its rows, folders first; of the files only those that go on as typed. Returns the path that was
  /// pressed, with a slash where it is a folder.
  std::optional<std::string> draw(const std::string& typed, float width, float height) const;
};

/// A path as somebody types it: "~" is home.
std::filesystem::path typed_path(const std::string& typed);

bool is_folder(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);

/// The folder to list: the typed one, or the one that what is typed begins with.
std::filesystem::path folder_of(const std::string& typed);

/// The line that a path is typed in; Tab completes it by `list`. True on Enter.
bool path_line(std::string& typed, const FolderList& list, float width);

}  // namespace palimpsest
