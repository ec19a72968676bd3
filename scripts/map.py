#!/usr/bin/env python3
"""Writes the maps of the source and of its tests: a line for each file, which is the one that the file opens with.

    scripts/map.py               # writes docs/map.md and tests/MAP.md
    scripts/map.py PAGE          # prints one of them

`make map` runs it. A test (tests/cli/documents.rs) compares the pages with what it writes now.
"""
import re
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# How the languages begin a comment. Other files are no source.
COMMENTS = {".rs": ["//!"], ".js": ["//"], ".mjs": ["//"], ".css": ["/*"], ".h": ["/*"], ".c": ["//", "/*"],
            ".cpp": ["//", "/*"], ".hpp": ["//"], ".lua": ["--"], ".py": ['"""', "#"]}
# What others wrote, and cases that open with the error that they expect.
LEFT_OUT = {"node_modules", "python_modules", "__pycache__", "refused"}
# The file that speaks for its folder.
ROOMS = ["mod.rs", "lib.rs", "main.rs"]
# Each page: where its files are, and how it begins.
PAGES = {
    "docs/map.md": (["src", "crates/*/src", "crates/serve/page", "ffi/src", "ffi/analysis/src", "ffi/worker/src", "lua", "include"], """# Map of the source

`make map` writes this page: of each file its first line, of each folder that of its mod.rs, lib.rs or main.rs. The
page at the top of that file says how the others work together. [ARCHITECTURE.md](../ARCHITECTURE.md) says how the
folders do. The tests have a [map of their own](../tests/MAP.md).
"""),
    "tests/MAP.md": (["tests"], """# Map of the tests

`make map` writes this page, as it writes the [map of the source](../docs/map.md). [INVARIANTS.md](INVARIANTS.md) says
which test defends which promise. Unit tests stand beside what they test.
"""),
}


def purpose(path):
    """The sentence that a file opens with, which may go on in the next line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = lines[1:] if lines and lines[0].startswith("#!") else lines
    marks = [mark for mark in COMMENTS[path.suffix] if lines and lines[0].startswith(mark)]
    words = ""
    for line in lines if marks else []:
        words += " " + line.strip().removeprefix(marks[0]).removesuffix("*/").removesuffix('"""').strip()
        # Behind the sentence, programs of tests say how they are called.
        words = re.sub(r"\. [a-z_]+ [A-Z ]+$", ".", words.rstrip())
        if words.endswith((".", ":")):
            # Brackets are links for rustdoc, but not for this page.
            return re.sub(r"\[(`[^`]+`)\]", r"\1", words.strip())
    name = path.relative_to(TOP)
    sys.exit(f"map.py: {name}:1: expected a comment ({COMMENTS[path.suffix][0]} …) that says what the file is for")


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


def page(name):
    places, head = PAGES[name]
    rooms = {}
    for place in places:
        for top in sorted(TOP.glob(place)):
            for file in sorted(top.rglob("*"), key=lambda file: file.parent.parts):
                if file.suffix in COMMENTS and not LEFT_OUT & set(file.parts):
                    rooms.setdefault(file.parent, []).append(file)
    lines = [line for folder, files in rooms.items() for line in room(folder, files)]
    return head + "\n".join(lines) + "\n"


def main():
    if len(sys.argv) > 1:
        sys.stdout.buffer.write(page(sys.argv[1]).encode())
        return
    for name in PAGES:
        (TOP / name).write_text(page(name), encoding="utf-8")


main()
