#pragma once

#include <string>

namespace palimpsest::testing {

/// Where the files of the tests lie: golden outputs, files of every format.
std::string test_data_folder();

/// The project's own assets.
std::string assets_folder();

/// The program that is tested as a command; empty in tests that start none.
std::string tested_program();

}  // namespace palimpsest::testing
