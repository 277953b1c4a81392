#!/usr/bin/env bash
# Builds Palimpsest for the browser: a folder, build-web/site, that any web server can hold.
#
#   ./web.sh                     build it
#   ./web.sh serve [PORT]        build it and serve it on 127.0.0.1 (port 8000)
#   ./web.sh test                build it and test it: under node, and in Chromium where Debian's is installed
#
# Emscripten 3.1.69 comes with Debian 13. Elsewhere a Debian 13 is made in a folder of the cache (needs root and
# debootstrap) and entered for the build. PALIMPSEST_CACHE chooses the cache (default ~/.cache/palimpsest).
set -euo pipefail

# shellcheck source=run.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/run.sh"

cache="${PALIMPSEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/palimpsest}"
web_packages=(
  emscripten cmake ninja-build ccache python3 python3-pip ca-certificates dpkg-dev
  libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev libstb-dev git
)

# Whether this system, or its package archive, has an Emscripten that is new enough.
has_emscripten() {
  local version
  version=$(emcc --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1) || true
  if [[ -z $version ]]; then version=$(apt-cache policy emscripten 2>/dev/null | sed -n 's/ *Candidate: //p'); fi
  [[ -n $version && $(printf '%s\n' "$version" 3.1.60 | sort -V | head -1) == 3.1.60 ]]
}

# Builds in a Debian 13 below the cache. Its mounts end with the build.
build_in_debian_13() {
  local system=$cache/debian-13
  ((EUID == 0)) || fail "This system has no Emscripten 3.1.60 or newer. Install one, or start this as root: it makes a Debian 13 in $system."
  if [[ ! -e $system/complete ]]; then
    install_packages debootstrap
    rm -rf "$system"
    mkdir -p "$system"
    say "Making a Debian 13 in $system"
    debootstrap --variant=minbase --include=ca-certificates trixie "$system" >"$cache/debian-13.log" ||
      fail "Debian 13 could not be made; see $cache/debian-13.log"
    touch "$system/complete"
  fi
  mkdir -p "$system/$root" "$system/$cache"
  unshare --mount bash -c '
    system=$1 root=$2 cache=$3
    mount --rbind /proc "$system/proc"
    mount --rbind /dev "$system/dev"
    mount --bind "$root" "$system/$root"
    mount --bind "$cache" "$system/$cache"
    for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do  # how this machine reaches a network
      if [[ -e $file ]]; then cp "$file" "$system$file"; fi
    done
    exec chroot "$system" env HOME="$HOME" PALIMPSEST_CACHE="$cache" "$root/web.sh" $4' \
    web "$system" "$root" "$cache" "$1"
}

# The archive of a source package, unpacked in a folder that is printed: name, Debian's release, SHA-256.
provide_source() {
  local name=$1 release=$2 hash=$3 folder=$cache/$1-${3:0:12}
  if [[ ! -e $folder ]]; then
    local work=$folder.partial
    rm -rf "$work"
    mkdir -p "$work/lists/partial" "$work/unpacked"
    local uri
    uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/debian/?$' | head -1)
    printf 'deb-src %s %s main\n' "$uri" "$release" >"$work/sources.list"
    local apt=(apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=-
               -o "Dir::State::Lists=$work/lists")
    "${apt[@]}" update
    (cd "$work" && "${apt[@]}" source --tar-only --download-only "$name") >&2 || true  # it fails for what is not needed
    local archive
    archive=$(cd "$work" && sha256sum -- *.orig.tar.* | sed -n "s/^$hash  //p")
    [[ -n $archive ]] || fail "The archive of $name in Debian's $release is not the one in app/web/sources.txt, or could not be fetched."
    tar --extract --strip-components=1 --directory "$work/unpacked" --file "$work/$archive"
    mv "$work/unpacked" "$folder"
    rm -rf "$work"
  fi
  printf '%s' "$folder"
}

# `tests`: ON or OFF.
build_site() {
  local tests=$1
  install_packages "${web_packages[@]}"
  local options=() name release hash
  while read -r name release hash; do
    if [[ $name == '#'* ]]; then continue; fi
    options+=("-DPALIMPSEST_SOURCES_$name=$(provide_source "$name" "$release" "$hash")")
  done <"$root/app/web/sources.txt"
  (cd "$root" && cmake --preset web "-DPALIMPSEST_TESTS=$tests" "${options[@]}")
  cmake --build "$root/build-web" --parallel "$(nproc)"
  say "The site is in $root/build-web/site: ./web.sh serve, or put the folder on any web server."
}

# What needs no browser.
test_under_node() {
  say "Golden cases under node:"
  node "$root/build-web/tests_golden.js"
  say "1,000 cases under node:"
  node "$root/build-web/palimpsest-cli.js" verify --cases 1000
}

web_main() {
  local wish=${1:-}
  if has_emscripten; then
    build_site "$([[ $wish == *test ]] && echo ON || echo OFF)"
    if [[ $wish == *test ]]; then test_under_node; fi
  else
    build_in_debian_13 "$([[ $wish == test ]] && echo inner-test)"
  fi
  case $wish in
    serve) exec python3 "$root/app/web/serve.py" "$root/build-web/site" "${2:-8000}" ;;
    test) python3 "$root/tests/web/page_test.py" "$root/build-web/site" "$root/build/palimpsest" || (($? == 77)) ;;
  esac
}

web_main "$@"
