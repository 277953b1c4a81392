#include <fmt/ranges.h>
#include <zip.h>
#include <array>
#include <bit>
#include <set>

#include "core/base/refuse.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/io/array_file.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

/// Reads the Python dictionary of a header from left to right.
class HeaderText {
 public:
  HeaderText(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  bool accept(char wanted) {
    skip_spaces();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("expected '{}'", wanted));
  }

  std::string_view quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) fail("a quote is not closed");
    return take(end, 1);
  }

  /// A dtype: a quoted string, or the whole list that describes a structured one.
  std::string_view dtype() {
    skip_spaces();
    if (text_.empty() || text_.front() != '[') return quoted();
    int depth = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '[') ++depth;
      if (text_[i] == ']' && --depth == 0) return take(i + 1, 0);
    }
    fail("a list is not closed");
  }

  bool boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.starts_with(word)) return take(word.size(), 0) == "True";
    }
    fail("fortran_order must be True or False");
  }

  std::vector<Index> shape() {
    std::vector<Index> axes;
    expect('(');
    while (!accept(')')) {
      if (axes.size() == most_axes) fail(fmt::format("more than {} axes", most_axes));
      axes.push_back(axis());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return axes;
  }

  void expect_end() {
    skip_spaces();
    if (!text_.empty()) fail("text after the dictionary");
  }

  [[noreturn]] void fail(std::string_view problem) const {
    if (text_.empty()) refuse("{}: broken .npy header: {} at its end", what_, problem);
    refuse("{}: broken .npy header: {} at `{}`", what_, problem, shown(text_));
  }

 private:
  void skip_spaces() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }

  std::string_view take(std::size_t count, std::size_t dropped) {
    const std::string_view taken = text_.substr(0, count);
    text_.remove_prefix(count + dropped);
    return taken;
  }

  Index axis() {
    skip_spaces();
    Index value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("an axis is too long");
    if (error != std::errc{}) fail("expected the length of an axis");
    if (value < 0) fail("an axis has a negative length");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    accept('L');  // numpy under Python 2 wrote (3L, 4L)
    return value;
  }

  std::string_view text_;
  std::string_view what_;
};

/// The text of the header; sets header.data_offset.
std::string_view header_text(std::span<const std::byte> bytes, std::string_view what, NpyHeader& header) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() < 10 || !text.starts_with(npy_magic))
    refuse("{}: not an .npy ({} bytes that do not start with its header)", what, bytes.size());
  const int major = std::to_integer<int>(bytes[6]);
  const int minor = std::to_integer<int>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    refuse("{}: .npy version {}.{}; 1.0, 2.0 and 3.0 can be read", what, major, minor);
  const std::size_t count_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + count_bytes) refuse("{}: the .npy ends inside its header", what);
  const std::size_t length = little_endian(bytes.subspan(8, count_bytes));
  header.data_offset = 8 + count_bytes;
  if (length > bytes.size() - header.data_offset)
    refuse("{}: the .npy header claims {} bytes, but only {} follow", what, length,
           bytes.size() - header.data_offset);
  header.data_offset += length;
  return text.substr(8 + count_bytes, length);
}

void parse_dictionary(HeaderText text, NpyHeader& header) {
  std::set<std::string_view> seen;
  text.expect('{');
  while (!text.accept('}')) {
    const std::string_view key = text.quoted();
    if (!seen.insert(key).second) text.fail(fmt::format("'{}' is given twice", shown(key)));
    text.expect(':');
    if (key == "descr") {
      header.dtype = text.dtype();
    } else if (key == "fortran_order") {
      header.fortran_order = text.boolean();
    } else if (key == "shape") {
      header.shape = text.shape();
    } else {
      text.fail(fmt::format("unknown key '{}'", shown(key)));
    }
    if (!text.accept(',')) {
      text.expect('}');
      break;
    }
  }
  text.expect_end();
  for (const char* key : {"descr", "fortran_order", "shape"}) {
    if (!seen.contains(key)) text.fail(fmt::format("'{}' is missing", key));
  }
}

/// Takes "<f4" apart. A dtype that is written in any other way keeps kind '?'.
void parse_dtype(NpyHeader& header) {
  std::string_view text = header.dtype;
  if (text.empty()) return;
  const char order = text.front();
  header.big_endian = order == '>' || (order != '<' && std::endian::native == std::endian::big);
  if (is_among(order, std::string_view("<>=|"))) text.remove_prefix(1);
  if (text.size() < 2) return;
  const auto width = parse_all<std::uint32_t>(text.substr(1));
  if (!width) return;
  header.kind = text.front();
  header.item_bytes = header.kind == 'U' ? std::size_t{*width} * 4 : *width;
}

/// Elements of the shape; refuses shapes whose elements cannot be counted, also where one axis is 0.
Index checked_size(const NpyHeader& header, std::string_view what) {
  Index product = 1;
  for (const Index length : header.shape) {
    if (length == 0) continue;
    if (product > std::numeric_limits<Index>::max() / 64 / length)
      refuse("{}: shape {} is too large", what, to_string(header.shape));
    product *= length;
  }
  return is_among(0, header.shape) ? 0 : product;
}

/// The number at `bytes`, in the byte order of the file.
template <class Stored>
Stored load(const std::byte* bytes, bool big_endian) {
  std::array<std::byte, sizeof(Stored)> own;
  std::copy_n(bytes, own.size(), own.begin());
  if (big_endian != (std::endian::native == std::endian::big)) std::ranges::reverse(own);
  return std::bit_cast<Stored>(own);
}

void append(std::vector<std::byte>& bytes, const void* first, std::size_t count) {
  const auto* begin = static_cast<const std::byte*>(first);
  bytes.insert(bytes.end(), begin, begin + count);
}

/// Where the file keeps the element `flat` of the row-major result.
Index stored_place(const NpyHeader& header, Index flat) {
  if (!header.fortran_order) return flat;
  Index place = 0;
  Index stride = header.size;
  for (std::size_t axis = header.shape.size(); axis-- > 0;) {
    stride /= header.shape[axis];
    place += flat % header.shape[axis] * stride;
    flat /= header.shape[axis];
  }
  return place;
}

/// All elements as `Kept`, each turned into a number by `number(stored, row_major)`.
template <class Stored, class Kept, class Number>
Array decode(const NpyHeader& header, const std::byte* data, Number number) {
  std::vector<Kept> values(static_cast<std::size_t>(header.size));
  for (Index i = 0; i < header.size; ++i) {
    const std::byte* item = data + stored_place(header, i) * static_cast<Index>(sizeof(Stored));
    entry(values, i) = number(load<Stored>(item, header.big_endian), i);
  }
  return Array(header.shape, std::move(values));
}

template <class Stored, class Kept>
Array decode_floats(const NpyHeader& header, const std::byte* data) {
  return decode<Stored, Kept>(header, data, [](Stored value, Index) { return static_cast<Kept>(value); });
}

/// Integers of this many bytes, with or without a sign.
template <std::unsigned_integral Bits>
Array decode_integers(const NpyHeader& header, const std::byte* data, std::string_view what) {
  const auto exact = [&](auto value, Index row_major) {
    // Trailing zeros may follow the 53 significant bits of a double.
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
    if (magnitude != 0 && magnitude >> std::countr_zero(magnitude) >> 53 != 0)
      refuse("{}: the integer {} at {} is too large to be held exactly as float64", what, value,
             to_string(index_of(header.shape, row_major)));
    return static_cast<double>(value);
  };
  if (header.kind == 'u') return decode<Bits, double>(header, data, exact);
  return decode<std::make_signed_t<Bits>, double>(header, data, exact);
}

std::string_view kind_in_words(char kind) {
  using KindInWords = std::pair<char, std::string_view>;
  static constexpr KindInWords table[] = {
      {'c', " (complex numbers)"}, {'O', " (Python objects)"}, {'S', " (text)"}, {'U', " (text)"},
      {'M', " (times)"},           {'m', " (times)"}};
  const KindInWords* const row = row_called(table, kind, &KindInWords::first);
  return row ? row->second : "";
}

[[noreturn]] void refuse_dtype(const NpyHeader& header, std::string_view what) {
  // Numpy writes objects as '|O', with no width.
  const char kind = header.dtype == "|O" ? 'O' : header.kind;
  refuse(
      "{}: dtype '{}'{} cannot be read; accepted are float16, float32, float64, integers of 8 to "
      "64 bits, and bool",
      what, shown(header.dtype), kind_in_words(kind));
}

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;

constexpr std::string_view extension = ".npy";

std::string zip_problem(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string problem = zip_error_strerror(&error);
  zip_error_fini(&error);
  return problem;
}

/// Refuses whatever is plainly no .npz, with a better reason than the zip library could give.
void check_start(const fs::path& path) {
  require_readable_file(path);
  const std::string start = file_start(path, npy_magic.size());
  if (start.empty()) refuse_file(path, "is empty; expected an .npz file");
  if (start == npy_magic)
    refuse_file(path, "is a single array (.npy); give an .npz with named arrays (numpy.savez)");
  if (!start.starts_with("PK")) refuse_file(path, "is not an .npz file (a zip archive of .npy arrays)");
}

Archive open_to_read(const fs::path& path) {
  check_start(path);
  int error = 0;
  Archive archive(zip_open(path.string().c_str(), ZIP_RDONLY, &error));
  if (!archive) refuse_file(path, "broken or truncated .npz: {}", zip_problem(error));
  return archive;
}

/// Inflates one member. Memory grows with the actual size, not with the size that the archive claims.
std::vector<std::byte> inflate(zip_t* archive, zip_uint64_t index, const Budget& budget,
                               std::string_view what) {
  zip_stat_t claim;
  zip_stat_init(&claim);
  if (zip_stat_index(archive, index, 0, &claim) != 0 || (claim.valid & ZIP_STAT_SIZE) == 0)
    refuse("{}: {}", what, zip_strerror(archive));
  Budget(budget).take(claim.size, what);
  const Member member(zip_fopen_index(archive, index, 0));
  if (!member) refuse("{}: cannot be inflated: {}", what, zip_strerror(archive));

  constexpr std::size_t first_bytes = 1 << 16;
  std::vector<std::byte> bytes;
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(std::max(first_bytes, 2 * filled));
    const zip_int64_t count = zip_fread(member.get(), &bytes[filled], bytes.size() - filled);
    if (count < 0) refuse("{}: cannot be inflated: {}", what, zip_file_strerror(member.get()));
    if (count == 0) break;  // the library has now compared the checksum
    filled += static_cast<std::size_t>(count);
    if (filled > claim.size) break;
  }
  if (filled != claim.size)
    refuse("{}: inflates to {} bytes, but the archive claims {}", what,
           filled > claim.size ? "more" : fmt::to_string(filled), claim.size);
  bytes.resize(filled);
  return bytes;
}

bool begins_as_npy(zip_t* archive, zip_uint64_t index) {
  const Member member(zip_fopen_index(archive, index, 0));
  std::array<char, npy_magic.size()> start{};
  return member && zip_fread(member.get(), start.data(), start.size()) == std::ssize(start) &&
         std::string_view(start.data(), start.size()) == npy_magic;
}

/// The name without ".npy", unchanged for an array without that ending; nothing for other members.
std::optional<std::string> array_name(zip_t* archive, zip_uint64_t index) {
  const char* found = zip_get_name(archive, index, 0);
  if (found == nullptr) return std::nullopt;
  std::string_view name = found;
  if (name.ends_with(extension))
    name.remove_suffix(extension.size());
  else if (!begins_as_npy(archive, index))
    return std::nullopt;
  return valid_utf8(name);
}

zip_uint64_t member_count(zip_t* archive) {
  return static_cast<zip_uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(archive, 0)));
}

void add_member(zip_t* archive, const fs::path& path, const std::string& name,
                const std::vector<std::byte>& bytes) {
  const auto check = [&](bool done) {
    if (!done) refuse("{}: cannot be written: {}", array_words(path, name), zip_strerror(archive));
  };
  zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  check(source != nullptr);
  const zip_int64_t index =
      zip_file_add(archive, (name + std::string(extension)).c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) zip_source_free(source);
  check(index >= 0);
  const auto member = static_cast<zip_uint64_t>(index);
  check(zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) == 0);
  constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;
  check(zip_file_set_dostime(archive, member, 0, first_of_january_1980, 0) == 0);
}

}  // namespace

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view what) {
  NpyHeader header;
  parse_dictionary(HeaderText(header_text(bytes, what, header), what), header);
  parse_dtype(header);
  header.size = checked_size(header, what);
  if (header.kind == '?') return header;
  const std::size_t found = bytes.size() - header.data_offset;
  const auto size = static_cast<std::size_t>(header.size);
  const bool fits = header.item_bytes == 0 || size <= found / header.item_bytes;
  if (!fits || size * header.item_bytes != found)
    refuse("{}: shape {} of dtype '{}' needs {} elements of {} bytes, but {} bytes of data follow", what,
           to_string(header.shape), shown(header.dtype), size, header.item_bytes, found);
  return header;
}

Array parse_npy(std::span<const std::byte> bytes, std::string_view what) {
  const NpyHeader header = parse_npy_header(bytes, what);
  const std::byte* data = bytes.data() + header.data_offset;
  const std::size_t width = header.item_bytes;
  if (header.kind == 'f') {
    if (width == 2) return decode_floats<Eigen::half, float>(header, data);
    if (width == 4) return decode_floats<float, float>(header, data);
    if (width == 8) return decode_floats<double, double>(header, data);
  }
  if (header.kind == 'i' || header.kind == 'u') {
    if (width == 1) return decode_integers<std::uint8_t>(header, data, what);
    if (width == 2) return decode_integers<std::uint16_t>(header, data, what);
    if (width == 4) return decode_integers<std::uint32_t>(header, data, what);
    if (width == 8) return decode_integers<std::uint64_t>(header, data, what);
  }
  if (header.kind == 'b' && width == 1)
    return decode<std::uint8_t, double>(header, data,
                                        [](std::uint8_t bits, Index) { return bits == 0 ? 0.0 : 1.0; });
  refuse_dtype(header, what);
}

std::optional<std::string> parse_npy_text(std::span<const std::byte> bytes, std::string_view what) {
  const NpyHeader header = parse_npy_header(bytes, what);
  const auto data = bytes.subspan(header.data_offset);
  const bool list_of_bytes = header.kind == 'u' && header.item_bytes == 1 && header.shape.size() == 1;
  const bool one_string = (header.kind == 'S' || header.kind == 'U') && header.size == 1;
  if (!list_of_bytes && !one_string) return std::nullopt;
  std::string text;
  if (header.kind == 'U') {
    for (std::size_t i = 0; i < data.size(); i += 4)
      append_utf8(text, load<std::uint32_t>(&data[i], header.big_endian));
  } else {
    text = valid_utf8({reinterpret_cast<const char*>(data.data()), data.size()});
  }
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

std::vector<std::byte> format_npy(const Array& array) {
  const std::string dtype =
      fmt::format("{}f{}", std::endian::native == std::endian::little ? '<' : '>', array.is_f32() ? 4 : 8);
  const auto format = [&](const auto& values) {
    return format_npy_bytes(dtype, array.shape, std::as_bytes(std::span(values)));
  };
  return std::visit(format, array.values());
}

std::vector<std::byte> format_npy_bytes(std::string_view dtype, const std::vector<Index>& shape,
                                        std::span<const std::byte> data) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t before_text = 10;
  text.append(63 - (before_text + text.size()) % 64, ' ');  // the data start at a multiple of 64
  text += '\n';
  std::vector<std::byte> bytes;
  append(bytes, "\x93NUMPY\x01\x00", 8);
  for (const std::size_t part : {text.size() & 0xFF, text.size() >> 8})
    bytes.push_back(static_cast<std::byte>(part));
  append(bytes, text.data(), text.size());
  append(bytes, data.data(), data.size());
  return bytes;
}

std::vector<std::byte> format_npy_text(std::string_view text) {
  return format_npy_bytes("|u1", {static_cast<Index>(text.size())}, std::as_bytes(std::span(text)));
}

Npz read_npz(const fs::path& path, const NpzLimits& limits, const Wanted& wanted) {
  const Archive archive = open_to_read(path);
  Budget budget(limits);
  Npz npz;
  for (zip_uint64_t index = 0; index < member_count(archive.get()); ++index) {
    const auto name = array_name(archive.get(), index);
    if (!name) continue;
    add_array(npz, path, *name, wanted, budget,
              [&](std::string_view what) { return inflate(archive.get(), index, budget, what); });
  }
  return npz;
}

std::optional<std::string> read_npz_text(const fs::path& path, std::string_view name) {
  const Archive archive = open_to_read(path);
  for (zip_uint64_t index = 0; index < member_count(archive.get()); ++index) {
    if (array_name(archive.get(), index) != name) continue;
    const std::string what = array_words(path, name);
    return parse_npy_text(inflate(archive.get(), index, Budget({}), what), what);
  }
  return std::nullopt;
}

void write_npz(const fs::path& path, const Arrays& arrays, const Texts& texts) {
  if (arrays.empty() && texts.empty()) refuse_file(path, "cannot be written: there are no arrays");
  const fs::path target = writable_target(path);
  // The library reads these when the archive is closed. It then writes a temporary file beside the target and
  // renames it.
  std::vector<std::vector<std::byte>> members;
  members.reserve(arrays.size() + texts.size());
  int error = 0;
  Archive archive(zip_open(target.string().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) refuse_file(path, "cannot be written: {}", zip_problem(error));
  for (const auto& [name, array] : arrays)
    add_member(archive.get(), path, name, members.emplace_back(format_npy(array)));
  for (const auto& [name, text] : texts)
    add_member(archive.get(), path, name, members.emplace_back(format_npy_text(text)));
  if (zip_close(archive.get()) != 0) refuse_file(path, "cannot be written: {}", zip_strerror(archive.get()));
  archive.release();
}

}  // namespace palimpsest
