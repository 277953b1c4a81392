#!/usr/bin/env bash
# Builds everything and runs every test: the mathematics, the kernels, the window. Arguments go to ctest,
# for example: ./test.sh -R gui
set -euo pipefail

# shellcheck source=run.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/run.sh"

install_packages "${build_packages[@]}" catch2 xvfb xauth
export PALIMPSEST_CUDA="${PALIMPSEST_CUDA:-AUTO}"  # run.sh may have left the kernels out
configure
build
python3 "$root/bench/compile_times.py" "$root/build"
if (cd "$root" && ctest --preset release --parallel "$(nproc)" "$@"); then
  say "All tests passed."
else
  fail "Some tests failed; their output is above."
fi
