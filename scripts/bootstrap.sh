#!/bin/sh
# Installs the packages that `make demo` or `make test` needs.
#
#   scripts/bootstrap.sh demo|test
#
# On Debian and its relatives, as root or with sudo that asks no password, it says which packages
# are missing and how large they are, and installs them. It removes no package, and upgrades none
# unless BOOTSTRAP_UPGRADE=1 permits it. Elsewhere it names them, and fails. It never installs the
# Rust toolchain or enlarges shared memory: it says how.
set -eu
cd "$(dirname "$0")/.."

# What is needed, where it matters with its oldest version, and the space in /dev/shm, in MiB.
case ${1:-} in
  demo) wanted="cc luajit" space=16 ;;
  test)
    wanted="cc c++ luajit pkg-config cmake:3.13 python3:3.9 python3-msgpack sqlite3 bash zsh fish git gdb valgrind"
    wanted="$wanted zstd xz rg ugrep lnav mandoc openssl ip nsenter node:18.18 npm chromium firefox-esr python3-pip javac:11"
    wanted="$wanted hdrhistogram.jar" space=384
    ;;
  *)
    echo "usage: scripts/bootstrap.sh demo|test" >&2
    exit 2
    ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

package_of() {
  case $1 in
    # A compiler that is there lacks a part of the C library.
    cc) there cc || echo gcc; echo libc6-dev ;;
    c++) echo g++ ;;
    node) echo nodejs ;;
    rg) echo ripgrep ;;
    xz) echo xz-utils ;;
    ip) echo iproute2 ;;
    nsenter) echo util-linux ;;
    javac) echo default-jdk-headless ;;
    hdrhistogram.jar) echo libhdrhistogram-java ;;
    *) echo "$1" ;;
  esac
}

# Fills `missing` and `packages`, and says in $scratch/why what is there and will not do.
look() {
  missing=
  packages=
  : >"$scratch/why"
  for item in $wanted; do
    program=${item%:*}
    if ! serves "$program" "${item#"$program"}"; then
      missing="$missing $program"
      packages="$packages $(package_of "$program" | tr '\n' ' ')"
      packages=${packages% }
    fi
  done
}

say() { # say LINE...
  for line; do echo "bootstrap: $line" >&2; done
}
fail() { # fail LINE...
  say "$@"
  exit 1
}
there() { command -v "$1" >/dev/null 2>&1; }
# serves PROGRAM [:OLDEST]: it is there, and does what it is needed for.
serves() {
  case $1 in
    cc) links cc c 'int main(void) { return 0; }' ;;
    c++) links c++ c++ '#include <string>
int main() { return std::string().size(); }' ;;
    luajit) scripts/luajit.sh >/dev/null 2>&1 ;;
    python3-*) has_module "${1#python3-}" ;;
    *.jar) has_jar "$1" ;;
    *) there "$1" && recent "$1" "${2#:}" ;;
  esac
}
# links COMPILER LANGUAGE PROGRAM
links() {
  there "$1" || return 1
  echo "$3" | "$1" -x "$2" -o "$scratch/program" - >"$scratch/said" 2>&1 && return 0
  echo "$1 is there, but cannot build a program: $(sed -n '$p' "$scratch/said")" >>"$scratch/why"
  return 1
}
# recent PROGRAM OLDEST
recent() {
  [ -n "$2" ] || return 0
  version=$("$1" --version 2>&1 | sed -n '1s/^[^0-9]*\([0-9][0-9.]*\).*/\1/p')
  [ "$(number "${version:-0}")" -lt "$(number "$2")" ] || return 0
  echo "$(command -v "$1") is of version ${version:-unknown}, $2 or later is needed" >>"$scratch/why"
  return 1
}
# MAJOR, MAJOR.MINOR or MAJOR.MINOR.PATCH, as one number.
number() (
  minor=${1#"${1%%.*}"}
  minor=${minor#.}
  minor=${minor%%.*}
  echo $((${1%%.*} * 1000 + ${minor:-0}))
)
# has_module MODULE: in any Python of PATH, because that of the system may not be the first.
has_module() (
  IFS=:
  for dir in $PATH; do
    "$dir/python3" -c "import $1" >/dev/null 2>&1 && exit 0
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

# One that was named and will not do is nothing that a package mends.
[ -z "${LUAJIT:-}" ] || scripts/luajit.sh >/dev/null || exit 1
look
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif there sudo && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  as_root=none
fi

# by_hand WHY: fails, and says what to do.
by_hand() {
  say "missing:$missing"
  while read -r line; do say "$line"; done <"$scratch/why"
  fail "$1; install them with your package manager, on Debian:" "    $asked$packages"
}
asked="apt-get install --no-install-recommends --no-remove"
kept=--no-upgrade
[ "${BOOTSTRAP_UPGRADE:-}" != 1 ] || kept=

there apt-get || by_hand "this is not a Debian-like system"

# plan: writes what would be installed to $scratch/plan, as apt-get simulates it.
plan() {
  # shellcheck disable=SC2086 # lists, to be split
  LC_ALL=C $asked $kept --simulate $packages >"$scratch/plan" 2>&1 </dev/null
}
# plan_either: with OpenResty's LuaJIT, if the other one cannot stand beside what is installed.
plan_either() {
  plan && return 0
  case "$packages " in *" luajit "*) ;; *) return 1 ;; esac
  first=$packages
  cp "$scratch/plan" "$scratch/first"
  packages=$(echo "$packages " | sed 's/ luajit / luajit2 /; s/ $//')
  plan && return 0
  packages=$first
  mv "$scratch/first" "$scratch/plan"
  return 1
}
# The packages that would be upgraded, one a line.
upgrades() {
  sed -n 's/^Inst \([^ ]*\) \[\([^]]*\)\] (\([^ ]*\).*/\1 from \2 to \3/p' "$scratch/plan"
}
# How many there are with those that these need, what apt-get fetches, and what they take.
size() {
  names=$(sed -n 's/^Inst \([^ ]*\) \(\[[^]]*\] \)\{0,1\}(\([^ ]*\).*/\1=\3/p' "$scratch/plan")
  # shellcheck disable=SC2086 # a list, to be split
  apt-cache show $names | awk '
    $1 == "Package:" { packages++ }
    $1 == "Size:" { fetched += $2 }
    $1 == "Installed-Size:" { taken += $2 }
    END {
      printf "%d %s, %.1f MB to fetch, %.1f MB on disk", packages, packages == 1 ? "package" : "packages",
        fetched / 1e6, taken * 1024 / 1e6
    }'
}
# Why there is no plan.
refusal() {
  removed=$(sed -n '/^The following packages will be REMOVED:/,/^[^ ]/s/^  *//p' "$scratch/plan" | tr '\n' ' ')
  if [ -n "$removed" ]; then
    echo "apt-get would remove ${removed% }"
  else
    echo "apt-get failed$(sed -n 's/^E: \(.*\)/ (\1)/p' "$scratch/plan" | sed 1q)"
  fi
}

planned=yes
plan_either || planned=no
if [ "$as_root" = none ]; then
  reason="only root may install packages, and sudo is not there or asks for a password"
  [ "$planned" = no ] || reason="$reason; they are $(size)"
  by_hand "$reason"
fi
update() {
  # shellcheck disable=SC2086 # a prefix, to be split
  $as_root apt-get update </dev/null && plan_either
}
# The lists of packages may be missing or old.
[ "$planned" = yes ] || update || by_hand "$(refusal)"

# install_packages: says what it does, and does it.
install_packages() {
  upgraded=$(upgrades)
  if [ -n "$upgraded" ] && [ -n "$kept" ]; then
    echo "$upgraded" | sed 's/ / would be upgraded /' >>"$scratch/why"
    by_hand "nothing was installed, as BOOTSTRAP_UPGRADE=1 alone permits upgrading"
  fi
  echo "bootstrap: installing$packages: $(size)"
  # shellcheck disable=SC2086 # lists, to be split
  $as_root env DEBIAN_FRONTEND=noninteractive $asked $kept -y $packages </dev/null
}
install_packages || { update && install_packages; } || by_hand "$(refusal)"
look
[ -z "$missing" ] || by_hand "apt-get did not bring them"
