#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/matrix.h"

namespace palimpsest {

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

/// Reads the header of an .npy of version 1.0, 2.0 or 3.0 and checks it against the bytes that exist: where
/// the dtype is understood, exactly size * item_bytes bytes follow. `what` names the array in messages.
/// Throws InputError.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view what);

}  // namespace palimpsest
