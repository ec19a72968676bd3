#!/usr/bin/env python3
"""Writes the map of the source: a line for each file, which is the one that the file opens with.

    scripts/map.py [FILE]        # `-` is standard output; without FILE, docs/map.md

`make map` runs it. A test (tests/cli/documents.rs) compares the page with what it writes now.
"""
import re
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PLACES = ["src", "crates/*/src", "crates/serve/page", "ffi/src", "lua", "include"]
# How the languages begin a comment. Other files are no source.
COMMENTS = {".rs": "//!", ".js": "//", ".css": "/*", ".h": "/*", ".hpp": "//", ".lua": "--"}
# The file that speaks for its folder.
ROOMS = ["mod.rs", "lib.rs", "main.rs"]
HEAD = """# Map of the source

`make map` writes this page: of each file its first line, of each folder that of its mod.rs, lib.rs or main.rs. The
page at the top of that file says how the others work together. [ARCHITECTURE.md](../ARCHITECTURE.md) says how the
folders do.
"""


def purpose(path):
    """The sentence that a file opens with, which may go on in the next line."""
    mark = COMMENTS[path.suffix]
    words = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not words and not line.startswith(mark):
            break
        words += " " + line.strip().removeprefix(mark).removesuffix("*/").strip()
        if words.rstrip().endswith((".", ":")):
            # Brackets are links for rustdoc, but not for this page.
            return re.sub(r"\[(`[^`]+`)\]", r"\1", words.strip())
    name = path.relative_to(TOP)
    sys.exit(f"map.py: {name}:1: expected a comment ({mark} …) that says what the file is for")


def item(path):
    return textwrap.fill(f"- {path.name}: {purpose(path)}", 120, subsequent_indent="  ",
                         break_long_words=False, break_on_hyphens=False)


def room(folder, files):
    """A folder: its own line if it has one, then those of its files."""
    own = next((file for file in files if file.name in ROOMS), None)
    yield f"\n## {folder.relative_to(TOP)}\n"
    if own:
        yield textwrap.fill(purpose(own), 120, break_on_hyphens=False)
    others = [item(file) for file in sorted(files) if file != own]
    yield from [""] * bool(own and others) + others


def page():
    rooms = {}
    for place in PLACES:
        for top in sorted(TOP.glob(place)):
            for file in sorted(top.rglob("*"), key=lambda file: file.parent.parts):
                if file.suffix in COMMENTS:
                    rooms.setdefault(file.parent, []).append(file)
    lines = [line for folder, files in rooms.items() for line in room(folder, files)]
    return HEAD + "\n".join(lines) + "\n"


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else TOP / "docs/map.md"
    if target == "-":
        sys.stdout.buffer.write(page().encode())
    else:
        Path(target).write_text(page(), encoding="utf-8")


main()
