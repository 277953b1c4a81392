# What app/commit.cmake says of a repository that is clean, changed, archived, or not one at all, and that a
# second look leaves the header alone. `source` is our own tree, `work` a folder to make repositories in.
cmake_minimum_required(VERSION 3.25)
find_program(GIT_PROGRAM git)
if(NOT GIT_PROGRAM)
  message("SKIP: git was not found")
  return()
endif()

function(git folder)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
            "${GIT_PROGRAM}" -c user.name=tester -c user.email=tester@localhost ${ARGN}
    WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "git ${ARGN}: ${output}")
  endif()
  set(git_output "${output}" PARENT_SCOPE)
endfunction()

function(expect folder pattern)
  execute_process(COMMAND "${CMAKE_COMMAND}" ${ARGN} "-Dsource=${folder}" "-Dheader=${work}/commit.h"
                          -P "${source}/app/commit.cmake" RESULT_VARIABLE status)
  file(READ "${work}/commit.h" header)
  if(NOT status EQUAL 0 OR NOT header MATCHES "#define PALIMPSEST_COMMIT \"${pattern}\"\n")
    message(FATAL_ERROR "expected ${pattern} in ${folder}, found: ${header}")
  endif()
endfunction()

set(repository "${work}/repository")
set(archive "${repository}/unpacked")  # in a folder of a repository that is another one
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${repository}/app")
file(COPY "${source}/.gitattributes" DESTINATION "${repository}")
file(COPY "${source}/app/archived_commit.txt" DESTINATION "${repository}/app")
file(WRITE "${repository}/file.txt" "before\n")

expect("${repository}" "unknown")  # neither a repository nor an archive
git("${repository}" init --quiet)
git("${repository}" add .)
git("${repository}" commit --quiet --message first)
git("${repository}" tag v0.0.1)  # a tag is no commit
git("${repository}" rev-parse --short=12 HEAD)
set(commit "${git_output}")
expect("${repository}" "${commit}")
file(TIMESTAMP "${work}/commit.h" first_time "%s" UTC)
execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)
expect("${repository}" "${commit}")
file(TIMESTAMP "${work}/commit.h" second_time "%s" UTC)
if(NOT first_time STREQUAL second_time)
  message(FATAL_ERROR "the header was written again although nothing had changed")
endif()

file(WRITE "${repository}/untracked.txt" "new\n")
expect("${repository}" "${commit}")
file(WRITE "${repository}/file.txt" "after\n")
expect("${repository}" "${commit}-dirty")
expect("${repository}" "unknown" "-DGIT_PROGRAM=GIT_PROGRAM-NOTFOUND" "-DCMAKE_PROGRAM_PATH=/nowhere"
       "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF" "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF")

git("${repository}" archive --output=${work}/sources.tar HEAD)
file(ARCHIVE_EXTRACT INPUT "${work}/sources.tar" DESTINATION "${archive}")
git("${repository}" rev-parse --short HEAD)
expect("${archive}" "${git_output}")
