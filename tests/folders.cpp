#include "tests/folders.h"

namespace palimpsest::testing {

std::string test_data_folder() { return PALIMPSEST_TEST_DATA; }

std::string assets_folder() { return PALIMPSEST_ASSETS_SOURCE; }

std::string tested_program() { return PALIMPSEST_TESTED_PROGRAM; }

}  // namespace palimpsest::testing
