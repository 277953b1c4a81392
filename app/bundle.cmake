# Fetches the pinned source archive of requirements.txt and builds the parts that we use as small static
# libraries: imgui, imgui_test_engine, implot, text_editor, microtex.
#
# The archive is unpacked into a cache folder outside the build folder, so that a fresh build does not fetch
# again. Every stage works in a folder of its own that is renamed at the end: what carries the final name is whole.

set(PALIMPSEST_BUNDLE_DIR "" CACHE PATH "An unpacked imgui-bundle source tree to use instead of fetching one")
set(default_cache "$ENV{HOME}/.cache/palimpsest")
if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(default_cache "$ENV{XDG_CACHE_HOME}/palimpsest")
endif()
if(NOT "$ENV{PALIMPSEST_CACHE}" STREQUAL "")
  set(default_cache "$ENV{PALIMPSEST_CACHE}")
endif()
set(PALIMPSEST_CACHE "${default_cache}" CACHE PATH "Where fetched third-party sources are kept")

set(requirements "${CMAKE_CURRENT_LIST_DIR}/requirements.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${requirements}")

# Sets `result` to the folder with the unpacked sources; fetches and unpacks them when they are not there.
function(provide_bundle result)
  if(PALIMPSEST_BUNDLE_DIR)
    set(${result} "${PALIMPSEST_BUNDLE_DIR}" PARENT_SCOPE)
    return()
  endif()
  file(READ "${requirements}" text)
  if(NOT text MATCHES "imgui-bundle==([0-9.]+) --hash=sha256:([0-9a-f]+)")
    message(FATAL_ERROR "${requirements} does not pin imgui-bundle")
  endif()
  set(version "${CMAKE_MATCH_1}")
  set(hash "${CMAKE_MATCH_2}")
  string(SUBSTRING "${hash}" 0 12 short_hash)
  set(folder "${PALIMPSEST_CACHE}/imgui-bundle-${version}-${short_hash}")
  set(${result} "${folder}" PARENT_SCOPE)
  if(EXISTS "${folder}")
    return()
  endif()

  file(MAKE_DIRECTORY "${PALIMPSEST_CACHE}")
  file(LOCK "${PALIMPSEST_CACHE}/lock" GUARD FUNCTION TIMEOUT 600)
  if(EXISTS "${folder}")  # another build fetched it while we waited
    return()
  endif()
  set(work "${folder}.partial")
  file(REMOVE_RECURSE "${work}")
  file(MAKE_DIRECTORY "${work}")
  message(STATUS "Fetching imgui-bundle ${version} (49 MB) into ${PALIMPSEST_CACHE}")
  find_program(PALIMPSEST_PYTHON NAMES python3 python DOC "A Python with pip")
  execute_process(
    COMMAND "${PALIMPSEST_PYTHON}" -m pip download --quiet --disable-pip-version-check --no-deps
            --no-binary imgui-bundle --require-hashes -r "${requirements}" -d "${work}"
    RESULT_VARIABLE status ERROR_VARIABLE errors OUTPUT_VARIABLE errors)
  file(GLOB archive "${work}/*.tar.gz")
  if(NOT status EQUAL 0 OR NOT archive)
    file(REMOVE_RECURSE "${work}")
    message(FATAL_ERROR "imgui-bundle ${version} could not be fetched (it needs a network and `python3 -m pip`):\n${errors}\n"
      "Without a network: unpack its source archive anywhere and configure with -DPALIMPSEST_BUNDLE_DIR=THAT_FOLDER.")
  endif()
  file(SHA256 "${archive}" found)
  if(NOT found STREQUAL hash)
    file(REMOVE_RECURSE "${work}")
    message(FATAL_ERROR "The archive of imgui-bundle ${version} has the hash ${found}, expected ${hash}.")
  endif()
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${work}")
  file(GLOB unpacked "${work}/imgui_bundle-*" LIST_DIRECTORIES true)
  list(REMOVE_ITEM unpacked "${archive}")
  file(RENAME "${unpacked}" "${folder}")
  file(REMOVE_RECURSE "${work}")
endfunction()

provide_bundle(bundle)
set(bundle_assets "${bundle}/bindings/imgui_bundle/assets")
set(imgui_dir "${bundle}/external/imgui/imgui")
set(test_engine_dir "${bundle}/external/imgui_test_engine/imgui_test_engine")
set(implot_dir "${bundle}/external/implot/implot")
set(editor_dir "${bundle}/external/ImGuiColorTextEdit/ImGuiColorTextEdit")
set(microtex_dir "${bundle}/external/imgui_microtex")
if(NOT EXISTS "${imgui_dir}/imgui.cpp")
  message(FATAL_ERROR "${bundle} does not hold the sources of imgui-bundle. Delete it to fetch it again.")
endif()

# Third-party code is optimised, silent and without debug information in every build.
function(third_party_library name optimised)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE -w ${optimised} -g0)
endfunction()

# What opens windows and draws: the page itself in a browser, GLFW and one loader of OpenGL functions elsewhere,
# which works with GLX and with EGL.
add_library(window_system INTERFACE)
if(EMSCRIPTEN)
  target_compile_definitions(window_system INTERFACE IMGUI_IMPL_OPENGL_ES3)
else()
  find_package(glfw3 3.3 REQUIRED)
  find_package(Freetype REQUIRED)
  pkg_check_modules(epoxy REQUIRED IMPORTED_TARGET epoxy)
  set(window_backend "${imgui_dir}/backends/imgui_impl_glfw.cpp")
  target_link_libraries(window_system INTERFACE glfw PkgConfig::epoxy ${CMAKE_DL_LIBS})
endif()

third_party_library(imgui -O2
  "${imgui_dir}/imgui.cpp" "${imgui_dir}/imgui_demo.cpp" "${imgui_dir}/imgui_draw.cpp"
  "${imgui_dir}/imgui_stacklayout.cpp" "${imgui_dir}/imgui_tables.cpp" "${imgui_dir}/imgui_widgets.cpp"
  ${window_backend} "${imgui_dir}/backends/imgui_impl_opengl3.cpp"
  "${imgui_dir}/misc/freetype/imgui_freetype.cpp" "${imgui_dir}/misc/cpp/imgui_stdlib.cpp")
target_include_directories(imgui SYSTEM PUBLIC
  "${imgui_dir}" "${imgui_dir}/backends" "${imgui_dir}/misc/freetype" "${imgui_dir}/misc/cpp" "${test_engine_dir}"
  "${test_engine_dir}/imgui_test_engine")
target_compile_definitions(imgui PRIVATE IMGUI_DISABLE_DEMO_WINDOWS PUBLIC "IMGUI_USER_CONFIG=\"app/gl/imgui_config.h\"")
target_include_directories(imgui PUBLIC "${CMAKE_SOURCE_DIR}")
set_source_files_properties("${imgui_dir}/backends/imgui_impl_opengl3.cpp" PROPERTIES
  COMPILE_OPTIONS "-include;${CMAKE_CURRENT_LIST_DIR}/gl/backend_opengl.h" COMPILE_DEFINITIONS IMGUI_IMPL_OPENGL_LOADER_CUSTOM)
target_link_libraries(imgui PUBLIC window_system Freetype::Freetype)

# Dear ImGui calls the test engine's hooks and the test engine calls Dear ImGui. A program links one of these two.
file(GLOB test_engine_sources "${test_engine_dir}/imgui_test_engine/*.cpp")
third_party_library(imgui_test_engine -O1 ${test_engine_sources})
set_target_properties(imgui_test_engine PROPERTIES EXCLUDE_FROM_ALL ON)
target_link_libraries(imgui_test_engine PUBLIC imgui Threads::Threads)
add_library(no_test_engine OBJECT gl/no_test_engine.cpp)
target_link_libraries(no_test_engine PRIVATE imgui)

# Without its demo, and for series of double alone: its templates would be made for ten types. Optimising it fully
# would take twice the time.
third_party_library(implot -O1 "${implot_dir}/implot.cpp" "${implot_dir}/implot_items.cpp")
target_compile_definitions(implot PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(double)")
target_link_libraries(implot PUBLIC imgui)

third_party_library(text_editor -O1 "${editor_dir}/TextEditor.cpp")
target_include_directories(text_editor SYSTEM PUBLIC "${editor_dir}")
target_link_libraries(text_editor PUBLIC imgui)

file(GLOB_RECURSE microtex_sources "${microtex_dir}/MicroTeX/lib/*.cpp")
list(FILTER microtex_sources EXCLUDE REGEX "/lib/wrapper/")
list(TRANSFORM microtex_sources REPLACE ".*/lib/atom/atom_fence[.]cpp$" "${CMAKE_CURRENT_LIST_DIR}/microtex/fence.cpp")
third_party_library(microtex -O2 ${microtex_sources})
# Its own build writes this header; the numbers appear only in a message that we never show.
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/microtex/microtexconfig.h" CONTENT "#pragma once
#define MICROTEX_VERSION_MAJOR 1
#define MICROTEX_VERSION_MINOR 0
#define MICROTEX_VERSION_PATCH 0
")
target_include_directories(microtex SYSTEM PUBLIC
  "${microtex_dir}/MicroTeX/lib" "${CMAKE_CURRENT_BINARY_DIR}/microtex")
set_target_properties(microtex PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 50)  # half the time
# A macro of the one would leak into its neighbours; a name of the other is one of the standard library, too.
set_source_files_properties("${microtex_dir}/MicroTeX/lib/unimath/math_type.cpp"
  "${microtex_dir}/MicroTeX/lib/unimath/uni_char.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_compile_definitions(microtex PRIVATE GLYPH_RENDER_TYPE=2)  # glyphs from the font file, not from paths
# This file aborts the program where the locale en_US.UTF-8 is not installed; its Windows branch uses "C".
set_source_files_properties("${microtex_dir}/MicroTeX/lib/utils/utils.cpp" PROPERTIES COMPILE_DEFINITIONS __WIN32__)
