#!/bin/sh
# Sees that everything is there that `make demo` or `make test` needs, and installs what is not.
#
#   scripts/bootstrap.sh demo|test
#
# On Debian and its relatives, as root or with sudo that asks no password, missing packages are installed.
# Elsewhere the script says what to install, and fails. The Rust toolchain is never installed.
set -eu

case ${1:-} in
  demo) wanted="cc luajit" ;;
  test) wanted="cc c++ luajit pkg-config cmake python3 sqlite3 bash git" ;;
  *)
    echo "usage: scripts/bootstrap.sh demo|test" >&2
    exit 2
    ;;
esac

package_of() {
  case $1 in
    cc) echo gcc libc6-dev ;;
    c++) echo g++ ;;
    *) echo "$1" ;;
  esac
}

missing=
packages=
look() {
  missing=
  packages=
  for program in $wanted; do
    if ! command -v "$program" >/dev/null 2>&1; then
      missing="$missing $program"
      packages="$packages $(package_of "$program")"
    fi
  done
}

if ! command -v cargo >/dev/null 2>&1; then
  echo "bootstrap: there is no cargo: install the Rust toolchain, https://rustup.rs" >&2
  exit 1
fi

look
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  as_root=none
fi

by_hand() {
  echo "bootstrap: missing:$missing" >&2
  echo "bootstrap: $1; install them with your package manager, on Debian:" >&2
  echo "    apt-get install$packages" >&2
  exit 1
}

command -v apt-get >/dev/null 2>&1 || by_hand "this is not a Debian-like system"
[ "$as_root" != none ] || by_hand "only root may install packages, and sudo is not there or asks for a password"

echo "bootstrap: installing$packages"
install_packages() {
  # shellcheck disable=SC2086 # lists, to be split
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages </dev/null
}
# The lists of packages may be missing or old.
install_packages || { $as_root apt-get update </dev/null && install_packages; } || by_hand "apt-get failed"
look
[ -z "$missing" ] || by_hand "apt-get did not bring them"
