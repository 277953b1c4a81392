#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/array.h"
#include "core/base/matrix.h"

namespace palimpsest {

/// The most axes that an array may have: numpy's own limit.
inline constexpr std::size_t most_axes = 64;

/// The number in these bytes, the lowest first.
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

}  // namespace palimpsest
