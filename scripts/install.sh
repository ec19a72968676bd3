#!/bin/sh
# Installs the built libraries, headers, Lua module, command, man pages, shell completions,
# licences, and pkg-config and CMake package files.
#
#   [PREFIX=/usr/local] [DESTDIR=] [TARGET_DIR=target/release] scripts/install.sh
#
# PREFIX: the final directory. DESTDIR: put before PREFIX, to build a package. TARGET_DIR: where
# cargo left the command and the libraries.
set -eu

cd "$(dirname "$0")/.."
PREFIX=${PREFIX:-/usr/local}
DESTDIR=${DESTDIR:-}
TARGET_DIR=${TARGET_DIR:-target/release}

fail() {
  echo "install: $*" >&2
  exit 1
}

case $PREFIX in
  /*) ;;
  *) fail "PREFIX is \"$PREFIX\": expected an absolute path; try PREFIX=$PWD/$PREFIX" ;;
esac

built="$TARGET_DIR/timeline $TARGET_DIR/libtimeline.so $TARGET_DIR/libtimeline.a $TARGET_DIR/libtimeline_worker.so
  $TARGET_DIR/libtimeline_analysis.so"
for file in $built; do
  [ -f "$file" ] || fail "there is no $file: first run \"make\" (cargo build --release --workspace), not as root"
done

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
[ -n "$version" ] || fail "Cargo.toml has no version under [workspace.package]"
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
# The same as in build.rs; the tests compare the two.
so=0

to=$DESTDIR$PREFIX
data() { # data FILE... DIRECTORY
  for directory; do :; done
  mkdir -p "$directory"
  install -m 644 "$@"
}
fill() { # fill TEMPLATE FILE
  mkdir -p "$(dirname "$2")"
  sed -e "s/@VERSION@/$version/g" -e "s/@SOVERSION@/$so/g" -e "s/@MAJOR@/$major/g" -e "s/@MINOR@/$minor/g" \
    -e "s|@PREFIX@|$PREFIX|g" "$1" >"$2"
  chmod 644 "$2"
}

mkdir -p "$to/bin" "$to/lib"
install -m 755 "$TARGET_DIR/timeline" "$to/bin/timeline"
shared() { # shared FILE NAME
  install -m 755 "$1" "$to/lib/$2.so.$version"
  ln -sf "$2.so.$version" "$to/lib/$2.so.$so"
  ln -sf "$2.so.$so" "$to/lib/$2.so"
}
shared "$TARGET_DIR/libtimeline.so" libtimeline
# Cargo makes no library whose name has a dash.
shared "$TARGET_DIR/libtimeline_worker.so" libtimeline-worker
shared "$TARGET_DIR/libtimeline_analysis.so" libtimeline-analysis
data "$TARGET_DIR/libtimeline.a" "$to/lib"
data include/timeline.h include/timeline-worker.h include/timeline-analysis.h include/timeline.hpp "$to/include"
data include/timeline/*.hpp "$to/include/timeline"
data lua/timeline.lua "$to/share/lua/5.1"
data lua/timeline/*.lua "$to/share/lua/5.1/timeline"
# Of the command, and of the font in it.
data LICENSE-APACHE LICENSE-MIT packaging/licenses/DejaVu.txt "$to/share/doc/timeline"

for unit in packaging/systemd/*; do
  fill "$unit" "$to/lib/systemd/system/${unit##*/}"
done
for file in timeline timeline-worker timeline-analysis; do
  fill "packaging/$file.pc.in" "$to/lib/pkgconfig/$file.pc"
done
for file in timelineConfig timelineConfigVersion; do
  fill "packaging/cmake/$file.cmake" "$to/lib/cmake/timeline/$file.cmake"
done

generate() { # generate FILE ARGUMENTS...
  file=$1
  shift
  mkdir -p "$(dirname "$file")"
  "$TARGET_DIR/timeline" generate "$@" >"$file.new"
  mv "$file.new" "$file"
  chmod 644 "$file"
}
mkdir -p "$to/share/man/man1"
"$TARGET_DIR/timeline" generate man "$to/share/man/man1"
generate "$to/share/bash-completion/completions/timeline" completions bash
generate "$to/share/zsh/site-functions/_timeline" completions zsh
generate "$to/share/fish/vendor_completions.d/timeline.fish" completions fish

echo "installed timeline $version under $to"

# The loader finds a new library in its standard directories only if it is in its cache. Many PATHs
# lack ldconfig, even that of root.
PATH=$PATH:/usr/sbin:/sbin
in_cache() {
  file=$(readlink -f "$PREFIX/lib/libtimeline.so.$so")
  ldconfig -p 2>/dev/null | sed -n "s/^.*libtimeline\.so\.$so .* => //p" | while read -r found; do
    [ "$(readlink -f "$found")" != "$file" ] || echo yes
  done | grep -q yes
}
if [ -n "$DESTDIR" ]; then
  echo "run ldconfig where this is unpacked, so that programs find libtimeline.so.$so"
else
  case $PREFIX in
    /usr | /usr/local) [ "$(id -u)" != 0 ] || ldconfig 2>/dev/null || true ;;
  esac
  if ! in_cache; then
    echo "programs do not find $PREFIX/lib/libtimeline.so.$so yet; run, as root:"
    echo "    echo $PREFIX/lib >/etc/ld.so.conf.d/timeline.conf && ldconfig"
    echo "or, as any user, set for each program: LD_LIBRARY_PATH=$PREFIX/lib"
  fi
fi
