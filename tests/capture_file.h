#pragma once

#include "core/io/array_file.h"

namespace palimpsest::testing {

/// The capture in a file (see read_array_file).
inline Capture read_capture(const std::filesystem::path& path) {
  return capture_of(read_array_file(path), path);
}

}  // namespace palimpsest::testing
