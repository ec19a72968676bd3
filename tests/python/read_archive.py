#!/usr/bin/env python3
"""Reads an archive by docs/archive.md alone: prints its damage, and then each event as one line of JSON. With --names
also each program, string and symbol, before the events.

Needs nothing but Python, and the command zstd for imported logs. Where the module msgpack is installed, it has to find the same in every record.
"""

import datetime
import json
import re
import struct
import subprocess
import sys
import zlib

try:
    import msgpack
except ImportError:
    msgpack = None

MAX = 1 << 24
MAX_EVENTS = 1 << 16
MAX_COLUMNS = 1033
MAX_ARGUMENTS = 1024
FIELDS = {2: "file", 3: "line", 4: "backtrace", 5: "thread", 6: "level", 7: "ticks", 8: "time", 9: "format",
          10: "arguments", 11: "category", 12: "core", 13: "tid", 14: "pid", 15: "process", 16: "lane",
          17: "number", 18: "event"}
PREAMBLE = {1: "magic", 2: "path", 3: "size", 4: "sha1", 5: "host", 6: "boot", 7: "pid", 8: "timeline", 9: "anchors",
            10: "clock", 11: "writer", 12: "created", 13: "nodes", 14: "steps", 15: "rate", 16: "user"}
SYMBOL = {1: "magic", 2: "address", 3: "file", 4: "base", 5: "name", 6: "start", 7: "pid", 8: "source", 9: "line",
          10: "recovered", 11: "inlined"}
PROCESS = {1: "magic", 2: "pid", 3: "joined", 4: "name", 5: "path", 6: "size", 7: "sha1"}
CLOCK = {1: "magic", 2: "ticks", 3: "time", 4: "reference", 5: "error", 6: "boot", 7: "host"}
TAGS = (0, 1, 2, 3, 4, 5, 16, 17, 127)
STRINGS = ("file", "thread", "format", "category", "process")


def frame_at(data, at):
    """The range of the record of the frame at `at`, if a whole one is there."""
    head = data[at:at + 12]
    if len(head) < 8 or head[0] != 0xC1 or head[1] != 0xCE or head[6] != 0xC1:
        return None
    raw = head[7]
    if 0xA0 <= raw <= 0xBF:
        start, length = at + 8, raw - 0xA0
    elif raw == 0xDA and len(head) >= 10:
        start, length = at + 10, int.from_bytes(head[8:10], "big")
    elif raw == 0xDB and len(head) >= 12:
        start, length = at + 12, int.from_bytes(head[8:12], "big")
    else:
        return None
    record = data[start:start + length]
    if length > MAX or len(record) < length or zlib.crc32(record) != int.from_bytes(head[2:6], "big"):
        return None
    return start, start + length


class Map(list):
    """Keys and values in the order in which they stand."""


class Unfinished:
    """An array or a map of which so many values are still to come."""

    def __init__(self, kind, left):
        self.kind, self.left, self.items = kind, left, []

    def whole(self):
        return Map(zip(self.items[::2], self.items[1::2])) if self.kind is Map else self.items


class Msgpack:
    """The values of a record, one after the other."""

    def __init__(self, data):
        self.data, self.at, self.depth = data, 0, 0

    def take(self, count):
        taken = self.data[self.at:self.at + count]
        if len(taken) < count:
            raise ValueError("a record that ends too early")
        self.at += count
        return taken

    def length(self, size):
        return int.from_bytes(self.take(size), "big")

    def value(self):
        """A value. Those inside of it may be nested to any depth, so this does not recurse."""
        inside = []
        while True:
            value = self.head()
            if isinstance(value, Unfinished) and value.left:
                inside.append(value)
                self.depth = max(self.depth, len(inside))
                continue
            while True:
                if isinstance(value, Unfinished):
                    value = value.whole()
                if not inside:
                    return value
                inside[-1].items.append(value)
                inside[-1].left -= 1
                if inside[-1].left:
                    break
                value = inside.pop()

    def head(self):
        """A value; of an array or a map, how much is in it."""
        head = self.length(1)
        if head <= 0x7F:
            return head
        if head <= 0x8F:
            return Unfinished(Map, 2 * (head & 15))
        if head <= 0x9F:
            return Unfinished(list, head & 15)
        if head <= 0xBF:
            return self.take(head & 31)
        if head >= 0xE0:
            return head - 256
        if head == 0xC1:
            raise ValueError("the reserved byte")
        if head in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[head]
        if head in (0xC4, 0xC5, 0xC6):
            return self.take(self.length(1 << head - 0xC4))
        if head in (0xC7, 0xC8, 0xC9):
            return self.extension(self.length(1 << head - 0xC7))
        if head in (0xCA, 0xCB):
            return struct.unpack(">f" if head == 0xCA else ">d", self.take(4 if head == 0xCA else 8))[0]
        if head <= 0xCF:
            return self.length(1 << head - 0xCC)
        if head <= 0xD3:
            return int.from_bytes(self.take(1 << head - 0xD0), "big", signed=True)
        if head <= 0xD8:
            return self.extension(1 << head - 0xD4)
        if head <= 0xDB:
            return self.take(self.length(1 << head - 0xD9))
        if head <= 0xDD:
            return Unfinished(list, self.length(2 << head - 0xDC))
        return Unfinished(Map, 2 * self.length(2 << head - 0xDE))

    def extension(self, size):
        return ("extension", int.from_bytes(self.take(1), "big", signed=True), self.take(size))

    def values(self):
        """Values up to the end, or to the first that is not whole."""
        found, whole = [], self.at
        try:
            while self.at < len(self.data):
                found.append(self.value())
                whole = self.at
        except ValueError:
            pass
        return Arguments(found, self.data[:whole])

    def record(self):
        """The tag and the fields."""
        tag, head = self.value(), self.data[self.at:self.at + 1]
        if not is_integer(tag) or not head or not (0x80 <= head[0] <= 0x8F or head[0] in (0xDE, 0xDF)):
            raise ValueError("no record")
        if tag not in TAGS:
            return tag, {}
        self.at += 1
        count = head[0] & 15 if head[0] <= 0x8F else self.length(2 << head[0] - 0xDE)
        fields = {}
        for _ in range(count):
            key, start = self.value(), self.at
            value = self.value()
            if tag == 127 and key == 10 and isinstance(value, list) and not isinstance(value, Map):
                size = {0xDC: 3, 0xDD: 5}.get(self.data[start], 1)
                value = Arguments(value, self.data[start + size:self.at])
            if is_integer(key):
                fields[key] = value
        self.check()
        return tag, fields

    def check(self):
        """Has the module msgpack read what was read up to here."""
        if msgpack:
            other = msgpack.Unpacker(raw=True, strict_map_key=False, object_pairs_hook=Map,
                                     ext_hook=lambda *extension: ("extension", *extension))
            other.feed(self.data)
            own = Msgpack(self.data)
            while own.at < self.at:
                value = own.value()
                if own.depth > 100:
                    break  # The module has a limit of its own.
                assert repr(value) == repr(other.unpack()), "msgpack finds something else"


class Arguments(list):
    """The arguments of an event, and the bytes that they stand in."""

    def __init__(self, values, raw):
        super().__init__(values)
        self.raw = raw


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def number(value):
    """An unsigned number of 64 bits; none if it is something else."""
    return value if is_integer(value) and value >= 0 else None


def text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else None


def numbers(value):
    """Those of an array, of which others count as 0."""
    if not isinstance(value, list) or isinstance(value, Map):
        return []
    return [number(item) or 0 for item in value]


def pairs(value):
    lists = value if isinstance(value, list) and not isinstance(value, Map) else []
    return [numbers(item) for item in lists if len(numbers(item)) == 2]


def fives(value):
    """The numbers of whole steps."""
    found = numbers(value)
    return found[:len(found) // 5 * 5]


def functions(value):
    """The name, the file and the line of inlined ones."""
    lists = value if isinstance(value, list) and not isinstance(value, Map) else []
    lists = [item if isinstance(item, list) and not isinstance(item, Map) else [] for item in lists[:64]]
    lists = [(item + [None] * 3)[:3] for item in lists]
    found = [(text(name), text(file), number(line)) for name, file, line in lists]
    # A file without a line is no place.
    return [[name, file, line] if file is not None and line is not None and line < 1 << 32 else [name, None, None]
            for name, file, line in found]


def expand(data, length):
    """The block format of LZ4."""
    out, at = bytearray(), 0

    def more(count):
        nonlocal at
        while count >= 15:
            byte = data[at]
            at += 1
            count += byte
            if byte < 255:
                break
        return count

    while at < len(data):
        token = data[at]
        at += 1
        literals = more(token >> 4)
        out += data[at:at + literals]
        at += literals
        if at == len(data):
            break
        offset = data[at] | data[at + 1] << 8
        at += 2
        for _ in range(more(token & 15) + 4):
            out.append(out[-offset])
    assert len(out) == length, "a block of another length than told"
    return bytes(out)


def zstd(data, length):
    """Zstandard, by its command: Python before 3.14 has no module for it."""
    out = subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout
    assert len(out) == length, "a block of another length than told"
    return out


class Numbers:
    """Numbers of seven bits a byte."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        number, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def difference(self, expected):
        number = self.number()
        return (expected + (number >> 1 ^ -(number & 1))) % (1 << 64)

    def value(self, kind, before, i):
        """A value of a kind: a number, bytes, None for a null pointer, or a text that was cut in a list."""
        if kind <= 1:
            before[i] = value = self.difference(before[i])
            return signed(value) if kind == 0 else value
        if kind == 2:
            return struct.unpack("<d", self.take(8))[0]
        if kind == 3:
            return self.take(16)
        assert kind == 4, "a kind that is not known"
        length = self.number() - 1
        if length < 0:
            return None
        text = self.take(length >> 1)
        return [text] if length & 1 else text

    def take(self, length):
        self.at += length
        assert self.at <= len(self.data), "a column that ends too early"
        return self.data[self.at - length:self.at]

    def bytes(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at]


def signed(value):
    return value - (value >> 63 << 64)


def payload(kind, value):
    """A value of a kind, as it stands in a payload."""
    if kind <= 1:
        size = 4 if (-1 << 31 <= value < 1 << 31 if kind == 0 else value < 1 << 32) else 8
        return bytes([{0: 0xD0, 1: 0xCC}[kind] + (2 if size == 4 else 3)]) + value.to_bytes(size, "big", signed=kind == 0)
    if kind == 2:
        return b"\xcb" + struct.pack(">d", value)
    if kind == 3:
        return b"\xd8\x02" + value
    if value is None:
        return b"\xc0"
    if isinstance(value, list):
        return b"\xc8" + len(value[0]).to_bytes(2, "big") + b"\x01" + value[0]
    return (bytes([0xD9, len(value)]) if len(value) < 256 else b"\xda" + len(value).to_bytes(2, "big")) + value


class Stored:
    """How values stand in their columns, if their shape says so."""

    def __init__(self, numbers):
        byte = numbers.take(1)[0]
        self.kind, self.way, self.entries = byte & 15, byte >> 4, None
        assert self.way <= 6 and (self.kind == 2 or self.way < 5)
        if self.way in (2, 5):
            self.size = numbers.number()
            assert 1 <= self.size <= (7 if self.way == 5 else 65535 if self.kind == 4 else 8)
        if self.way == 6:
            self.power = numbers.number()
            assert self.power <= 15
        if self.way == 4:
            offset = numbers.difference(0)
            self.offset, self.form = signed(offset), numbers.bytes().decode()

    def value(self, column, before, i, time):
        if self.way == 0:
            return column.value(self.kind, before, i)
        if self.way == 6:
            before[i] = number = column.difference(before[i])
            return float(signed(number)) / 10 ** self.power
        if self.way == 5:
            if self.entries is None:
                self.entries, before[i] = [], int.from_bytes(column.take(8), "little")
            difference = int.from_bytes(column.take(self.size), "little", signed=True)
            before[i] = (before[i] + difference) % (1 << 64)
            return struct.unpack("<d", before[i].to_bytes(8, "little"))[0]
        if self.way == 4:
            return time_text(self.form, time, self.offset)
        if self.way == 3:
            if self.entries is None:
                self.entries = [column.bytes() if self.kind == 4 else column.number() for _ in range(column.number())]
            value = self.entries[column.number()]
        elif self.kind == 4:
            value = column.take(self.size)
        else:
            value = column.number() if self.way == 1 else int.from_bytes(column.take(self.size), "little")
        return signed(value) if self.kind == 0 else value


def time_text(form, time, offset):
    second, nanos = divmod(time, 10 ** 9)
    date = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=second + offset)
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    parts = {"Y": f"{date.year:04}", "m": f"{date.month:02}", "d": f"{date.day:02}", "H": f"{date.hour:02}",
             "M": f"{date.minute:02}", "S": f"{date.second:02}", "e": f"{date.day:2}", "b": months[date.month - 1],
             "a": "Mon Tue Wed Thu Fri Sat Sun".split()[date.weekday()], "s": f"{second:010}", "k": f"{second:5}", "%": "%"}

    def part(found):
        return f"{nanos:09}"[:int(found[1][0])] if len(found[1]) == 2 else parts[found[1]]
    return re.sub("%([1-9]f|.)", part, form).encode()


def row(numbers, bits):
    mask = numbers.number()
    return mask, {bit: numbers.number() for bit in bits if mask >> bit & 1}


def shape_of(numbers):
    """What the events of a shape share: fields, and how their values stand in which columns."""
    mask, fields = row(numbers, (2, 3, 6, 9, 11, 18, 20, 22))
    backtrace = numbers.number() if mask >> 4 & 1 else 0
    arguments = numbers.number() if mask >> 10 & 1 else 0
    kinds, first = [], 0
    if mask >> 21 & 1:
        count = numbers.number()
        kinds = [Stored(numbers) if mask >> 25 & 1 else numbers.take(1)[0] for _ in range(count)]
        first = numbers.number() if mask >> 25 & 1 else 0
    assert max(arguments, len(kinds)) <= MAX_ARGUMENTS
    return mask, fields, backtrace, [0] * (arguments or len(kinds)), kinds, first


def ranges_of(data):
    """The ranges of a block, by the fields that a shape has of its definition: the kind, the least and the greatest of
    each of its values."""
    assert zlib.crc32(data[4:]) == int.from_bytes(data[:4], "little"), "ranges with a wrong checksum"
    numbers, found = Numbers(data[4:]), {}
    for _ in range(numbers.number()):
        mask, fields, _, before, kinds, _ = shape_of(numbers)
        ranges = []
        for kind in kinds or [0] * len(before):
            if kind == 2:
                ranges.append((kind, *struct.unpack("<dd", numbers.take(16))))
            elif kind != 3:
                least = signed(numbers.difference(0)) if kind == 0 else numbers.number()
                ranges.append((kind, least, least + numbers.number()))
            else:
                ranges.append((kind, None, None))
        found.setdefault(tuple(sorted(fields.items())), []).append(ranges)
    assert numbers.at == len(numbers.data)
    return found


def check_ranges(data, events):
    """Compares the ranges with the events: of some shape with these values, all are in the ranges."""
    found, least_used = ranges_of(data), set()
    for event in events:
        fields = tuple(sorted((key, event[key]) for key in (2, 3, 6, 9, 11, 18, 20, 22) if key in event))
        if "values" in event:
            assert any(holds(ranges, event["values"]) for ranges in found[fields]), "a value that is in no range"
        assert fields in found, "a definition that is not told"
        least_used.add(fields)
    assert least_used == set(found), "a definition without events"


def holds(ranges, values):
    def is_in(range, value):
        kind, least, most = range
        if kind == 4:
            return least <= len(value[0] if isinstance(value, list) else value or b"") <= most
        return kind == 3 or not least <= most or least <= value <= most
    return [kind for kind, _ in values] == [kind for kind, *_ in ranges] and all(
        is_in(range, value) for range, (_, value) in zip(ranges, values))


def events_of(block):
    """The events of an expanded block, each as the fields of a record of its own."""
    numbers = Numbers(block)
    base_ticks, ticks_span, base_time, time_span = (numbers.number() for _ in range(4))
    shapes = [shape_of(numbers) for _ in range(numbers.number())]
    sources = [row(numbers, (5, 13, 14, 15, 23, 24))[1] for _ in range(numbers.number())]
    columns = [Numbers(numbers.bytes()) for _ in range(numbers.number())]
    assert max(len(shapes), len(sources)) <= MAX_EVENTS and len(columns) <= MAX_COLUMNS
    last = {7: base_ticks, 8: base_time, 12: 0, 4: 0}
    lanes = {}
    while columns[0].at < len(columns[0].data):
        mask, fields, backtrace, before, kinds, first = shapes[columns[0].number()]
        event = {**fields, **sources[columns[1].number()]}
        if mask >> 7 & 1:
            event[7] = last[7] = columns[2].difference(last[7])
        if mask >> 8 & 1:
            expected = base_time
            if ticks_span and 7 in event:
                expected += (event[7] - base_ticks) * time_span // ticks_span
            if time_span and not ticks_span:
                last[8] = event[8] = (last[8] + signed(columns[3].difference(0)) * time_span) % (1 << 64)
            else:
                event[8] = columns[3].difference(expected)
        if mask >> 12 & 1:
            event[12] = last[12] = columns[4].difference(last[12])
        if mask >> 16 & 1:
            event[16] = columns[5].number()
        if mask >> 17 & 1:
            lane = event.get(16)
            event[17] = columns[6].difference(lanes.get(lane, 0))
            lanes[lane] = event[17] + 1
        for _ in range(backtrace):
            last[4] = columns[7].difference(last[4])
            event.setdefault(4, []).append(last[4])
        if kinds:
            its = enumerate(zip(kinds, columns[8 + first:]))
            values = [way.value(column, before, i, event.get(8)) if isinstance(way, Stored)
                      else column.value(way, before, i) for i, (way, column) in its]
            each = [way.kind if isinstance(way, Stored) else way for way in kinds]
            event[10] = Msgpack(b"".join(map(payload, each, values))).values()
            event["values"] = list(zip(each, values))
        for i, value in enumerate(before if not kinds else ()):
            value = columns[8 + i].difference(value % (1 << 64))
            before[i] = value - (1 << 64) if value >> 63 else value
        if before and not kinds:
            event[10] = Arguments(before, b"")
            event["values"] = [(0, value) for value in before]
        if mask >> 19 & 1:
            event[10] = Msgpack(columns[-1].bytes()).values()
        yield event


def named(names, fields):
    """The fields of a preamble or symbol under their names."""
    kinds = {"anchors": pairs, "nodes": numbers, "steps": fives, "inlined": functions, "sha1": lambda value: isinstance(value, bytes) and value.hex() or None}
    texts = ("path", "host", "boot", "timeline", "clock", "writer", "file", "name", "source", "user")
    return {name: kinds.get(name, text if name in texts else number)(fields.get(field))
            for field, name in names.items()}


def shown(value):
    """A value of a payload as JSON has it: text as such, and what is no UTF-8 and extensions in hexadecimal."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"bytes": value.hex()}
    if isinstance(value, tuple):
        return {"extension": value[1], "bytes": value[2].hex()}
    if isinstance(value, Map):
        return {str(key): shown(item) for key, item in value}
    if isinstance(value, list):
        return [shown(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return {"double": str(value)}
    return value


def arguments(fields):
    """How the arguments of an event are printed: as integers, or with the bytes that they stand in."""
    values = fields.get(10)
    if not isinstance(values, Arguments) or not values:
        return {"arguments": []}
    if number(fields.get(20)) not in (2, 3) and all(is_integer(value) for value in values):
        return {"arguments": [(value + (1 << 63)) % (1 << 64) - (1 << 63) for value in values]}
    return {"arguments": shown(values), "payload": values.raw.hex()}


def reaches(fields):
    """The lanes of a record, each with the first entry that it accounts for and the one behind the last."""
    positions, start = numbers(fields.get(10)), numbers(fields.get(12))
    start = list(zip(start[::2], start[1::2]))
    lanes = []
    for lane, last in zip(positions[::2], positions[1::2]):
        first = start.pop(0)[1] if start and start[0][0] == lane else last
        lanes.append((lane, first, last))
    return lanes


def cover(covered, magic, lanes, begins=False, chained=False, vague=False):
    """Notes what a frame accounts for."""
    ring = covered.setdefault(magic, {"lanes": {}, "begins": [], "known": False, "vague": False})
    for lane, first, last in lanes:
        ring["lanes"].setdefault(lane, []).append((first, max(first, last)))
    if begins:
        ring["begins"].append({lane for lane, _, _ in lanes})
    ring["known"] |= begins or chained
    ring["vague"] |= bool(vague)


def gone(ring):
    """How many entries no frame of a ring accounts for, between the first and the last position of each lane."""
    if ring["vague"] or not ring["known"]:
        return 0
    missing = 0
    for lane, ranges in ring["lanes"].items():
        if any(lane not in named for named in ring["begins"]):
            ranges = ranges + [(0, 0)]
        reached = min(ranges)[0]
        for first, last in sorted(ranges):
            missing += max(0, first - reached)
            reached = max(reached, last)
    return missing


def main(path, with_names):
    with open(path, "rb") as file:
        data = file.read()
    damage, records, at, start = [], [], 0, 0
    while at < len(data):
        found = frame_at(data, at)
        if found is None:
            further = data.find(b"\xC1", at + 1)
            at = len(data) if further < 0 else further
            continue
        try:
            records.append(Msgpack(data[found[0]:found[1]]).record())
        except ValueError:
            at = found[1]
            continue
        if start < at:
            damage.append([start, at])
        at = start = found[1]
    if start < at:
        damage.append([start, at])

    modules, clocks = [], []
    programs, symbols, processes, strings, missed, events, covered = [], [], {}, {}, 0, [], {}
    for tag, fields in records:
        magic = number(fields.get(1)) or 0
        if tag == 0:
            programs.append(named(PREAMBLE, fields))
        elif tag == 1 and number(fields.get(2)) is not None and text(fields.get(3)) is not None:
            strings.setdefault((magic, fields[2]), text(fields[3]))
        elif tag == 2:
            symbols.append(named(SYMBOL, fields))
        elif tag == 4 and text(fields.get(2)) is not None:
            modules.append([number(fields.get(1)), text(fields[2])])
        elif tag == 5:
            clocks.append(named(CLOCK, fields))
        elif tag == 3 and number(fields.get(2)) is not None:
            process = named(PROCESS, fields)
            known = processes.setdefault((magic, process["pid"], process["joined"]), process)
            processes[magic, process["pid"], process["joined"]] = {**process, "sha1": process["sha1"] or known["sha1"]}
        elif tag == 16:
            assert fields[2] in (b"lz4", b"lz4+kinds", b"lz4+columns", b"zstd+columns")
            block = zstd(fields[9], fields[3]) if fields[2].startswith(b"zstd") else expand(fields[9], fields[3])
            inside = list(events_of(block))
            if 11 in fields:
                check_ranges(fields[11], inside)
            for event in inside:
                event.pop("values", None)
            assert len(inside) == fields[4] <= MAX_EVENTS and fields[3] <= MAX
            for first, most, field in ((5, 6, 7), (7, 8, 8)):
                values = [event.get(field) for event in inside]
                span = [None, None] if None in values else [min(values), max(values)]
                assert [fields.get(first), fields.get(most)] == span
            events += [(magic, event) for event in inside]
            cover(covered, magic, reaches(fields), chained=12 in fields, vague=inside and 10 in fields and 12 not in fields)
        elif tag == 17:
            missed += number(fields.get(2)) or 0
            lane, last = number(fields.get(16)), number(fields.get(17))
            if None not in (lane, last, number(fields.get(2))):
                first = max(0, last - number(fields[2]) - (number(fields.get(4)) or 0))
                cover(covered, magic, [(lane, min([first] + numbers(fields.get(12))[1:2]), last)])
            else:
                begins = number(fields.get(2)) == 0 and not {3, 12} & set(fields)
                cover(covered, magic, reaches(fields), begins=begins)
        elif tag == 127:
            events.append((magic, fields))
            lane, first = number(fields.get(16)), number(fields.get(17))
            if None not in (lane, first) and lane != 32768:
                last = number(fields.get(21))
                cover(covered, magic, [(lane, first, first + 1 if last is None else last)])
    print(json.dumps({"damage": damage, "missed": missed, "gone": sum(map(gone, covered.values()))}))
    if with_names:
        for program in programs:
            print(json.dumps({"program": program}))
        for (magic, id), string in sorted(strings.items()):
            print(json.dumps({"string": [magic, id, string]}))
        for symbol in symbols:
            print(json.dumps({"symbol": symbol}))
        for module in modules:
            print(json.dumps({"module": module}))
        for clock in clocks:
            print(json.dumps({"clock": clock}))
        for process in processes.values():
            print(json.dumps({"process": process}))
    important = set()
    for magic, fields in events:
        if number(fields.get(16)) == 1 << 15 and number(fields.get(17)) is not None:
            if (magic, fields[17]) in important:
                continue  # Another file has it already.
            important.add((magic, fields[17]))
        event = {name: number(fields.get(field)) for field, name in FIELDS.items()}
        for name in STRINGS:
            if event[name] is not None:
                event[name] = strings.get((magic, event[name]), f"<string {event[name]:#x}?>")
        event.update(arguments(fields))
        if number(fields.get(20)) is not None:
            event["syntax"] = fields[20]
        if number(fields.get(22)) is not None:
            event["channels"] = strings.get((magic, number(fields[22])), f"<string {fields[22]:#x}?>")
        if number(fields.get(23)) is not None:
            event["group"] = strings.get((magic, fields[23]), f"<string {fields[23]:#x}?>")
        if number(fields.get(24)) is not None:
            event["identity"] = fields[24]
        event["backtrace"] = numbers(fields.get(4))
        print(json.dumps({"magic": magic, **event}))


if __name__ == "__main__":
    main(sys.argv[-1], "--names" in sys.argv[1:-1])
