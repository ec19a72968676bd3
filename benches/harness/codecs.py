"""The codec of blocks beside another: the same blocks of archives, packed by both (peers/codecs)."""

import json
import subprocess
import sys

from harness.archives import cpus, recorded
from harness.figures import median
from harness.programs import ROOT, Failed, run, say
from peers import peers

sys.path.append(str(ROOT / "tests/python"))
from read_archive import Msgpack, frame_at

PACKER = peers.Rust("codecs", "codecs of blocks", "codecs")
BLOCK = 16


def blocks(path):
    """Expanded and packed length and bytes of each block, for the program, and how many events they are of."""
    data, at, found, events = path.read_bytes(), 0, [], 0
    while at < len(data):
        start, at = frame_at(data, at)
        tag, fields = Msgpack(data[start:at]).record()
        if tag == BLOCK:
            payload = fields[9]
            found += [fields[3].to_bytes(4, "little"), len(payload).to_bytes(4, "little"), payload]
            events += fields[4]
    return b"".join(found), events


def archive(programs, of):
    """A full ring of these events, recorded in blocks."""
    path = programs.outdir / "codecs.tla"
    fill = {
        "the demo's matches": [programs.archive, "--mode", "fill"],
        # More than the ring holds, because the events of the warm-up are others.
        "printf": [*programs.argv("c", "printf4"), "--mode", "loop", "--threads", 2, "--events", 400_000, "--repeats", 1],
    }[of]
    try:
        run(fill, of, env=programs.environment())
        recorded(programs, path, cpus()[1], [])
    finally:
        programs.remove()
    return path


def measure(programs, sizes, outdir):
    """One row for each codec and each kind of events."""
    argv = PACKER.build(outdir)
    rows = []
    for of in ["the demo's matches", "printf"]:
        say(f"codecs of blocks: {of}")
        data, events = blocks(archive(programs, of))
        done = subprocess.run([*argv, str(sizes.read_repeats)], input=data, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Failed(f"codecs ended with status {done.returncode}")
        runs = {}
        for line in map(json.loads, done.stdout.splitlines()):
            runs.setdefault(line["codec"], []).append(line)
        for codec, found in runs.items():
            row, size = found[0], found[0]["expanded"]
            compress, expand = (median([each[f"{way}_seconds"] for each in found]) for way in ["compress", "expand"])
            rows.append({"of": of, "codec": codec, "events": events, "bytes_per_event": row["packed"] / events,
                         "ratio": row["packed"] / size, "compress_mb_s": size / compress / 1e6,
                         "compress_ns": compress / events * 1e9, "expand_mb_s": size / expand / 1e6,
                         "expand_ns": expand / events * 1e9})
    return rows
