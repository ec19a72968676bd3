#!/bin/sh
# Installs the packages that `make demo` or `make test` needs.
#
#   scripts/bootstrap.sh demo|test
#
# On Debian and its relatives, as root or with sudo that asks no password, it installs missing
# packages. Elsewhere it names them, and fails. It never installs the Rust toolchain or enlarges
# shared memory: it says how.
set -eu
cd "$(dirname "$0")/.."

# The space needed in /dev/shm, in MiB.
case ${1:-} in
  demo) wanted="cc luajit" space=16 ;;
  test)
    wanted="cc c++ luajit pkg-config cmake python3 python3-msgpack sqlite3 bash zsh fish git gdb valgrind zstd"
    wanted="$wanted xz rg ugrep lnav node npm chromium firefox-esr python3-pip javac hdrhistogram.jar" space=384
    ;;
  *)
    echo "usage: scripts/bootstrap.sh demo|test" >&2
    exit 2
    ;;
esac

package_of() {
  case $1 in
    cc) echo gcc libc6-dev ;;
    c++) echo g++ ;;
    node) echo nodejs ;;
    rg) echo ripgrep ;;
    xz) echo xz-utils ;;
    javac) echo default-jdk-headless ;;
    hdrhistogram.jar) echo libhdrhistogram-java ;;
    *) echo "$1" ;;
  esac
}

missing=
packages=
look() {
  missing=
  packages=
  for program in $wanted; do
    if ! there "$program"; then
      missing="$missing $program"
      packages="$packages $(package_of "$program")"
    fi
  done
}

fail() { # fail LINE...
  for line; do echo "bootstrap: $line" >&2; done
  exit 1
}
there() {
  case $1 in
    python3-*) has_module "${1#python3-}" ;;
    *.jar) has_jar "$1" ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}
# has_module MODULE: in any Python of PATH, because that of the system may not be the first.
has_module() (
  IFS=:
  for dir in $PATH; do
    "$dir/python3" -c "import $1" 2>/dev/null && exit 0
  done
  exit 1
)
# has_jar NAME: where Debian has them; by Java, which knows whether it is whole.
has_jar() {
  java --dry-run --class-path "/usr/share/java/$1" org.HdrHistogram.HistogramLogProcessor >/dev/null 2>&1
}
# fail_rust WHAT COMMAND: fails, and says what to do with rustup and without.
fail_rust() {
  if there rustup; then
    fail "$1; run:" "    $2"
  fi
  fail "$1; get it from https://rustup.rs, and see that ~/.cargo/bin comes first in PATH:" \
    "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
}

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
newer="rustup toolchain install stable && rustup default stable"
for program in cargo rustc; do
  there $program || fail_rust "there is no $program, of the Rust toolchain $oldest or later" "$newer"
done
found=$(rustc --version) || fail_rust "rustc does not run" "$newer"
found=${found#rustc }
found=${found%%[ -]*}
# MAJOR.MINOR.PATCH or MAJOR.MINOR, as one number.
number() {
  minor=${1#*.}
  echo $((${1%%.*} * 1000 + ${minor%%.*}))
}
[ "$(number "$found")" -ge "$(number "$oldest")" ] ||
  fail_rust "rustc is $found, $oldest or later is needed" "$newer"
if [ "$1" = test ]; then
  for component in fmt clippy; do
    cargo $component --version >/dev/null 2>&1 ||
      fail_rust "there is no cargo $component" "rustup component add rustfmt clippy"
  done
fi

# The number of free blocks for users without privileges, and their size.
set -- "$1" $(stat -f -c '%a %S' /dev/shm 2>/dev/null || echo 0 0)
free=$(($2 * $3 / 1048576))
[ "$free" -ge "$space" ] ||
  fail "/dev/shm has $free MiB free, make $1 needs $space: remove timelines (timeline list; timeline rm NAME)," \
    "or enlarge it: docker run --shm-size=1g, elsewhere as root: mount -o remount,size=1g /dev/shm"

look
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif there sudo && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  as_root=none
fi

by_hand() {
  fail "missing:$missing" "$1; install them with your package manager, on Debian:" "    apt-get install$packages"
}

there apt-get || by_hand "this is not a Debian-like system"
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
