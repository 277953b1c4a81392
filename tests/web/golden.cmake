# What an independent implementation gives, and the captures, under node: exp() and the order of sums are others there.
add_subdirectory("${PALIMPSEST_SOURCES_catch2}" catch2 EXCLUDE_FROM_ALL SYSTEM)
add_executable(tests_golden core/golden_test.cpp core/oracles.cpp folders.cpp)
target_link_libraries(tests_golden PRIVATE palimpsest_core runs_under_node nlohmann_json::nlohmann_json PkgConfig::libzip Catch2::Catch2WithMain)
target_compile_definitions(tests_golden PRIVATE
  "PALIMPSEST_TEST_DATA=\"${CMAKE_CURRENT_SOURCE_DIR}/data\"" "PALIMPSEST_ASSETS_SOURCE=\"${CMAKE_SOURCE_DIR}/assets\""
  "PALIMPSEST_TESTED_PROGRAM=\"\"")
