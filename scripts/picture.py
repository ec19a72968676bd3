#!/usr/bin/env python3
"""Draws a terminal in which real commands ran, as SVG on standard output: docs/terminal.svg.

    scripts/picture.py [TARGET_DIR] >docs/terminal.svg

TARGET_DIR: where cargo left the command (target/release). The commands run beside `timeline demo`, with a /dev/shm of
their own, in a terminal of 96 columns."""

import fcntl
import html
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

WIDTH, CELL, LINE, MARGIN = 96, 7.8, 17, 14
COLOURS = {"31": "#f7768e", "32": "#9ece6a", "33": "#e0af68", "34": "#7aa2f7", "36": "#7dcfff"}


def run(command):
    """What a command prints on a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", PAGER="cat")
        os.execvp("sh", ["sh", "-c", command])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    said = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(terminal)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit(f"{command} failed: {said.decode()}")
    return said.decode().replace("\r\n", "\n").splitlines()


def spans(line):
    """A line of text with escapes, as SVG."""
    made, style = "", ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            codes = part[2:-1].split(";")
            style = ' font-weight="bold"' if "1" in codes else ""
            style += "".join(f' fill="{COLOURS[code]}"' for code in codes if code in COLOURS)
            style += ' fill="#7a7f99"' if "2" in codes else ""
        elif part:
            made += f"<tspan{style}>{html.escape(part)}</tspan>" if style else html.escape(part)
    return made


def record():
    """The lines of the picture."""
    demo = subprocess.Popen(["timeline", "demo", "/timeline", "--seconds", "60"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(2)
        lines = []
        for command in [
            "timeline dump /timeline -n 8",
            "timeline info /timeline | head -n 6",
            f"kill -9 {demo.pid}",
            "timeline dump /timeline -n 3",
            "timeline info /timeline | grep writers",
        ]:
            lines += ["\x1b[1;32m$\x1b[0m \x1b[1m" + command + "\x1b[0m"] + run(command)
            if command.startswith("kill"):
                demo.wait()
        return lines
    finally:
        demo.send_signal(signal.SIGKILL)


def main():
    """Runs, and draws."""
    if "PICTURE" not in os.environ:
        target = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release")
        os.environ.update(PICTURE="1", PATH=target + ":" + os.environ["PATH"])
        script = 'mount -t tmpfs none /dev/shm && exec "$0" "$@"'
        os.execvp("unshare", ["unshare", "-rm", "sh", "-c", script, os.path.abspath(__file__)])
    lines = record()
    width, height = WIDTH * CELL + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}">')
    print('<rect width="100%" height="100%" rx="6" fill="#1a1b26"/>')
    print('<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" fill="#c0caf5" xml:space="preserve">')
    for number, line in enumerate(lines):
        length = len(re.sub(r"\x1b\[[0-9;]*m", "", line)) * CELL
        at = MARGIN + 13 + number * LINE
        if line:
            print(f'<text x="{MARGIN}" y="{at}" textLength="{length:.1f}">{spans(line)}</text>')
    print("</g></svg>")


main()
