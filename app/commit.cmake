# Writes the file `header` with the commit of the sources in `source`: "8b2397777cd2", followed by "-dirty" if
# tracked files are changed. A source archive knows its commit from app/archived_commit.txt, which
# `git archive` fills in; without either it is "unknown". The header is written only when it changes, so
# that a build without changes compiles and links nothing.
cmake_minimum_required(VERSION 3.25)
set(commit "unknown")
find_program(GIT_PROGRAM git)
if(GIT_PROGRAM AND EXISTS "${source}/.git")  # not the repository that an archive happens to lie in
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env GIT_OPTIONAL_LOCKS=0
            "${GIT_PROGRAM}" describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY "${source}" RESULT_VARIABLE status OUTPUT_VARIABLE described ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(commit "${described}")
  endif()
elseif(EXISTS "${source}/app/archived_commit.txt")
  file(READ "${source}/app/archived_commit.txt" archived)
  string(STRIP "${archived}" archived)
  if(archived MATCHES "^[0-9a-f]+$")
    set(commit "${archived}")
  endif()
endif()
file(CONFIGURE OUTPUT "${header}" CONTENT "#pragma once\n#define PALIMPSEST_COMMIT \"${commit}\"\n")
