# The program for a page, and the folder `site` that holds it with all that the page fetches.
add_executable(palimpsest web/main.cpp)
target_link_libraries(palimpsest PRIVATE palimpsest_app no_test_engine)

# What the program needs for its first picture travels with it, and a stub of each file that it fetches when asked.
set(first_assets "${CMAKE_BINARY_DIR}/first_assets")
set(site "${CMAKE_BINARY_DIR}/site")
set_target_properties(palimpsest PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${site}")
target_link_options(palimpsest PRIVATE
  -sENVIRONMENT=web,worker -sEXIT_RUNTIME=0 -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2 -sGL_ENABLE_GET_PROC_ADDRESS=0
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=96MB -sMAXIMUM_MEMORY=2GB -sSTACK_SIZE=1MB -sDEFAULT_PTHREAD_STACK_SIZE=1MB
  "SHELL:-sPTHREAD_POOL_SIZE=Module.threads" -sPTHREAD_POOL_SIZE_STRICT=2
  -sEXPORTED_FUNCTIONS=_main,_malloc,_free -sEXPORTED_RUNTIME_METHODS=FS,UTF8ToString,stringToNewUTF8
  "SHELL:--preload-file ${first_assets}@/assets")
file(GLOB_RECURSE shipped CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/assets/*" "${CMAKE_SOURCE_DIR}/shaders/*")
set_target_properties(palimpsest PROPERTIES LINK_DEPENDS "${shipped}")  # they are packed when it is linked
# Whoever hands the site on hands these on with it.
foreach(licence IN ITEMS
    palimpsest=${CMAKE_SOURCE_DIR}/LICENSE notices=${CMAKE_SOURCE_DIR}/docs/NOTICES.md zlib=${zlib}/LICENSE
    freetype=${PALIMPSEST_SOURCES_freetype}/docs/FTL.TXT pcre2=${PALIMPSEST_SOURCES_pcre2}/LICENCE.md
    libzip=${PALIMPSEST_SOURCES_libzip}/LICENSE imgui=${imgui_dir}/LICENSE.txt implot=${implot_dir}/LICENSE
    editor=${editor_dir}/LICENSE
    microtex=${microtex_dir}/MicroTeX/LICENSE fonts=${CMAKE_SOURCE_DIR}/assets/fonts/LICENSE.txt
    eigen=/usr/share/doc/libeigen3-dev/copyright fmt=/usr/share/doc/libfmt-dev/copyright
    json=/usr/share/doc/nlohmann-json3-dev/copyright emscripten=/usr/share/doc/emscripten/copyright)
  string(REGEX MATCH "^([a-z0-9]+)=(.*)$" matched "${licence}")
  configure_file("${CMAKE_MATCH_2}" "${site}/licences/${CMAKE_MATCH_1}.txt" COPYONLY)
endforeach()
file(GLOB page_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/site/*")
add_custom_target(site ALL
  COMMAND "${CMAKE_COMMAND}" -E copy ${page_files} "${site}"
  DEPENDS palimpsest COMMENT "Collecting the site" VERBATIM)

find_program(PALIMPSEST_PYTHON NAMES python3 python REQUIRED)
add_custom_target(first_assets
  COMMAND "${PALIMPSEST_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/assets.py" "${CMAKE_SOURCE_DIR}" "${bundle_assets}/fonts"
          "${first_assets}" "${site}/assets"
  COMMENT "Collecting assets" VERBATIM)
add_dependencies(palimpsest first_assets)
