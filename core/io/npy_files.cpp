#include "core/io/npy_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/io/contents.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

std::string name_of(const fs::path& file) { return valid_utf8(file.stem().string()); }

/// The .npy files of a folder by name, without hidden ones.
std::vector<fs::path> npy_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    const fs::path& file = entry->path();
    if (file.extension() == ".npy" && !file.filename().string().starts_with('.') &&
        !entry->is_directory(unknown))
      files.push_back(file);
  }
  if (error)
    throw InputError(fmt::format("{}: the folder cannot be read: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  return files;
}

}  // namespace

Npz read_npy_files(const fs::path& path, const NpzLimits& limits,
                   const std::function<bool(std::string_view)>& wanted) {
  const auto is_wanted = [&](const std::string& name) {
    return !wanted || wanted(name) || may_be_text(name);
  };
  std::error_code unknown;
  const bool is_folder = fs::is_directory(path, unknown);
  if (!is_folder) {
    require_readable_file(path);
    if (!is_wanted(name_of(path))) {
      throw InputError(
          fmt::format("{}: is a single array (.npy), and no array is called \"{}\"; call such files q.npy, "
                      "k.npy, v.npy, …, put them into one folder and open any of them",
                      path.string(), shown(name_of(path))));
    }
  }
  std::vector<fs::path> files = npy_files(is_folder                ? path
                                          : path.has_parent_path() ? path.parent_path()
                                                                   : fs::path("."));
  if (!is_folder && path.extension() != ".npy") files.push_back(path);  // .NPY
  Npz npz;
  Budget budget(limits);
  for (const fs::path& file : files) {
    const std::string name = name_of(file);
    if (!is_wanted(name)) {
      npz.unread.push_back(name);
      continue;
    }
    add_array(npz, file, name, budget, [&](std::string_view what) {
      require_readable_file(file);
      const std::uintmax_t bytes = fs::file_size(file);
      Budget(budget).take(bytes, what);
      return read_bytes(file, 0, bytes);
    });
  }
  if (files.empty()) {
    throw InputError(
        fmt::format("{}: is a folder without .npy files; expected q.npy, k.npy, v.npy, … in it, or a file",
                    path.string()));
  }
  return npz;
}

}  // namespace palimpsest
