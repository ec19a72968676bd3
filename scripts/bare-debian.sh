#!/bin/sh
# Tries README's two commands as a newcomer does: on a Debian that is bare but for git and make.
#
#   scripts/bare-debian.sh [OPTION...] bookworm|trixie [COMMAND...]
#
#   --user         as an ordinary user, for whom root installs what bootstrap.sh names
#   --no-sys       without /sys
#   --dir DIR      the system's place, which is kept; one that is there is used again
#   --with PACKAGES  what is installed before, as one word: "nginx libnginx-mod-http-lua"
#   --env NAME=VALUE  for the commands; may be repeated
#
# Needs root, debootstrap, and some 5 GB. It clones what is committed here, and runs the COMMANDs
# (make demo, make test) one after the other, up to the first that fails, without any LANG. The
# system is a chroot with namespaces of its own for mounts and processes: nothing stays mounted, and
# no process stays. It gets the caller's Rust toolchain and archives of crates, read-only, and settings
# of apt, of proxies and of registries, and the certificates of SSL_CERT_FILE.
# MIRROR is the archive of packages, if it is not Debian's own.
set -eu

fail() { # fail LINE...
  for line; do echo "bare-debian: $line" >&2; done
  exit 1
}
usage() {
  options="[--user] [--no-sys] [--dir DIR] [--with PACKAGES] [--env NAME=VALUE]"
  echo "usage: scripts/bare-debian.sh $options bookworm|trixie [COMMAND...]" >&2
  exit 2
}

here=$(cd "$(dirname "$0")/.." && pwd)
who=root home=/root sys=yes keep= with= given=
while :; do
  case ${1:-} in
    --dir | --with | --env) [ $# -gt 1 ] || usage ;;
  esac
  case ${1:-} in
    --user) who=newcomer home=/home/newcomer && shift ;;
    --no-sys) sys=no && shift ;;
    --dir) keep=$2 && shift 2 ;;
    --with) with=$2 && shift 2 ;;
    --env) given="$given $2" && shift 2 ;;
    bookworm | trixie) suite=$1 && shift && break ;;
    *) usage ;;
  esac
done
[ $# -gt 0 ] || set -- "make demo" "make test"
[ "$(id -u)" = 0 ] || fail "only root may make another system and enter it"
command -v debootstrap >/dev/null || fail "there is no debootstrap: apt-get install debootstrap"
toolchain=$(cd "$here" && rustc --print sysroot) || fail "there is no Rust toolchain to hand on"
crates=${CARGO_HOME:-$HOME/.cargo}/registry

if [ -n "$keep" ]; then
  mkdir -p "$keep"
  system=$(cd "$keep" && pwd)
else
  system=$(mktemp -d "${TMPDIR:-/var/tmp}/bare-debian-XXXXXX")
  # It is the root directory of the user, who must be able to enter it.
  chmod 755 "$system"
  # Another file system would be a mount that was not ours to remove.
  trap 'rm -rf --one-file-system "$system"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
fi

# The base system, up to date. Its archives are named by debootstrap, those of security beside them.
make_system() {
  # In a namespace: what it mounts would stay if it were interrupted.
  unshare --mount debootstrap --variant=minbase "$suite" "$system" ${MIRROR:+"$MIRROR"} \
    >"$system.log" 2>&1 || fail "debootstrap failed:" "$(tail -n 3 "$system.log")"
  rm "$system.log"
  sed -n "s|^deb \(.*\)/debian/\{0,1\} $suite main|deb \1/debian-security $suite-security main|p" \
    "$system/etc/apt/sources.list" >"$system/etc/apt/sources.list.d/security.list"
  apt-config dump Acquire | grep -E '^Acquire::(https?::(Proxy|Timeout)|Check-)' \
    >"$system/etc/apt/apt.conf.d/90caller" || true
  inside root / "apt-get -q update && apt-get -qy upgrade && apt-get -qy install --no-install-recommends \
    git make ca-certificates" >"$system/var/log/base" 2>&1 || fail "$(tail -n 5 "$system/var/log/base")"
  if [ -n "${SSL_CERT_FILE:-}" ]; then
    mkdir -p "$system/usr/local/share/ca-certificates"
    (cd "$system/usr/local/share/ca-certificates" &&
      awk '/BEGIN/ { number++ } { print > ("caller-" number ".crt") }' "$SSL_CERT_FILE")
    inside root / update-ca-certificates >/dev/null 2>&1
  fi
  inside root / "useradd --create-home --shell /bin/bash newcomer"
}

# What the environment says of proxies and registries, one setting a line.
settings() {
  env | grep -E '^(https?|no|all|HTTPS?|NO|ALL)_(proxy|PROXY)=' || true
  env | grep -E '^(npm_config_registry|PIP_(EXTRA_)?INDEX_URL|CARGO_(HTTP|NET|SOURCE|REGISTRIES)_[A-Z_]*)=' || true
}

# inside USER FOLDER COMMAND: in the system, with a file system and processes of its own.
inside() {
  # A proxy may have a password.
  (umask 077 && settings >"$system/settings")
  for setting in $given; do echo "$setting" >>"$system/settings"; done
  mkdir -p "$system/opt/rust"
  for folder in cache index src; do mkdir -p "$system/opt/cargo/registry/$folder"; done
  # Cargo expands crates as whoever runs it: some have files that only their owner may read.
  chmod 777 "$system/opt/cargo" "$system/opt/cargo/registry" "$system/opt/cargo/registry/src"
  # The first process ends with the command, and all others with it.
  unshare --mount --pid --fork --kill-child sh -c '
    set -eu
    system=$1 toolchain=$2 crates=$3 sys=$4
    shift 4
    mount --make-rprivate /
    mount --bind "$system" "$system"
    mount -t proc proc "$system/proc"
    [ "$sys" = no ] || mount --rbind /sys "$system/sys"
    mount -t tmpfs -o mode=755 dev "$system/dev"
    for device in null zero full random urandom tty; do
      : >"$system/dev/$device"
      mount --bind "/dev/$device" "$system/dev/$device"
    done
    mkdir "$system/dev/shm" "$system/dev/pts"
    mount -t tmpfs -o mode=1777,size=1g shm "$system/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$system/dev/pts"
    ln -s pts/ptmx "$system/dev/ptmx"
    ln -s /proc/self/fd "$system/dev/fd"
    for stream in stdin:0 stdout:1 stderr:2; do
      ln -s "/proc/self/fd/${stream#*:}" "$system/dev/${stream%:*}"
    done
    for from in "$toolchain:rust" "$crates/cache:cargo/registry/cache" "$crates/index:cargo/registry/index"; do
      [ -d "${from%:*}" ] || continue
      mount --bind "${from%:*}" "$system/opt/${from##*:}"
      mount -o remount,bind,ro "$system/opt/${from##*:}"
    done
    cp /etc/resolv.conf /etc/hosts "$system/etc/"
    exec "$@"
  ' sh "$system" "$toolchain" "$crates" "$sys" \
    chroot "$system" /bin/sh -c '
      set -eu
      user=$1 folder=$2 command=$3
      home=$(sed -n "s/^$user:[^:]*:[^:]*:[^:]*:[^:]*:\([^:]*\):.*/\1/p" /etc/passwd)
      set -- HOME="$home" USER="$user" PATH=/opt/rust/bin:/usr/local/bin:/usr/bin:/bin \
        CARGO_HOME=/opt/cargo DEBIAN_FRONTEND=noninteractive
      [ "$user" != root ] || set -- "$@" PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
      while read -r setting; do set -- "$@" "$setting"; done </settings
      cd "$folder"
      as=
      [ "$user" = root ] || as="setpriv --reuid $user --regid $user --init-groups"
      exec $as env -i "$@" sh -c "$command"
    ' sh "$@" </dev/null
}

[ -e "$system/home/newcomer" ] || make_system
[ -z "$with" ] || inside root / "apt-get -qy install --no-install-recommends $with" >"$system/var/log/with" 2>&1 ||
  fail "$(tail -n 5 "$system/var/log/with")"
clone=$system$home/timeline
rm -rf --one-file-system "$clone"
git clone -q --no-hardlinks "$here" "$clone"
[ "$who" = root ] || inside root / "chown -R $who: $home/timeline"
echo "bare-debian: $suite, $who, sys $sys: $(cd "$here" && git log -1 --format='%h %s')"

# For an ordinary user, root runs the command that bootstrap.sh names, in these words.
named_by_bootstrap() {
  sed -n 's/^bootstrap:     \(apt-get install .*\)/\1/p' "$1"
}
for command; do
  echo "bare-debian: \$ $command"
  said=$system/var/log/said
  { inside "$who" "$home/timeline" "$command" 2>&1 && echo ended >"$said.ended"; } | tee "$said"
  named=$(named_by_bootstrap "$said")
  if [ ! -e "$said.ended" ] && [ "$who" != root ] && [ -n "$named" ]; then
    echo "bare-debian: # $named"
    inside root / "$named -y -q" >"$said.installed" 2>&1 || fail "$(tail -n 5 "$said.installed")"
    { inside "$who" "$home/timeline" "$command" 2>&1 && echo ended >"$said.ended"; } | tee "$said"
  fi
  [ -e "$said.ended" ] || fail "$command failed: $suite, $who, sys $sys"
  rm "$said.ended"
done
echo "bare-debian: all is well: $suite, $who, sys $sys"
