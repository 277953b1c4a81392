#include "core/io/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/io/npy_header.h"

namespace palimpsest {

namespace {

/// The unsigned integer at `bytes`, in the byte order of the file.
template <std::unsigned_integral Bits>
Bits load(const std::byte* bytes, bool big_endian) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) {
    bits = bits << 8 | std::to_integer<std::uint64_t>(bytes[big_endian ? i : sizeof(Bits) - 1 - i]);
  }
  return static_cast<Bits>(bits);
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

/// All elements, each turned into a number by decode(bits, row_major).
template <class Kept, std::unsigned_integral Bits, class Decode>
Array decode_all(const NpyHeader& header, const std::byte* data, Decode decode) {
  std::vector<Kept> values(static_cast<std::size_t>(header.size));
  for (Index i = 0; i < header.size; ++i) {
    const std::byte* item = data + stored_place(header, i) * static_cast<Index>(sizeof(Bits));
    values[static_cast<std::size_t>(i)] = decode(load<Bits>(item, header.big_endian), i);
  }
  return Array(header.shape, std::move(values));
}

/// "[2, 0, 5]": the index of a row-major element.
std::string index_text(const std::vector<Index>& shape, Index flat) {
  std::vector<Index> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; flat /= shape[axis]) index[axis] = flat % shape[axis];
  return to_string(index);
}

template <std::unsigned_integral Bits>
Array decode_integers(const NpyHeader& header, const std::byte* data, std::string_view what) {
  const auto exact = [&](auto value, Index row_major) {
    if constexpr (sizeof(Bits) == 8) {
      // Trailing zeros may follow the 53 significant bits of a double.
      const Bits magnitude = value < 0 ? Bits{0} - static_cast<Bits>(value) : static_cast<Bits>(value);
      if (magnitude != 0 && magnitude >> std::countr_zero(magnitude) >> 53 != 0) {
        throw InputError(fmt::format("{}: the integer {} at {} is too large to be held exactly as float64",
                                     what, value, index_text(header.shape, row_major)));
      }
    }
    return static_cast<double>(value);
  };
  if (header.kind == 'u') return decode_all<double, Bits>(header, data, exact);
  return decode_all<double, Bits>(header, data, [&](Bits bits, Index row_major) {
    return exact(static_cast<std::make_signed_t<Bits>>(bits), row_major);
  });
}

std::string_view kind_in_words(char kind) {
  switch (kind) {
    case 'c':
      return " (complex numbers)";
    case 'O':
      return " (Python objects)";
    case 'S':
    case 'U':
      return " (text)";
    case 'M':
    case 'm':
      return " (times)";
    default:
      return "";
  }
}

[[noreturn]] void refuse_dtype(const NpyHeader& header, std::string_view what) {
  // Numpy writes objects as '|O', with no width.
  const char kind = header.dtype == "|O" ? 'O' : header.kind;
  throw InputError(
      fmt::format("{}: dtype '{}'{} cannot be read; accepted are float16, float32, float64, integers of 8 to "
                  "64 bits, and bool",
                  what, shown(header.dtype), kind_in_words(kind)));
}

/// "{'descr': ..., }" and all that comes before it, padded so that the data start at a multiple of 64.
std::vector<std::byte> npy_start(std::string_view dtype, const std::vector<Index>& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t before_text = 10;
  text.append(63 - (before_text + text.size()) % 64, ' ');
  text += '\n';
  std::vector<std::byte> bytes;
  append(bytes, "\x93NUMPY\x01\x00", 8);
  for (const std::size_t part : {text.size() & 0xFF, text.size() >> 8})
    bytes.push_back(static_cast<std::byte>(part));
  append(bytes, text.data(), text.size());
  return bytes;
}

}  // namespace

Array parse_npy(std::span<const std::byte> bytes, std::string_view what) {
  const NpyHeader header = parse_npy_header(bytes, what);
  const std::byte* data = bytes.data() + header.data_offset;
  const std::size_t width = header.item_bytes;
  if (header.kind == 'f') {
    if (width == 2) {
      return decode_all<float, std::uint16_t>(header, data, [](std::uint16_t bits, Index) {
        return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
      });
    }
    if (width == 4) {
      return decode_all<float, std::uint32_t>(
          header, data, [](std::uint32_t bits, Index) { return std::bit_cast<float>(bits); });
    }
    if (width == 8) {
      return decode_all<double, std::uint64_t>(
          header, data, [](std::uint64_t bits, Index) { return std::bit_cast<double>(bits); });
    }
  }
  if (header.kind == 'i' || header.kind == 'u') {
    if (width == 1) return decode_integers<std::uint8_t>(header, data, what);
    if (width == 2) return decode_integers<std::uint16_t>(header, data, what);
    if (width == 4) return decode_integers<std::uint32_t>(header, data, what);
    if (width == 8) return decode_integers<std::uint64_t>(header, data, what);
  }
  if (header.kind == 'b' && width == 1) {
    return decode_all<double, std::uint8_t>(header, data,
                                            [](std::uint8_t bits, Index) { return bits == 0 ? 0.0 : 1.0; });
  }
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
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  std::vector<std::byte> bytes = npy_start(fmt::format("{}f{}", order, array.is_f32() ? 4 : 8), array.shape);
  std::visit([&](const auto& values) { append(bytes, values.data(), values.size() * sizeof(values[0])); },
             array.values);
  return bytes;
}

std::vector<std::byte> format_npy_bytes(std::string_view dtype, const std::vector<Index>& shape,
                                        std::span<const std::byte> data) {
  std::vector<std::byte> bytes = npy_start(dtype, shape);
  append(bytes, data.data(), data.size());
  return bytes;
}

std::vector<std::byte> format_npy_text(std::string_view text) {
  std::vector<std::byte> bytes = npy_start("|u1", {static_cast<Index>(text.size())});
  append(bytes, text.data(), text.size());
  return bytes;
}

}  // namespace palimpsest
