#!/bin/sh
# Fuzzes each target of fuzz/, or the named ones, for FUZZ_SECONDS (60): scripts/fuzz.sh [TARGET…]
set -eu
cd "$(dirname "$0")/.."
seconds="${FUZZ_SECONDS:-60}"
build="${CARGO_TARGET_DIR:-target}/fuzz"
mkdir -p "$build"
build="$(cd "$build" && pwd)"

if ! rustc +nightly --version >/dev/null 2>&1; then
  echo "fuzz: there is no nightly compiler, which libFuzzer needs: rustup toolchain install nightly" >&2
  exit 1
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
  cargo install cargo-fuzz --locked
fi

# By itself, so that a failure is one: none would be fuzzed otherwise.
known="$(cargo +nightly fuzz list)"
# shellcheck disable=SC2086 # Each word is a target.
[ $# -gt 0 ] || set -- $known
for target; do
  if ! printf '%s\n' "$known" | grep -qxF -e "$target"; then
    echo "fuzz: expected some of these targets, got $target:" $known >&2
    exit 1
  fi
done
for target; do
  echo "== $target, $seconds seconds"
  found="$build/corpus/$target"
  mkdir -p "$found"
  # Only what maps files has unsafe code. Elsewhere an address sanitizer would find nothing, and take four fifths of
  # the inputs.
  case $target in
    ring | resume) sanitizer=address ;;
    *) sanitizer=none ;;
  esac
  # By itself as well: what does not compile was broken by no input.
  nice cargo +nightly fuzz build --sanitizer "$sanitizer" --target-dir "$build/$sanitizer" "$target"
  # New inputs go into the first folder; the committed ones are only read. Inputs stay small,
  # because small ones show bugs as well, and sooner. A block of 4 KiB expands to 1 MiB.
  nice cargo +nightly fuzz run --sanitizer "$sanitizer" --target-dir "$build/$sanitizer" "$target" \
    "$found" "fuzz/corpus/$target" -- \
    -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 || {
    echo "fuzz: what broke $target is in fuzz/artifacts/$target. Once it is mended, commit it to fuzz/corpus/$target:" >&2
    echo "fuzz: tests/archive/fuzz/ then runs it for ever after." >&2
    exit 1
  }
done
