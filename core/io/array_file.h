#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/array.h"

namespace palimpsest {

using Texts = std::map<std::string, std::string, std::less<>>;

/// Why an array cannot be read, by its name.
using Unreadable = std::map<std::string, std::string, std::less<>>;

/// What a file of arrays holds.
struct Npz {
  Arrays arrays;
  Texts texts = {};                      // `tokens` and `meta`, where they are text
  Unreadable unreadable = {};            // other arrays, each with the reason: no error unless one is needed
  std::vector<std::string> unread = {};  // arrays that were not wanted
};

/// How much memory a file may take: a small one can inflate to any size.
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
/// type that is no number, is listed in Npz::unreadable. Throws InputError naming the file where nothing of
/// it can be read.
Npz read_array_file(const std::filesystem::path& path, const NpzLimits& limits = {},
                    const Wanted& wanted = {});

/// What a file is called by: its name without the ending, or the name of a folder of .npy files.
std::string array_file_title(const std::filesystem::path& path);

/// Throws InputError if any of the arrays `names` is missing in a file, naming all missing ones and those
/// that it has: `arrays` and `unread`. `advice` ends the message.
void require_arrays(const std::filesystem::path& path, const std::vector<std::string>& names,
                    const Arrays& arrays, const std::vector<std::string>& unread,
                    std::string_view advice = {});

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
/// an array [T]; label (or token) is what the tokens are called; a column without a name is ignored.
/// Numbers are kept as double. What is no finite number is listed in Npz::unreadable by line and column;
/// lines with another number of fields, duplicate names and unclosed quotes are an InputError.
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

/// `x.npz: array "q"`, as messages name it.
std::string array_words(const std::filesystem::path& path, std::string_view name);

/// Adds the array or text `name` of a file to its contents, or to Npz::unread if it is not wanted and cannot
/// be a text. `read` returns it as the bytes of an .npy; what it throws, and any other problem of this array
/// alone, goes into Npz::unreadable.
void add_array(Npz& npz, const std::filesystem::path& path, const std::string& name, const Wanted& wanted,
               Budget& budget, const std::function<std::vector<std::byte>(std::string_view what)>& read);

/// The most axes that an array may have: numpy's own limit.
inline constexpr std::size_t most_axes = 64;

/// The number in these bytes, the lowest byte first.
std::uint64_t little_endian(std::span<const std::byte> bytes);

/// What the header of an .npy says about the data that follow it.
struct NpyHeader {
  std::string dtype;  // as written: "<f4", "|u1", or a list for a structured array
  char kind = '?';    // numpy's letter: f, i, u, b, S, U, ...; '?' for a dtype that is not understood
  std::size_t item_bytes = 0;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<Index> shape;
  Index size = 0;               // number of elements
  std::size_t data_offset = 0;  // where the data start
};

/// Reads the header of an .npy of version 1.0, 2.0 or 3.0 and checks it against the bytes that exist. `what`
/// names the array in messages. Throws InputError.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view what);

/// The array in an .npy, row-major whatever its order in the file. float16 and float32 are kept as float;
/// float64, integers and bool as double. Throws InputError for any other dtype, for a 64-bit integer that a
/// double cannot hold, and for broken bytes.
Array parse_npy(std::span<const std::byte> bytes, std::string_view what);

/// The text in an .npy: a list of bytes (uint8, rank 1) or one string (S or U), as valid UTF-8 without
/// trailing zeros. Nothing if it holds anything else. Throws InputError for broken bytes.
std::optional<std::string> parse_npy_text(std::span<const std::byte> bytes, std::string_view what);

/// An array as an .npy of version 1.0: float32 or float64, row-major, in this machine's byte order.
std::vector<std::byte> format_npy(const Array& array);

/// An .npy of version 1.0 around data that are already as `dtype` ("<f4") says, row-major.
std::vector<std::byte> format_npy_bytes(std::string_view dtype, const std::vector<Index>& shape,
                                        std::span<const std::byte> data);

/// A text as an .npy of its UTF-8 bytes: uint8, rank 1.
std::vector<std::byte> format_npy_text(std::string_view text);

/// One line of a picker: what the meta of a capture says, as far as it is there.
struct CaptureSummary {
  std::filesystem::path file;
  std::string name;
  std::string rule;  // the id of the variant that the layer is
  std::string model;
  std::string text;
  std::optional<int> layer;
  // The largest difference between o and the rule computed in float64, as a share of max|o|.
  std::optional<double> reproduction_error;
  std::string error;  // why the file cannot be read; empty if no problem was found so far
};

/// The tensors of one layer of a model. Only `file` and `arrays` are always there: any file of arrays can be
/// read, and what its `meta` does not say is empty.
struct Capture : CaptureSummary, Npz {
  std::vector<std::string> tokens;  // none, or one for each of the T positions; valid UTF-8
  std::string source;
  std::string licence;
  std::string notes;
  std::optional<double> scale;
  std::vector<int> heads;  // which heads of the layer these are
};

/// The capture that a file of arrays, its tokens and its meta make. Without a name in meta its name is
/// array_file_title(). Throws InputError where tokens or meta are not the JSON they should be or there
/// is not one token for each position.
Capture capture_of(Npz npz, const std::filesystem::path& path);

/// The .npz files of a folder by name, from their meta alone. Throws InputError if the folder cannot be read;
/// a broken file is listed with its error.
std::vector<CaptureSummary> list_captures(const std::filesystem::path& folder);

}  // namespace palimpsest
