# The libraries of the web build, under the names that find_package() gives them elsewhere. web.sh fetches the
# sources; headers come from the system's packages, copied, because Emscripten must not see the system's others.

foreach(name IN ITEMS zlib freetype pcre2 libzip catch2)
  set(PALIMPSEST_SOURCES_${name} "" CACHE PATH "The unpacked sources of ${name}")
  if(NOT EXISTS "${PALIMPSEST_SOURCES_${name}}")
    message(FATAL_ERROR "PALIMPSEST_SOURCES_${name} is \"${PALIMPSEST_SOURCES_${name}}\"; ./web.sh fetches the sources")
  endif()
endforeach()

set(copied "${CMAKE_BINARY_DIR}/headers")
# Eigen 3.4 counts in 64 bits here, and asks how many entries there can be in a way that is wrong where addresses
# have 32. Its code for SSE, which Emscripten translates, has instructions in assembly for old compilers, and includes
# a header of MMX, from which it uses nothing.
function(change_header name from to)
  set(file "${copied}/eigen3/Eigen/src/Core/${name}")
  file(READ "${file}" text)
  string(REPLACE "${from}" "${to}" changed "${text}")
  if(changed STREQUAL text)
    message(FATAL_ERROR "Eigen's ${name} has no ${from}: look whether its change is still needed")
  endif()
  file(WRITE "${file}" "${changed}")
endfunction()
if(NOT EXISTS "${copied}/eigen3/mmintrin.h")  # the last one; a new copy would have everything compiled again
  file(MAKE_DIRECTORY "${copied}/eigen3")
  file(COPY /usr/include/fmt /usr/include/nlohmann /usr/include/CLI /usr/include/stb DESTINATION "${copied}")
  file(COPY /usr/include/eigen3/Eigen DESTINATION "${copied}/eigen3")
  change_header(PlainObjectBase.h "(std::size_t(1) << (8 * sizeof(Index) - 1)) - 1" "NumTraits<Index>::highest()")
  change_header(arch/SSE/PacketMath.h "EIGEN_COMP_GNUC && EIGEN_COMP_GNUC < 63" "0")
  file(WRITE "${copied}/eigen3/mmintrin.h" "")
endif()
set(STB_INCLUDE_DIR "${copied}/stb" CACHE PATH "" FORCE)

function(library_of_headers name)
  add_library(${name} INTERFACE IMPORTED)
  target_include_directories(${name} SYSTEM INTERFACE ${ARGN})
endfunction()
library_of_headers(Eigen3::Eigen "${copied}/eigen3")
library_of_headers(fmt::fmt "${copied}")
library_of_headers(nlohmann_json::nlohmann_json "${copied}")
library_of_headers(CLI11::CLI11 "${copied}")
target_compile_definitions(Eigen3::Eigen INTERFACE EIGEN_DEFAULT_DENSE_INDEX_TYPE=std::int64_t)
target_compile_options(Eigen3::Eigen INTERFACE -msimd128 -msse2 -includecstdint)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

enable_language(C)
set(BUILD_SHARED_LIBS OFF)
set(zlib "${PALIMPSEST_SOURCES_zlib}")
file(GLOB zlib_sources "${zlib}/*.c")
list(FILTER zlib_sources EXCLUDE REGEX "/gz[a-z]+[.]c$")
add_library(zlib STATIC ${zlib_sources})
target_include_directories(zlib SYSTEM PUBLIC "${zlib}")
target_compile_options(zlib PRIVATE -w)

foreach(library IN ITEMS ZLIB BZIP2 PNG HARFBUZZ BROTLI)
  set(FT_DISABLE_${library} ON)
endforeach()
add_subdirectory("${PALIMPSEST_SOURCES_freetype}" libraries/freetype EXCLUDE_FROM_ALL SYSTEM)
add_library(Freetype::Freetype ALIAS freetype)

set(PCRE2_BUILD_PCRE2GREP OFF)
set(PCRE2_BUILD_TESTS OFF)
add_subdirectory("${PALIMPSEST_SOURCES_pcre2}" libraries/pcre2 EXCLUDE_FROM_ALL SYSTEM)
add_library(PkgConfig::pcre2 ALIAS pcre2-8-static)

# libzip's own CMake files look for an installed zlib.
set(ZLIB_FOUND ON)
set(ZLIB_INCLUDE_DIR "${zlib}")
set(ZLIB_LIBRARY "${CMAKE_BINARY_DIR}/libzlib.a")
foreach(feature IN ITEMS COMMONCRYPTO GNUTLS MBEDTLS OPENSSL WINDOWS_CRYPTO BZIP2 LZMA ZSTD)
  set(ENABLE_${feature} OFF)
endforeach()
foreach(part IN ITEMS TOOLS REGRESS EXAMPLES DOC)
  set(BUILD_${part} OFF)
endforeach()
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
add_subdirectory("${PALIMPSEST_SOURCES_libzip}" libraries/libzip EXCLUDE_FROM_ALL SYSTEM)
add_library(PkgConfig::libzip ALIAS zip)

# A program that runs under node, with the files of the machine.
add_library(runs_under_node INTERFACE)
target_link_options(runs_under_node INTERFACE -sNODERAWFS=1 -sPROXY_TO_PTHREAD=1 -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1
  -sSTACK_SIZE=4MB -sDEFAULT_PTHREAD_STACK_SIZE=4MB -sENVIRONMENT=node,worker)
