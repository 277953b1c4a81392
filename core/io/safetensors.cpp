#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/io/array_file.h"
#include "core/io/file.h"

namespace palimpsest {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t most_header_bytes = 100'000'000;  // the format's own limit
constexpr int deepest = 3;                                // {"q": {"shape": [2]}}

struct Dtype {
  std::string_view name;
  std::string_view as_npy;
  std::uint64_t item_bytes;
};

constexpr std::string_view bf16 = "BF16";  // numpy has no such type: it is widened to f32

constexpr std::array<Dtype, 13> dtypes = {{{"F64", "<f8", 8},
                                           {"F32", "<f4", 4},
                                           {"F16", "<f2", 2},
                                           {bf16, "<f4", 2},
                                           {"I64", "<i8", 8},
                                           {"I32", "<i4", 4},
                                           {"I16", "<i2", 2},
                                           {"I8", "|i1", 1},
                                           {"U64", "<u8", 8},
                                           {"U32", "<u4", 4},
                                           {"U16", "<u2", 2},
                                           {"U8", "|u1", 1},
                                           {"BOOL", "|b1", 1}}};

const Dtype& find_dtype(const json& tensor, std::string_view what) {
  const auto field = tensor.find("dtype");
  if (field == tensor.end() || !field->is_string()) refuse("{}: expected a \"dtype\" in words", what);
  const auto& name = field->get_ref<const std::string&>();
  if (const Dtype* const found = row_called(dtypes, name, &Dtype::name)) return *found;
  refuse(
      "{}: dtype '{}' cannot be read; accepted are F16, BF16, F32, F64, integers of 8 to 64 bits, and BOOL",
      what, shown(name));
}

/// A list of counts (non-negative integers).
std::vector<std::uint64_t> counts(const json& tensor, const char* key, std::string_view what) {
  const auto field = tensor.find(key);
  const bool is_list =
      field != tensor.end() && field->is_array() &&
      std::ranges::all_of(*field, [](const json& each) { return each.is_number_unsigned(); });
  if (!is_list) refuse("{}: expected a \"{}\", a list of integers from 0 on", what, key);
  return field->get<std::vector<std::uint64_t>>();
}

std::vector<Index> shape_of(const json& tensor, std::string_view what) {
  const std::vector<std::uint64_t> extents = counts(tensor, "shape", what);
  if (extents.size() > most_axes)
    refuse("{}: has {} axes; at most {} can be read", what, extents.size(), most_axes);
  std::vector<Index> shape;
  for (const std::uint64_t extent : extents) {
    if (!std::in_range<Index>(extent)) refuse("{}: an axis of {} is too long", what, extent);
    shape.push_back(static_cast<Index>(extent));
  }
  return shape;
}

/// Bytes that a shape needs; the largest number where they cannot be counted.
std::uint64_t needed_bytes(const std::vector<Index>& shape, std::uint64_t item_bytes) {
  constexpr std::uint64_t uncountable = std::numeric_limits<std::uint64_t>::max();
  if (is_among(0, shape)) return 0;
  std::uint64_t bytes = item_bytes;
  for (const Index extent : shape) {
    const auto factor = static_cast<std::uint64_t>(extent);
    if (bytes > uncountable / factor) return uncountable;
    bytes *= factor;
  }
  return bytes;
}

/// bf16 is the upper half of f32.
std::vector<std::byte> widened(const std::vector<std::byte>& halves) {
  std::vector<std::byte> bytes(2 * halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) bytes[4 * (i / 2) + 2 + i % 2] = halves[i];
  return bytes;
}

/// One tensor as an .npy. The numbers of the file begin at `data_begin` and are `data_bytes` long.
std::vector<std::byte> read_tensor(const fs::path& path, const json& tensor, std::uint64_t data_begin,
                                   std::uint64_t data_bytes, const Budget& budget, std::string_view what) {
  if (!tensor.is_object()) refuse("{}: expected an object, found {}", what, tensor.type_name());
  const Dtype& dtype = find_dtype(tensor, what);
  const std::vector<Index> shape = shape_of(tensor, what);
  const std::vector<std::uint64_t> offsets = counts(tensor, "data_offsets", what);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    refuse("{}: expected \"data_offsets\", where it begins and ends", what);
  const auto [begin, end] = std::pair(offsets[0], offsets[1]);
  if (end > data_bytes)
    refuse("{}: data_offsets [{}, {}] lie outside the {} bytes of data", what, begin, end, data_bytes);
  if (needed_bytes(shape, dtype.item_bytes) != end - begin)
    refuse("{}: shape {} of dtype '{}' does not fit the {} bytes of data_offsets [{}, {}]", what,
           to_string(shape), dtype.name, end - begin, begin, end);
  Budget(budget).take(end - begin, what);
  const std::vector<std::byte> bytes = read_bytes(path, data_begin + begin, end - begin);
  return format_npy_bytes(dtype.as_npy, shape, dtype.name == bf16 ? widened(bytes) : bytes);
}

json parse_header(const fs::path& path, std::string_view text) {
  const auto fail = [&](std::string_view problem) {
    refuse_file(path, "broken .safetensors header: {}", problem);
  };
  std::set<std::string> seen;
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > deepest) fail("lists in lists");
    if (event == json::parse_event_t::key && depth == 1 && !seen.insert(parsed.get<std::string>()).second)
      fail(fmt::format("\"{}\" appears twice", shown(parsed.get<std::string>())));
    return true;
  };
  json header;
  try {
    header = json::parse(text, check);
  } catch (const json::exception&) {
    fail("not valid JSON");
  }
  if (!header.is_object()) fail(fmt::format("expected an object, found {}", header.type_name()));
  return header;
}

}  // namespace

Npz read_safetensors(const fs::path& path, const NpzLimits& limits, const Wanted& wanted) {
  require_readable_file(path);
  const std::uint64_t size = fs::file_size(path);
  if (size == 0) refuse_file(path, "is empty; expected a .safetensors file");
  if (size < length_bytes)
    refuse_file(path, "has {} bytes; a .safetensors file begins with {} that say how long its header is",
                size, length_bytes);
  const std::uint64_t header_bytes = little_endian(read_bytes(path, 0, length_bytes));
  if (header_bytes > size - length_bytes)
    refuse_file(path,
                "is not a .safetensors file, or is truncated: the header claims {} bytes, but only {} follow",
                header_bytes, size - length_bytes);
  if (header_bytes > most_header_bytes)
    refuse_file(path, "the header claims {} bytes; the format allows {}", header_bytes, most_header_bytes);
  const std::vector<std::byte> text = read_bytes(path, length_bytes, header_bytes);
  const json header = parse_header(path, {reinterpret_cast<const char*>(text.data()), text.size()});
  const std::uint64_t data_begin = length_bytes + header_bytes;
  Npz npz;
  Budget budget(limits);
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    add_array(npz, path, name, wanted, budget, [&](std::string_view what) {
      return read_tensor(path, tensor, data_begin, size - data_begin, budget, what);
    });
  }
  return npz;
}

}  // namespace palimpsest
