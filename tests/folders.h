#pragma once

#include "core/io/array_file.h"

namespace palimpsest::testing {

/// Where the files of the tests lie: golden outputs, files of every format.
std::string test_data_folder();

/// The project's own assets.
std::string assets_folder();

/// The program that is tested as a command; empty in tests that start none.
std::string tested_program();

/// The capture in a file (see read_array_file).
inline Capture read_capture(const std::filesystem::path& path) {
  return capture_of(read_array_file(path), path);
}

}  // namespace palimpsest::testing
