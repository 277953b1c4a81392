#include "core/io/array_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/io/csv.h"
#include "core/io/file.h"
#include "core/io/npz.h"
#include "core/io/safetensors.h"

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

enum class Kind { npz, npy_files, safetensors, csv };

std::string small_letters(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

Kind kind_of(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return Kind::npy_files;
  const std::string ending = small_letters(path.extension().string());
  if (ending == ".npz") return Kind::npz;
  if (ending == ".npy") return Kind::npy_files;
  if (ending == ".safetensors") return Kind::safetensors;
  if (ending == ".csv") return Kind::csv;
  require_readable_file(path);
  std::ifstream file(path, std::ios::binary);
  std::string start(9, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (start.empty() || start.starts_with("PK")) return Kind::npz;  // which says that it is empty
  if (start.size() == 9 && start.back() == '{') return Kind::safetensors;
  throw InputError(fmt::format("{}: is none of {}", path.string(), fmt::join(array_file_endings, ", ")));
}

}  // namespace

Npz read_array_file(const fs::path& path, const NpzLimits& limits,
                    const std::function<bool(std::string_view)>& wanted) {
  switch (kind_of(path)) {
    case Kind::npy_files:
      return read_npy_files(path, limits, wanted);
    case Kind::safetensors:
      return read_safetensors(path, limits, wanted);
    case Kind::csv:
      return read_csv(path, limits, wanted);
    case Kind::npz:
      break;
  }
  return read_npz(path, limits, wanted);
}

std::string array_file_title(const fs::path& path) {
  std::error_code unknown;
  const bool is_folder = fs::is_directory(path, unknown);
  if (!is_folder && small_letters(path.extension().string()) != ".npy")
    return valid_utf8(path.stem().string());
  const fs::path whole = fs::absolute(path, unknown).lexically_normal();
  const fs::path folder = is_folder && whole.has_filename() ? whole : whole.parent_path();
  return valid_utf8(folder.filename().string());
}

std::string where_expected(const fs::path& path, std::string_view name) {
  std::error_code unknown;
  const bool is_folder = fs::is_directory(path, unknown);
  const std::string ending = small_letters(path.extension().string());
  if (is_folder) return fmt::format("; expected {}.npy in this folder", name);
  if (ending == ".npy") return fmt::format("; expected {}.npy beside it", name);
  if (ending == ".csv") return fmt::format("; expected the columns {}0, {}1, …", name, name);
  return {};
}

void require_array(const fs::path& path, std::string_view name, const Arrays& arrays,
                   const std::vector<std::string>& unread) {
  if (arrays.contains(name)) return;
  constexpr std::size_t most = 10;
  std::vector<std::string> found;
  for (const auto& [each, array] : arrays) found.push_back(shown(each));
  for (const std::string& each : unread) found.push_back(shown(each));
  const std::size_t more = found.size() - std::min(found.size(), most);
  found.resize(found.size() - more);
  throw InputError(fmt::format("{}: array \"{}\" is missing{}; found: {}{}", path.string(), name,
                               where_expected(path, name),
                               found.empty() ? "no arrays" : fmt::format("{}", fmt::join(found, ", ")),
                               more > 0 ? fmt::format(" and {} more", more) : ""));
}

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
