#!/usr/bin/env bash
# Builds Palimpsest and starts it; arguments go to the program. The first run installs what is missing and
# compiles everything; later runs start in seconds.
#
#   ./run.sh                     open the window
#   ./run.sh --help              what the program can do
#
# PALIMPSEST_CACHE chooses the folder for fetched sources (default ~/.cache/palimpsest).
# PALIMPSEST_CUDA is AUTO, ON or OFF (default AUTO: on if nvcc is found; the first build without an NVIDIA GPU
# is made without: kernels that cannot run take minutes to compile).
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
export HOME="${HOME:-/tmp}"

build_packages=(
  g++ cmake ninja-build ccache pkg-config python3 python3-pip ca-certificates
  libglfw3-dev libepoxy-dev libegl-dev libgl-dev libfreetype-dev libstb-dev
  libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev libzip-dev libpcre2-dev libhwy-dev
  libegl1 libgl1 libglx-mesa0 libegl-mesa0 libgl1-mesa-dri
)

say() { printf '%s\n' "$*"; }

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    # Debian calls it pkgconf by now, and provides the old name.
    if [[ $package == pkg-config ]] && command -v pkg-config >/dev/null; then continue; fi
    # Any Python with pip will do.
    if [[ $package == python3-pip ]] && python3 -m pip --version >/dev/null 2>&1; then continue; fi
    if [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      printf '%s\n' "$package"
    fi
  done
}

# Installs those of the given packages that are missing.
install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "This system has no apt. These packages (by their Debian names) are needed:"
    say "  $*"
    say "Going on with what is there."
    return
  fi
  local missing=()
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi
  say "Installing: ${missing[*]}"
  local as_root=()
  if ((EUID != 0)); then
    local by_hand="Install them as root, then start again:
  apt-get install --no-install-recommends ${missing[*]}"
    command -v sudo >/dev/null || fail "There is no sudo. $by_hand"
    as_root=(sudo)
    if [[ ! -t 0 ]]; then
      sudo -n true 2>/dev/null || fail "sudo would ask for a password, and nobody is there to type it. $by_hand"
    fi
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Configures the build folder, starting over if it was made elsewhere.
configure() {
  local cache=$root/build/CMakeCache.txt fresh=()
  if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    fresh=(--fresh)
  fi
  local options=()
  if [[ -n ${PALIMPSEST_CUDA:-} ]]; then options+=("-DPALIMPSEST_CUDA=$PALIMPSEST_CUDA"); fi
  (cd "$root" && cmake "${fresh[@]}" --preset release "${options[@]}")
  touch "$root/build/configured"
}

# Whether the build folder must be configured by hand: it is new, was made elsewhere, or the presets or the
# wishes of the caller changed. Ninja sees to all other changes.
unconfigured() {
  local cache=$root/build/CMakeCache.txt
  [[ ! -f $root/build/build.ninja || $root/CMakePresets.json -nt $root/build/configured || -n ${PALIMPSEST_CUDA:-} ]] ||
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"
}

# Whether the driver of an NVIDIA GPU is here, or that of Windows below Linux.
has_gpu() { [[ -e /dev/nvidiactl || -e /dev/dxg ]]; }

# Compiles the given targets, or everything.
build() {
  local targets=()
  if (($# > 0)); then targets=(--target "$@"); fi
  cmake --build "$root/build" --parallel "$(nproc)" "${targets[@]}"
}

main() {
  install_packages "${build_packages[@]}"
  if [[ ! -e $root/build/configured ]] && ! has_gpu; then export PALIMPSEST_CUDA="${PALIMPSEST_CUDA:-OFF}"; fi
  if unconfigured; then configure; fi
  build palimpsest palimpsest_assets
  if (($# > 0)) || [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    exec "$root/build/palimpsest" "$@"
  fi
  local folder=$root/build/tour
  say "There is no display here, so no window can open. Drawing a tour of pictures instead."
  "$root/build/palimpsest" render --tour "$folder"
  say "The pictures are in $folder"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then main "$@"; fi
