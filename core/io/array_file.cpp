#include "core/io/array_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <new>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

/// The ending of a file in small letters, ".npy"; of a folder "/".
std::string ending_of(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return "/";
  std::string ending = path.extension().string();
  for (char& letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return ending;
}

/// Whether arrays of this name are texts where they hold text.
bool may_be_text(std::string_view name) { return name == "tokens" || name == "meta"; }

bool is_read(const Wanted& wanted, std::string_view name) {
  return !wanted || wanted(name) || may_be_text(name);
}

void take_npy(Npz& npz, const std::vector<std::byte>& bytes, const std::string& name, std::string_view what,
              Budget& budget) {
  if (may_be_text(name)) {
    if (auto text = parse_npy_text(bytes, what)) {
      budget.take(bytes.size(), what);
      if (!npz.texts.emplace(name, std::move(*text)).second) refuse("{}: is there twice", what);
      return;
    }
  }
  const NpyHeader header = parse_npy_header(bytes, what);
  const std::size_t kept_bytes =
      header.kind == 'f' && header.item_bytes <= sizeof(float) ? sizeof(float) : sizeof(double);
  budget.take(std::max(bytes.size(), static_cast<std::size_t>(header.size) * kept_bytes), what);
  if (!npz.arrays.emplace(name, parse_npy(bytes, what)).second) refuse("{}: is there twice", what);
}

std::string name_of(const fs::path& file) { return valid_utf8(file.stem().string()); }

/// The .npy files of a folder; `path` is the folder or any of the files.
Npz read_npy_files(const fs::path& path, const NpzLimits& limits, const Wanted& wanted) {
  const bool is_folder = ending_of(path) == "/";
  if (!is_folder) {
    require_readable_file(path);
    if (!is_read(wanted, name_of(path)))
      refuse_file(path,
                  "is a single array (.npy), and no array is called \"{}\"; call such files "
                  "q.npy, k.npy, v.npy, …, put them into one folder and open any of them",
                  shown(name_of(path)));
  }
  std::vector<fs::path> files = files_ending(is_folder                ? path
                                             : path.has_parent_path() ? path.parent_path()
                                                                      : fs::path("."),
                                             ".npy");
  std::erase_if(files, [](const fs::path& file) { return file.filename().string().starts_with('.'); });
  if (!is_folder && path.extension() != ".npy") files.push_back(path);  // .NPY
  Npz npz;
  Budget budget(limits);
  for (const fs::path& file : files) {
    add_array(npz, file, name_of(file), wanted, budget, [&](std::string_view what) {
      require_readable_file(file);
      const std::uintmax_t bytes = fs::file_size(file);
      Budget(budget).take(bytes, what);
      return read_bytes(file, 0, bytes);
    });
  }
  if (files.empty())
    refuse_file(path, "is a folder without .npy files; expected q.npy, k.npy, v.npy, … in it, or a file");
  return npz;
}

using Reader = Npz (*)(const fs::path& path, const NpzLimits& limits, const Wanted& wanted);

Reader reader_of(const fs::path& path) {
  const std::string ending = ending_of(path);
  if (ending == ".npz") return read_npz;
  if (ending == ".npy" || ending == "/") return read_npy_files;
  if (ending == ".safetensors") return read_safetensors;
  if (ending == ".csv") return read_csv;
  require_readable_file(path);
  std::ifstream file(path, std::ios::binary);
  std::string start(9, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (start.empty() || start.starts_with("PK")) return read_npz;  // which says that it is empty
  if (start.size() == 9 && start.back() == '{') return read_safetensors;
  refuse_file(path, "is none of .npz, .npy, .safetensors, .csv");
}

/// Where such a file should have had the arrays `names`. Empty where the format names arrays itself.
std::string where_expected(const fs::path& path, const std::vector<std::string>& names) {
  const std::string ending = ending_of(path);
  if (ending == ".csv") return fmt::format("; expected the columns {0}0, {0}1, …", names.front());
  if (ending != "/" && ending != ".npy") return {};
  return fmt::format("; expected {}.npy {}", fmt::join(names, ".npy, "),
                     ending == "/" ? "in this folder" : "beside it");
}

}  // namespace

Npz read_array_file(const fs::path& path, const NpzLimits& limits, const Wanted& wanted) {
  return reader_of(path)(path, limits, wanted);
}

std::string array_file_title(const fs::path& path) {
  const std::string ending = ending_of(path);
  if (ending != "/" && ending != ".npy") return valid_utf8(path.stem().string());
  std::error_code unknown;
  const fs::path whole = fs::absolute(path, unknown).lexically_normal();
  const fs::path folder = ending == "/" && whole.has_filename() ? whole : whole.parent_path();
  return valid_utf8(folder.filename().string());
}

void require_arrays(const fs::path& path, const std::vector<std::string>& names, const Arrays& arrays,
                    const std::vector<std::string>& unread, std::string_view advice) {
  std::vector<std::string> missing = names;
  std::erase_if(missing, [&](const std::string& name) { return arrays.contains(name); });
  if (missing.empty()) return;
  const std::string where = where_expected(path, missing);
  for (std::string& name : missing) name = fmt::format("\"{}\"", name);
  constexpr std::size_t most = 10;
  std::vector<std::string> found;
  for (const auto& [each, array] : arrays) found.push_back(shown(each));
  for (const std::string& each : unread) found.push_back(shown(each));
  const std::size_t more = found.size() - std::min(found.size(), most);
  found.resize(found.size() - more);
  refuse(
      "{}: {} missing{}; found: {}{}{}", path.string(),
      (missing.size() == 1 ? "array " : "arrays ") + listed(missing) + (missing.size() == 1 ? " is" : " are"),
      where, found.empty() ? "no arrays" : fmt::format("{}", fmt::join(found, ", ")),
      more > 0 ? fmt::format(" and {} more", more) : "", advice);
}

void require_readable(const Unreadable& unreadable, std::string_view name) {
  if (const std::string* const problem = value_at(unreadable, name)) throw InputError(*problem);
}

void Budget::take(std::uint64_t bytes, std::string_view what) {
  if (bytes > left_) refuse("{}: the file holds more than {} bytes in all, the limit", what, total_);
  left_ -= bytes;
}

std::string array_words(const fs::path& path, std::string_view name) {
  return fmt::format("{}: array \"{}\"", path.string(), shown(name));
}

void add_array(Npz& npz, const fs::path& path, const std::string& name, const Wanted& wanted, Budget& budget,
               const std::function<std::vector<std::byte>(std::string_view what)>& read) {
  if (!is_read(wanted, name)) return npz.unread.push_back(name);
  const std::string what = array_words(path, name);
  try {
    take_npy(npz, read(what), name, what, budget);
  } catch (const InputError& error) {
    npz.unreadable.emplace(name, error.what());
  } catch (const std::bad_alloc&) {
    npz.unreadable.emplace(name, fmt::format("{}: does not fit into memory", what));
  }
}

}  // namespace palimpsest
