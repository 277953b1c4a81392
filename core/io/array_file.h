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

/// What a file of arrays holds.
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

/// Which arrays are read; others are only named: they may be large. Empty: all.
using Wanted = std::function<bool(std::string_view name)>;

/// The arrays of an .npz, a .safetensors or a .csv, or of the .npy files of one folder (each an array called
/// as its file: q.npy, k.npy, v.npy, …), named by the folder or by any of them. All give what an .npz of the
/// same arrays would. The ending says which it is, or else how the file begins. A broken array, or one of a
/// type that is no number, is told in Npz::unreadable. Throws InputError naming the file where nothing of it
/// can be read.
Npz read_array_file(const std::filesystem::path& path, const NpzLimits& limits = {},
                    const Wanted& wanted = {});

/// What a file is called by: its name without the ending, or the name of a folder of .npy files.
std::string array_file_title(const std::filesystem::path& path);

/// Throws InputError where the array `name` of a file is missing, naming those that it has: `arrays` and
/// `unread`.
void require_array(const std::filesystem::path& path, std::string_view name, const Arrays& arrays,
                   const std::vector<std::string>& unread);

/// Throws the InputError of the array `name` if it is among those that cannot be read.
void require_readable(const Unreadable& unreadable, std::string_view name);

/// All arrays of an .npz, under their names without ".npy"; members that are no .npy are ignored. Members
/// named `tokens` or `meta` that hold text (see parse_npy_text) are texts. A plain .npy is refused.
Npz read_npz(const std::filesystem::path& path, const NpzLimits& limits = {}, const Wanted& wanted = {});

/// One text of an .npz without inflating anything else; nothing if it has no such member or that is not text.
/// Throws InputError.
std::optional<std::string> read_npz_text(const std::filesystem::path& path, std::string_view name);

/// Writes an .npz that numpy can open: stored, the same bytes for the same contents. A file that is already
/// there is replaced only once the new one is complete. Throws InputError, also if there is nothing to write.
void write_npz(const std::filesystem::path& path, const Arrays& arrays, const Texts& texts = {});

/// The tensors of a .safetensors, as https://github.com/huggingface/safetensors lays it out: eight bytes with
/// the length of a JSON header, the header, the numbers. F16, BF16 and F32 are kept as float; F64, integers
/// and BOOL as double. U8 lists called `tokens` or `meta` are texts; __metadata__ is passed over.
Npz read_safetensors(const std::filesystem::path& path, const NpzLimits& limits = {},
                     const Wanted& wanted = {});

/// One head from a table: a line of names, then a line for each token, fields between commas, "…" around
/// those that hold one. The columns q0, q1, … (or q[0], q[1], …) are the array q [T, D] in any order; beta is
/// an array [T]; label (or token) is what the tokens are called; a column without a name is passed over.
/// Numbers are kept as double. What is no finite number is told in Npz::unreadable by line and column; lines
/// of another length, names that are there twice and quotes left open are an InputError.
Npz read_csv(const std::filesystem::path& path, const NpzLimits& limits = {}, const Wanted& wanted = {});

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
