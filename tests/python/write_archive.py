#!/usr/bin/env python3
"""Writes an archive by docs/archive.md alone, of what no writer of ours would write: every tag and field in the
encodings that the page allows, unknown ones, and missing ones. tests/archive/independent.rs says what it holds."""

import struct
import sys
import zlib

try:
    import msgpack
except ImportError:
    msgpack = None


def fixed(number):
    return bytes([number])


def wide(number):
    """A number in more bytes than it needs."""
    return b"\xCF" + struct.pack(">Q", number)


def signed(number):
    return b"\xD3" + struct.pack(">q", number)


def text(value):
    return b"\xD9" + bytes([len(value)]) + value


def binary(value):
    return b"\xC6" + struct.pack(">I", len(value)) + value


def long_text(value):
    return b"\xDB" + struct.pack(">I", len(value)) + value


def array(*items):
    return b"\xDC" + struct.pack(">H", len(items)) + b"".join(items)


def record(tag, *fields, behind=b""):
    """Pairs of keys and values that are packed already; keys may be numbers."""
    pairs = [(fixed(key) if isinstance(key, int) else key, value) for key, value in fields]
    whole = tag + b"\xDE" + struct.pack(">H", len(pairs)) + b"".join(key + value for key, value in pairs)
    if msgpack:
        unpacker = msgpack.Unpacker(raw=True, strict_map_key=False, object_pairs_hook=list)
        unpacker.feed(whole)
        assert len([unpacker.unpack(), unpacker.unpack()][1]) == len(pairs)
    return whole + behind


def frame(record, raw=None):
    """With the length in the smallest form, or in 0, 2 or 4 bytes behind the first."""
    size = len(record)
    raw = (0 if size < 32 else 2 if size < 65536 else 4) if raw is None else raw
    length = {0: lambda: bytes([0xA0 + size]), 2: lambda: b"\xDA" + struct.pack(">H", size),
              4: lambda: b"\xDB" + struct.pack(">I", size)}[raw]()
    return b"\xC1\xCE" + struct.pack(">I", zlib.crc32(record)) + b"\xC1" + length + record


def number(value):
    """Of a block."""
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def difference(value):
    return number((value << 1 ^ value >> 63) % (1 << 64))


def column(data):
    return number(len(data)) + data


def bits(*fields):
    return number(sum(1 << field for field in fields))


def literals(data):
    """LZ4 that repeats nothing."""
    left = len(data) - 15
    more = b""
    while left >= 255:
        more, left = more + b"\xFF", left - 255
    return b"\xF0" + more + bytes([left]) + data


def block():
    pace = b"".join(map(number, (1_000, 3, 5_000, 2)))
    shapes = number(3)
    shapes += bits(2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 16, 17, 18, 20) + b"".join(map(number, (1, 77, 2, 2, 1, 300, 9)))
    shapes += number(2) + number(2)
    shapes += bits(9, 19, 20) + number(2) + number(2)
    shapes += bits(7, 17)
    sources = number(2) + bits(5, 13, 14, 15) + b"".join(map(number, (2, 11, 12, 300))) + bits()
    payload = b"\xD2\0\0\0\x05" + text(b"\xFF!")
    columns = [
        number(0) + number(1) + number(0) + number(2),
        number(0) + number(1) + number(1) + number(0),
        difference(0) + difference(10) + difference(-(1 << 63)),
        difference(0) + difference(-1),
        difference(4) + difference(-3),
        number(6) + number(6),
        difference(100) + difference(0) + difference(7),
        difference(-1) + difference(-1) + difference(2) + difference(0),
        difference(-5) + difference(6),
        difference(-(1 << 63)) + difference(-1),
        number(len(payload)) + payload,
    ]
    return pace + shapes + sources + number(len(columns)) + b"".join(map(column, columns))


def main(path):
    unknown = (99, array(b"\xC0", b"\x81\x90\xC3", b"\xD6\x05abcd"))
    named = (text(b"magic"), fixed(5))
    packed = block()
    data = [
        frame(record(fixed(0), unknown, (1, wide(7)), (2, binary(b"/bin/\xFF")), (3, wide(1 << 63)),
                     (4, binary(b"\1" * 20)), (5, text(b"host")), (6, long_text(b"boot")), (7, fixed(5)),
                     (8, text(b"/ring")), named,
                     (9, array(array(fixed(1), wide(2)), array(fixed(1)), fixed(9), array(fixed(3), signed(4)))),
                     (10, text(b"tsc")), (11, b"\xA1w"), (12, wide((1 << 64) - 1)),
                     (13, array(fixed(0), b"\xC0", b"\xCC\xFF")))),
        frame(record(fixed(1), (3, b"\xA3a.c"), (2, fixed(1)), (1, fixed(7)))),
        frame(record(fixed(1), (1, fixed(7)), (2, wide(2)), (3, binary(b"%d \xE4\xB8 %s"))), raw=4),
        frame(record(fixed(1), (1, fixed(7)), (2, b"\xCD" + struct.pack(">H", 300)), (3, long_text(b"x" * 70_000)))),
        frame(record(fixed(5), (1, fixed(7)), (2, fixed(5)), (3, wide(1 << 60)), (4, b"\xC0"), (5, wide(9)), unknown,
                     (6, long_text(b"other")))),
        # What is said again does not count.
        frame(record(fixed(1), (1, fixed(7)), (2, fixed(1)), (3, text(b"other")))),
        b"damage \xC1\xCE\0\0\0\0\xC1\xA1",
        frame(record(fixed(2), (1, fixed(7)), (2, wide(0xFFFF_FFFF_8000_0001)), (3, text(b"libc")), (4, wide(1)),
                     (5, text(b"main")), (6, fixed(2)), (7, fixed(12)), unknown, (8, text(b"main.c")), (9, fixed(34)),
                     (11, array(array(text(b"copy"), binary(b"copy.h"), wide(70_000), unknown[1]),
                                array(b"\xC0", text(b"no line")), fixed(3), array(fixed(1), text(b"b.h"), signed(5)),
                                array()))), raw=2),
        frame(record(fixed(2), (2, fixed(9)), (1, fixed(7)))),
        # The same address in another process.
        frame(record(fixed(2), (1, fixed(7)), (2, wide(0xFFFF_FFFF_8000_0001)), (5, text(b"other")), (7, fixed(13)))),
        frame(record(fixed(9), unknown, named)),
        frame(record(b"\xCD\x01\x2C", unknown)),
        frame(record(fixed(127), (20, fixed(2)), (18, fixed(3)), (17, wide(1 << 40)), (16, fixed(1)), (15, fixed(2)),
                     (14, fixed(12)), (13, fixed(11)), (12, fixed(4)), (11, fixed(2)),
                     (10, array(signed(-1), text(b"\xFF"), b"\xC0")), (9, fixed(2)), (8, wide(8)), (7, fixed(7)),
                     (6, fixed(7)), (5, fixed(1)), (4, array(wide((1 << 64) - 1), b"\xA1x", fixed(3))), (3, fixed(33)),
                     (2, fixed(1)), (1, fixed(7)), named, unknown, behind=b"more")),
        frame(b"\x7F\x80", raw=0),
        frame(record(fixed(127), (1, fixed(7)), (10, array(wide((1 << 64) - 1), signed(-1 << 63), b"\xFF")),
                     (5, fixed(9)), (7, b"\xC3"), (8, b"\xFF"), (4, fixed(5)), (20, b"\xC0"), (9, b"\x93\1\2\3"))),
        frame(record(fixed(127), (1, fixed(8)), (10, array(fixed(1), b"\xC3")), (5, fixed(1)))),
        frame(record(fixed(16), (1, fixed(7)), (2, text(b"lz4")), (3, wide(len(packed))), (4, fixed(4)), unknown,
                     (9, binary(literals(packed))), (10, array(fixed(6), fixed(102))))),
        frame(record(fixed(17), (1, fixed(7)), (2, fixed(5)), (3, fixed(9)), (10, array(fixed(1), fixed(2))), named)),
        frame(record(fixed(17), (1, fixed(7)))),
    ]
    with open(path, "wb") as file:
        file.write(b"".join(data))


if __name__ == "__main__":
    main(sys.argv[1])
