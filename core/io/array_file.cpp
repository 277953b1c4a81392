#include "core/io/array_file.h"

#include <fmt/ranges.h>

#include <cctype>
#include <new>
#include <nlohmann/json.hpp>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;
using nlohmann::json;

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
      if (!npz.texts.emplace(name, std::move(*text)).second) refuse("{}: appears twice", what);
      return;
    }
  }
  const NpyHeader header = parse_npy_header(bytes, what);
  const std::size_t kept_bytes =
      header.kind == 'f' && header.item_bytes <= sizeof(float) ? sizeof(float) : sizeof(double);
  budget.take(std::max(bytes.size(), static_cast<std::size_t>(header.size) * kept_bytes), what);
  if (!npz.arrays.emplace(name, parse_npy(bytes, what)).second) refuse("{}: appears twice", what);
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

using FormatReader = Npz (*)(const fs::path& path, const NpzLimits& limits, const Wanted& wanted);

FormatReader reader_of(const fs::path& path) {
  const std::string ending = ending_of(path);
  if (ending == ".npz") return read_npz;
  if (ending == ".npy" || ending == "/") return read_npy_files;
  if (ending == ".safetensors") return read_safetensors;
  if (ending == ".csv") return read_csv;
  require_readable_file(path);
  const std::string start = file_start(path, 9);
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

[[noreturn]] void refuse_type(const std::string& what, std::string_view expected, const json& found) {
  refuse("{}: expected {}, found {}", what, expected, found.type_name());
}

void take(const json& found, const std::string& what, std::string& text) {
  if (!found.is_string()) refuse_type(what, "a string", found);
  found.get_to(text);
}

void take(const json& found, const std::string& what, std::optional<double>& number) {
  if (!found.is_number()) refuse_type(what, "a number", found);
  number = found.get<double>();
}

void take(const json& found, const std::string& what, std::optional<int>& integer) {
  if (!found.is_number_integer()) refuse_type(what, "an integer", found);
  const double number = found.get<double>();
  if (number < 0 || number > std::numeric_limits<int>::max())
    refuse("{}: the integer {} is out of range", what, number);
  integer = static_cast<int>(number);
}

void take(const json& found, const std::string& what, std::vector<int>& integers) {
  if (!found.is_array()) refuse_type(what, "a list", found);
  for (const json& each : found) {
    std::optional<int> integer;
    take(each, what, integer);
    integers.push_back(*integer);
  }
}

json parse_json(const std::string& text, const std::string& what) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {  // numbers beyond double are no parse_error
    // The library starts its messages with "[json.exception.parse_error.101] ".
    const std::string_view message = error.what();
    const std::size_t end = message.find("] ");
    refuse("{} is not valid JSON: {}", what,
           shown(end == std::string_view::npos ? message : message.substr(end + 2)));
  }
}

/// Reads the fields of a meta that a picker shows, and into `whole`, if any, all others. One that is absent
/// or null is passed over.
void read_meta(const std::string& text, const fs::path& path, CaptureSummary& summary, Capture* whole) {
  const std::string what = fmt::format("{}: meta", path.string());
  const json meta = parse_json(text, what);
  if (!meta.is_object()) refuse_type(what, "an object", meta);
  const auto read = [&](const char* key, auto& value) {
    const auto found = meta.find(key);
    if (found != meta.end() && !found->is_null()) take(*found, fmt::format("{}: \"{}\"", what, key), value);
  };
  read("name", summary.name);
  read("rule", summary.rule);
  read("model", summary.model);
  read("text", summary.text);
  read("layer", summary.layer);
  read("reproduction_error", summary.reproduction_error);
  if (!whole) return;
  read("source", whole->source);
  read("licence", whole->licence);
  read("notes", whole->notes);
  read("scale", whole->scale);
  read("heads", whole->heads);
}

std::vector<std::string> read_tokens(const std::string& text, const std::string& what) {
  const json list = parse_json(text, what);
  if (!list.is_array()) refuse_type(what, "a list of strings", list);
  std::vector<std::string> tokens(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) take(list[i], fmt::format("{}[{}]", what, i), tokens[i]);
  return tokens;
}

/// How many positions an input has: axis 0, or axis 1 behind a batch axis ([B, T, H, K]).
std::optional<Index> positions(const Arrays& arrays) {
  const auto q = arrays.find("q");
  if (q == arrays.end() || q->second.rank() == 0) return std::nullopt;
  return q->second.shape[q->second.rank() == 4 ? 1 : 0];
}

void require_text(const Unreadable& unreadable, std::string_view name, std::string_view held) {
  if (const std::string* const problem = value_at(unreadable, name))
    refuse("{}; as {} one text is expected, {}", *problem, name, held);
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
  std::vector<std::string> found;
  for (const auto& [each, array] : arrays) found.push_back(each);
  found.insert(found.end(), unread.begin(), unread.end());
  refuse(
      "{}: {} missing{}; found: {}{}", path.string(),
      (missing.size() == 1 ? "array " : "arrays ") + listed(missing) + (missing.size() == 1 ? " is" : " are"),
      where, found.empty() ? "no arrays" : few_of(found), advice);
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

Capture capture_of(Npz npz, const fs::path& path) {
  Capture capture;
  capture.file = path;
  capture.name = array_file_title(path);
  static_cast<Npz&>(capture) = std::move(npz);
  require_text(capture.unreadable, "meta", "a JSON object");
  require_text(capture.unreadable, "tokens", "a JSON list of strings");
  if (const std::string* const meta = value_at(capture.texts, "meta"))
    read_meta(*meta, path, capture, &capture);
  if (const std::string* const tokens = value_at(capture.texts, "tokens")) {
    const std::string what = fmt::format("{}: tokens", path.string());
    capture.tokens = read_tokens(*tokens, what);
    const auto length = positions(capture.arrays);
    if (length && static_cast<std::size_t>(*length) != capture.tokens.size())
      refuse("{}: {} tokens, but q {} has {} positions", what, capture.tokens.size(),
             to_string(capture.arrays.find("q")->second.shape), *length);
  }
  return capture;
}

std::vector<CaptureSummary> list_captures(const fs::path& folder) {
  std::vector<CaptureSummary> summaries;
  for (const fs::path& file : files_ending(folder, ".npz")) {
    CaptureSummary& summary = summaries.emplace_back();
    summary.file = file;
    summary.name = array_file_title(file);
    try {
      if (const auto meta = read_npz_text(file, "meta")) read_meta(*meta, file, summary, nullptr);
    } catch (const Error& problem) {
      summary.error = problem.what();
    }
  }
  std::ranges::stable_sort(summaries, {}, &CaptureSummary::name);
  return summaries;
}

}  // namespace palimpsest
