#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/array.h"

namespace palimpsest {

using Texts = std::map<std::string, std::string, std::less<>>;

/// Why an array cannot be read, by its name.
using Unreadable = std::map<std::string, std::string, std::less<>>;

/// What an .npz holds.
struct Npz {
  Arrays arrays;
  Texts texts = {};                      // `tokens` and `meta`, where they are text
  Unreadable unreadable = {};            // what else is there: it matters only to whoever needs it
  std::vector<std::string> unread = {};  // arrays that were not wanted
};

/// How much a file may ask for: a small one can inflate to any size.
struct NpzLimits {
  /// All members together, inflated, each counted as it is kept in memory where that is more (integers become
  /// double).
  std::uint64_t total_bytes = std::uint64_t{8} << 30;
};

/// All arrays of an .npz, under their names without ".npy"; members that are no .npy are ignored. Members
/// named `tokens` or `meta` that hold text (see parse_npy_text) are texts. A broken array, or one of a type
/// that is no number, is told in Npz::unreadable. Throws InputError naming the file where nothing of it can
/// be read; a plain .npy is refused (read_array_file reads all kinds). With `wanted`, other arrays are only
/// named: they may be large.
Npz read_npz(const std::filesystem::path& path, const NpzLimits& limits = {},
             const std::function<bool(std::string_view name)>& wanted = {});

/// Throws the InputError of the array `name` if it is among those that cannot be read.
void require_readable(const Unreadable& unreadable, std::string_view name);

/// One text of an .npz without inflating anything else; nothing if it has no such member or that is not text.
/// Throws InputError.
std::optional<std::string> read_npz_text(const std::filesystem::path& path, std::string_view name,
                                         const NpzLimits& limits = {});

/// Writes an .npz that numpy can open: stored, the same bytes for the same contents. A file that is already
/// there is replaced only once the new one is complete. Throws InputError, also if there is nothing to write.
void write_npz(const std::filesystem::path& path, const Arrays& arrays, const Texts& texts = {});

/// What is left of NpzLimits::total_bytes while a file is read.
class Budget {
 public:
  explicit Budget(const NpzLimits& limits) : total_(limits.total_bytes), left_(limits.total_bytes) {}

  /// Throws InputError naming `what` where less is left.
  void take(std::uint64_t bytes, std::string_view what);

 private:
  std::uint64_t total_;
  std::uint64_t left_;
};

/// Whether arrays of this name are texts where they hold text: `tokens` and `meta`.
bool may_be_text(std::string_view name);

/// `x.npz: array "q"`, as messages name it.
std::string array_words(const std::filesystem::path& path, std::string_view name);

/// Adds the array or text `name` of a file to its contents. `read` gives it as the bytes of an .npy; what it
/// throws, and all else that is wrong with this array alone, goes into Npz::unreadable.
void add_array(Npz& npz, const std::filesystem::path& path, const std::string& name, Budget& budget,
               const std::function<std::vector<std::byte>(std::string_view what)>& read);

}  // namespace palimpsest
