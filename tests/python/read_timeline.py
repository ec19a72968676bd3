#!/usr/bin/env python3
"""Reads a timeline by docs/format.md alone: the standard library, and nothing of this project.

    read_timeline.py FILE

FILE is a snapshot, or a timeline that nobody writes to just now. Prints one JSON object for each event,
newest first, with the fields of `timeline dump --json`. Anything that contradicts docs/format.md is an
error: a message on standard error and status 1.
"""

import datetime
import decimal
import functools
import json
import math
import operator
import re
import struct
import sys
import zlib

MAGIC = b"\x89TLN\r\n\x1a\n"
REGIONS = ("enable", "definitions", "threads", "processes", "lanes", "chunks", "entries", "strings",
           "important")
PRIORITIES = (None, "error", "warning", "info", "trace", "app", "packet", "library")
UNKNOWN_CPU, UNKNOWN_NODE = 0xFFFF, 0xFF


class Invalid(Exception):
    """The file is not what docs/format.md says."""


def expect(condition, what):
    if not condition:
        raise Invalid(what)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


class Timeline:
    def __init__(self, data):
        self.data = data
        self.read_header()
        self.read_definitions()
        self.read_anchors()
        self.read_stretches()

    def u8(self, at):
        return self.data[at]

    def u16(self, at):
        return struct.unpack_from("<H", self.data, at)[0]

    def u32(self, at):
        return struct.unpack_from("<I", self.data, at)[0]

    def u64(self, at):
        return struct.unpack_from("<Q", self.data, at)[0]

    def read_header(self):
        data = self.data
        expect(data[:8] == MAGIC, "the magic")
        expect(len(data) >= 4096, "a header of 4096 bytes")
        expect(self.u16(0x008) == 1, "major version 1")
        expect(self.u32(0x00C) == 4096, "header_size")
        checked = data[:0x14] + bytes(4) + data[0x18:0x800]
        expect(zlib.crc32(checked) == self.u32(0x014), "checksum")
        self.snapshot = self.u32(0x010) & 1 == 1
        is_reduced = self.u32(0x010) & 2 == 2
        expect(is_reduced or (self.u32(0x134), self.u64(0x160)) == (0, 0), "no bound of a ring that fits")
        total = self.u64(0x018)
        expect(len(data) >= total, "total_size bytes")
        self.entries = self.u64(0x020)
        self.chunk_entries, self.chunks = self.u32(0x028), self.u32(0x02C)
        self.lanes = self.u32(0x030) + self.u32(0x034)
        self.definitions, self.threads = self.u32(0x038), self.u32(0x03C)
        self.processes = self.u32(0x040)
        self.clock = self.u32(0x044)
        expect(self.clock in (1, 2), "clock")
        expect(self.clock == 2 or self.u32(0x3F0) == 0, "no reason against the counter where it is used")
        expect(self.u32(0x3F0) <= 3, "a known reason")
        for count in (self.entries, self.chunk_entries, self.chunks):
            expect(count > 0 and count & (count - 1) == 0, "powers of two")
        expect(self.chunks * self.chunk_entries == self.entries, "chunks")
        expect(self.lanes <= 32767 and self.chunk_entries <= 16384, "counts that fit 15 bits")

        self.region, end = {}, 4096
        for number, name in enumerate(REGIONS):
            offset, length, stride = struct.unpack_from("<QQQ", data, 0x048 + 24 * number)
            expect(offset % 64 == 0 and end <= offset, "an offset behind the region before: " + name)
            end = offset + length
            expect(end <= total, "a region inside the file: " + name)
            self.region[name] = (offset, length, stride)
        counts = (self.definitions, self.definitions, self.threads, self.processes,
                  self.lanes, self.chunks, self.entries)
        least = (1, 64, 128, 384, 64, 64, 64)
        for name, count, size in zip(REGIONS, counts, least):
            _, length, stride = self.region[name]
            expect(stride >= size and length == count * stride, "length and stride: " + name)
        for name in ("entries", "important"):
            expect(self.region[name][2] == 64, "64-byte entries")
        offset, length, stride = struct.unpack_from("<QQQ", data, 0x168)
        self.region["stretches"] = (offset, length, stride)
        if length:
            expect(offset % 64 == 0 and end <= offset and offset + length <= total, "stretches inside the file")
            expect(stride >= 80 and length % stride == 0, "length and stride: stretches")
        self.interned = self.u64(0x158)
        expect(self.interned % 64 == 0 and self.interned + 1024 <= self.region["strings"][1], "interned texts")
        length = self.region["important"][1]
        expect(length % 64 == 0 and 0 < length <= 64 << 16, "1 to 65536 entries of important events")

    def record(self, region, index):
        offset, length, stride = self.region[region]
        expect(index * stride < length, "a record of " + region)
        return offset + index * stride

    def interned_text(self, word):
        offset, length, _ = self.region["strings"]
        slots = self.interned // 64
        first = length - self.interned
        at, size = word & 0xFFFFFFFF, word >> 32 & 0x1FF
        taken = self.u64(0x8B0)
        texts = first + 8 * slots
        expect(word >> 41 == 1 << 20 and at % 8 == 0 and 0 < size <= 256, "the word of an interned text")
        expect(texts <= at and at + size + -size % 8 <= texts + taken, "a text that was handed out")
        text = self.data[offset + at:offset + at + size + -size % 8]
        expect(not any(text[size:]), "zeros behind a text")
        hashed = size
        for (part,) in struct.iter_unpack("<Q", text + bytes(8)):
            hashed = (hashed ^ part) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
            hashed ^= hashed >> 32
        probes = [self.u64(offset + first + 8 * ((((hashed & 0xFFFFFFFF) * slots >> 32) + i) % slots)) for i in range(16)]
        slot = hashed >> 41 << 41 | size << 32 | at
        expect(slot in probes and 0 not in probes[:probes.index(slot)], "the slot of an interned text")
        return text[:size]

    def string(self, place):
        offset, length, _ = self.region["strings"]
        length -= self.interned
        expect(place < length, "a string inside the table")
        end = self.data.index(b"\0", offset + place, offset + length)
        return self.data[offset + place:end]

    def read_definitions(self):
        self.defined = {}
        for event in range(1, self.u32(0x880)):
            at = self.record("definitions", event)
            category, message = self.string(self.u32(at + 8)), self.string(self.u32(at + 12))
            file, line = self.string(self.u32(at + 16)), self.u32(at + 20)
            priority, kind, arguments = self.u8(at + 26), self.u8(at + 27), self.u8(at + 28)
            expect(self.u8(at + 35) <= 11, "what rules say of an event")
            expect(1 <= priority <= 7 and kind in (1, 2, 3) and arguments <= 64, "a definition")
            hashed = bytes([priority]) + category + b"\0" + message
            if kind != 1 or file:
                hashed += b"\0" + bytes([kind]) + struct.pack("<I", line) + file
            channels = self.u64(at + 40)
            if channels:
                hashed += b"\0" + struct.pack("<Q", channels)
            known = [self.string(offset) for offset in struct.unpack_from("<64I", self.data, 0xB80)]
            expect(all(name or not channels >> bit & 1 for bit, name in enumerate(known)), "channels with names")
            flags = self.u8(at + 34)
            expect(flags <= 1, "flags")
            if flags:
                hashed += b"\0" + bytes([flags])
            expect(self.u64(at) == fnv1a(hashed), "hash")
            on = 0 if kind == 3 else 1 + flags
            expect(self.u8(self.record("enable", event)) in (0, on), "an enable byte")
            if kind == 3:
                expect(len(message.split(b" ", 5)) == 6, "a loaded object in six words")
                continue
            message = message.decode()
            expect(len(names(message)) == arguments or kind == 2, "as many $names as arguments")
            where = (file.decode(), line) if file else None
            channels = [name.decode() for bit, name in enumerate(known) if channels >> bit & 1]
            self.defined[event] = (category.decode(), PRIORITIES[priority], message, kind, where, channels)

    def read_anchors(self):
        words = [struct.unpack_from("<QQQQ", self.data, 0x940 + 32 * slot) for slot in range(16)]
        anchors = [anchor for serial, *anchor in sorted(words) if serial != 0 and anchor[0] != 0]
        if self.clock == 2:
            anchors = self.consistent([anchor for anchor in anchors if anchor[1]] or anchors)
        anchors.sort(key=lambda anchor: anchor[0])
        self.anchors = []
        for anchor in anchors:
            if not self.anchors or anchor[0] != self.anchors[-1][0]:
                self.anchors.append(anchor)
        self.rate = 1e9 if self.clock == 2 else self.rate_by(1) or self.rate_by(2)

    def consistent(self, anchors):
        """Of all sequences with rising ticks the longest, the one with the most credible rates, the one taken last."""
        best = [(0, 0, [], [])]
        for at, anchor in enumerate(anchors):
            ends = []
            for count, credible, places, taken in best:
                if not taken or taken[-1][0] < anchor[0]:
                    nanos = anchor[2] - taken[-1][2] if taken else 0
                    rises = nanos > 0 and 15 / 16 <= (anchor[0] - taken[-1][0]) / nanos <= 17 / 16
                    ends.append((count + 1, credible + rises, [at] + places, taken + [anchor]))
            best.append(max(ends))
        return max(best)[3]

    def rate_by(self, clock):
        """Ticks per second by the monotonic clock (1) or that of the wall (2), from the widest credible pair."""
        known = self.u64(0x150)
        least, most = (known * 0.9375, known * 1.0625) if known else (1e8, 1e10)
        widest, found = 0, None
        for number, first in enumerate(self.anchors):
            for last in self.anchors[number + 1:]:
                ticks, nanos = last[0] - first[0], last[clock] - first[clock]
                if nanos > 0 and ticks > widest and (clock == 2 or first[1] and last[1]):
                    rate = ticks * 1e9 / nanos
                    if least <= rate <= most:
                        widest, found = ticks, rate
        return found

    def read_stretches(self):
        """The stretches that count: (from, ticks, unix, nanos, offset)."""
        _, length, stride = self.region["stretches"]
        slots, newest, known = length // stride if length else 0, self.u64(0x918), self.u64(0x150)
        least, most = (known - known // 8, known + known // 8) if known else (10**8, 10**10)
        self.stretches, last = [], 0
        for serial in range(max(newest - slots, 0) + 1, newest + 1) if slots else ():
            at = self.record("stretches", serial % slots)
            words = struct.unpack_from("<10Q", self.data, at)
            whole = words[0] == serial and functools.reduce(operator.xor, words) == 0
            first, ticks, unix, nanos = words[1:5]
            fits = 0 < ticks < 1 << 62 and first + ticks < 1 << 64 and unix + nanos < 1 << 64
            if whole and first > last and fits and nanos * least <= ticks * 10**9 <= nanos * most:
                self.stretches.append((first, ticks, unix, nanos, words[7]))
                last = first

    def stretched(self, t):
        """The time at ticks by the stretches."""
        before = [stretch for stretch in self.stretches if stretch[0] <= t]
        after = [stretch for stretch in self.stretches if stretch[0] > t]
        if not before:
            first, ticks, unix, nanos, _ = after[0]
            return unix - nanos * (first - t) // ticks
        first, ticks, unix, nanos, offset = before[-1]
        if t < first + ticks or not after:
            return unix + nanos * (t - first) // ticks
        end, unix = first + ticks, unix + nanos
        expected, found = nanos * (after[0][0] - end) // ticks, after[0][2] - unix
        by, was_set = found - expected, found < 0
        if offset and after[0][4]:
            by_set = (after[0][4] - offset + 2**63) % 2**64 - 2**63
            if abs(by_set) < 10**6:
                was_set |= abs(by) > 10**6 + expected // 8
            else:
                was_set |= by_set < 10**9 or abs(by - by_set) < abs(by)
        else:
            was_set |= abs(by) > 10**6 + expected // 512
        if not was_set:
            return unix + found * (t - end) // (after[0][0] - end)
        return unix + after[0][3] * (t - end) // after[0][1]

    def unix_nanos(self, ticks):
        if self.stretches:
            return self.stretched(ticks)
        if not self.anchors:
            return None
        before = [anchor for anchor in self.anchors if anchor[0] <= ticks]
        after = [anchor for anchor in self.anchors if anchor[0] > ticks]
        if before and after:
            a, b = before[-1], after[0]
            span = (b[2] - a[2]) * (ticks - a[0])
            part = abs(span) // (b[0] - a[0])
            return a[2] + (part if span >= 0 else -part)
        nearest = before[-1] if before else after[0]
        if self.rate is None:
            return None
        return nearest[2] + int((ticks - nearest[0]) * 1e9 / self.rate)

    def chunk(self, number):
        """Ticket, count, lane and before of a chunk; None when it holds nothing."""
        at = self.record("chunks", number)
        state, before, lane = self.u64(at), self.u64(at + 8), self.u64(at + 16)
        ticket = state >> 16
        if ticket == 0:
            return None
        expect(ticket & (self.chunks - 1) == number, "a ticket of this chunk")
        if state & 0x8000:
            owner = state & 0x7FFF
            expect(owner < self.lanes, "a lane that exists")
            expect(not self.snapshot, "closed chunks only in a snapshot")
            cursor = self.u64(self.record("lanes", owner))
            count = cursor & 0xFFFF if cursor >> 16 == ticket else 0
        else:
            count = state & 0x7FFF
        expect(count <= self.chunk_entries and (count == 0 or lane < self.lanes), "count and lane")
        if count == 0:
            return None
        expect(self.u64(at + 24) == ticket, "before and lane of this ticket")
        return ticket, count, lane, before

    def events(self):
        """(ticks, lane, place), the entry, and what is missing before each event, newest first."""
        found = []
        chunks = [(number, self.chunk(number)) for number in range(self.chunks)]
        chunks = [(lane, before, count, number) for number, (_, count, lane, before) in filter(lambda c: c[1], chunks)]
        lane_before, end, missed = None, 0, 0
        for lane, before, count, number in sorted(chunks):
            if lane != lane_before:
                lane_before, end, missed = lane, 0, 0
            expect(before >= end, "each number of a lane once")
            missed += before - end
            end = before + count
            last, inside = 0, range(0)
            for index in range(count):
                at = self.record("entries", number * self.chunk_entries + index)
                ticks, event, slots, flags = self.u64(at), self.u32(at + 8), self.u8(at + 14), self.u8(at + 15)
                expect(ticks >= last and ticks > 0, "times that rise within a chunk")
                if index in inside:
                    expect((event, slots, flags) == (0, 0, index - inside.start + 1), "a continuation")
                    expect(ticks == last and self.u16(at + 12) == core, "ticks and core of the first entry")
                    continue
                last, core = ticks, self.u16(at + 12)
                if event == 0:
                    expect((slots, flags) == (1, 0), "padding")
                    continue
                expect(1 <= slots <= 32 and index + slots <= count, "entries of one chunk")
                inside = range(index + 1, index + slots)
                found.append(((ticks, lane, before + index), at, missed))
                missed = 0
        found.sort(reverse=True)
        places = [key[1:] for key, _, _ in found]
        expect(len(set(places)) == len(places), "each place of a lane once")
        return found

    def important(self):
        """The important events in the form of `events`, newest first."""
        length = self.region["important"][1]
        taken = min(self.u64(0x8A0), length // 64)
        found, index = [], 0
        while index < taken:
            at = self.record("important", index)
            index += 1
            if self.u64(at) == 0 or self.u8(at + 14) == 0:
                continue  # Not committed, or a continuation of what is not.
            slots = self.u8(at + 14)
            expect(1 <= slots <= 32 and index - 1 + slots <= taken, "entries that were taken")
            for position in range(1, slots):
                other = at + 64 * position
                expect((self.u32(other + 8), self.u8(other + 14), self.u8(other + 15)) == (0, 0, position),
                       "a continuation")
                expect(self.u64(other) == self.u64(at), "ticks of the first entry")
            found.append(((self.u64(at), 1 << 15, index - 1), at, 0))
            index += slots - 1
        return sorted(found, reverse=True)

    def thread(self, identity, tid):
        slot = identity & 0xFFFF
        if identity == 0 or slot >= self.threads:
            return None
        at = self.record("threads", slot)
        if self.u32(at) != identity or self.u32(at + 4) != tid:
            return None
        def text(place, size):
            return self.data[at + place:at + place + size].split(b"\0")[0].decode(errors="replace")

        is_named = self.u32(at + 52) % 2 == 0
        return {"executable": self.executable(self.u32(at + 12), self.u32(at + 8), self.u64(at + 16)), "pid": self.u32(at + 8), "process": text(32, 16), "name": text(56, 40) if is_named else None,
                "group": text(96, 32) if is_named else ""}

    def executable(self, live, pid, start):
        """The path of the executable of a process, or "" if it is not known."""
        fitting = []
        for slot in range(self.processes):
            at = self.record("processes", slot)
            left = self.u64(at + 48) & ~(1 << 63)
            if self.u32(at) == 0:
                continue
            if live:
                is_it = self.u32(at) == live
            else:
                is_it = self.u32(at + 4) == pid and self.u64(at + 24) <= start and (not left or start <= left)
            if is_it:
                path = self.data[at + 64:at + 320].split(b"\0")[0].decode(errors="replace")
                fitting.append((self.u64(at + 24), self.u64(at + 16), path))
        namespaces = {namespace for _, namespace, _ in fitting}
        if len(fitting) > 1 and (len(namespaces) > 1 or 0 in namespaces):
            return ""
        return max(fitting)[2] if fitting else ""

    def line(self, at, cycles, missed, is_important):
        event, core = self.u32(at + 8), self.u16(at + 12)
        expect(event in self.defined, "a defined event")
        category, priority, message, kind, where, channels = self.defined[event]
        identity, tid = self.u32(at + 16), self.u32(at + 20)
        words, backtrace, interned = self.words(at)
        kinds = conversions(message) if kind == 2 else types(message)
        laid = list(laid_out(kinds, words, interned))
        values, cut = [value for value, _ in laid], [place for place, (_, is_cut) in enumerate(laid) if is_cut]
        by_name = unique(names(message)) if kind == 1 else []
        named = map(plain, map(typed, types(message), values)) if kind == 1 else []
        thread = self.thread(identity, tid)
        node = self.u8(0x400 + core) if core < 1024 else UNKNOWN_NODE
        ticks = self.u64(at)
        nanos = self.unix_nanos(ticks)
        line = {
            "ticks": ticks,
            "time": None if nanos is None else rfc3339(nanos),
            "unix_ns": None if nanos is None else str(nanos),
            "cycles": cycles,
            "core": None if core == UNKNOWN_CPU else core,
            "node": None if node == UNKNOWN_NODE else node,
            "tid": tid,
            "pid": thread and thread["pid"],
            "thread": thread and thread["name"],
            "process": thread and thread["process"],
            "category": category,
            "priority": priority,
            "message": printf(message, values) if kind == 2 else render(message, values),
            "template": message,
            "definition": event,
            "args": list(map(plain, values)) if kind == 2 else dict(zip(by_name, named)),
        }
        if thread and thread["executable"]:
            line["executable"] = thread["executable"]
        if cut:
            line["cut"] = [by_name[place] if kind == 1 else place for place in cut]
        if thread and thread["group"]:
            line["group"] = thread["group"]
        if missed:
            line["missed"] = missed
        if is_important:
            line["important"] = True
        if where:
            line["file"], line["line"] = where
        if channels:
            line["channels"] = channels
        if backtrace is not None:
            line["backtrace"] = backtrace
        return line

    def words(self, at):
        """The words of an event's values, its return addresses or None, and its interned texts by their words."""
        slots, flags = self.u8(at + 14), self.u8(at + 15)
        if flags & 2 == 0:
            expect((slots, flags) == (1, 0), "one entry without flags")
            return struct.unpack_from("<4Q", self.data, at + 24), None, {}
        words = []
        for entry in range(slots):
            begin = at + 64 * entry + (16 if entry else 24)
            words += struct.unpack_from("<6Q" if entry else "<5Q", self.data, begin)
        last = flags >> 4 & 7
        expect(last <= (6 if slots > 1 else 5), "words of the last entry")
        words = words[:len(words) - (6 if slots > 1 else 5) + last]
        backtrace = None
        if flags & 1:
            expect(words and words[0] < len(words), "return addresses")
            words, backtrace = words[1 + words[0]:], words[1:1 + words[0]]
        interned = {}
        if flags & 4:
            expect(words and words[0], "which words are interned texts")
            which, *words = words
            interned = {i: self.interned_text(word) for i, word in enumerate(words) if which >> i & 1}
        return words, backtrace, interned


SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


def laid_out(kinds, words, interned):
    """The values of a fixed part, with the data behind it, each with whether it was cut. They end with the words."""
    data = b"".join(struct.pack("<Q", word) for word in words)
    at, behind = 0, 8 * sum(2 if kind == "f80" else 1 for kind in kinds)
    for kind in kinds:
        end = at + (2 if kind == "f80" else 1)
        if end > len(words):
            return
        word, raw = words[at], struct.pack("<Q", words[at])
        at = end
        if at - 1 in interned:
            expect(kind == "istr", "an interned text that is an istr")
            yield interned[at - 1].decode(errors="replace"), False
            continue
        if kind in ("text", "str", "wstr", "istr") or kind.endswith("[]"):
            size = SIZES[kind[1:-2]] if kind.endswith("[]") else 1
            if word >> 62 & 1:
                yield None, False
                continue
            length = (word & 0xFFFFFFFF) * size
            expect(behind + length <= len(data), "data inside of the payload")
            found, cut = data[behind:behind + length], word >> 63
            behind += length + -length % 8
            if size > 1 or kind.endswith("[]"):
                form = {"i": "bhiq", "u": "BHIQ", "f": "??fd"}[kind[0]][size.bit_length() - 1]
                elements = list(struct.unpack(f"<{length // size}{form}", found))
                yield (list(map(short, elements)) if form == "f" else elements) + ["…"] * cut, cut == 1
            else:
                yield found.decode(errors="replace") + "…" * cut, cut == 1
        elif kind == "f80":
            yield LongDouble(data[8 * at - 16:8 * at]), False
        elif kind in ("f32", "f64"):
            yield short(struct.unpack_from("<f", raw)[0]) if kind == "f32" else struct.unpack("<d", raw)[0], False
        elif kind in ("i8", "i16", "i32", "u8", "u16", "u32"):
            yield int.from_bytes(raw[:SIZES[kind[1:]]], "little", signed=kind[0] == "i"), False
        elif kind in ("u64", "hex", "ptr", "bytes"):
            yield word, False
        elif kind == "char":
            point = word & 0xFFFFFFFF
            is_character = point < 0xD800 or 0xE000 <= point < 0x110000
            yield chr(point) if is_character else f"\\x{word & 0xFF:02x}", False
        elif kind == "bool":
            yield word != 0, False
        elif kind != "none":
            yield struct.unpack("<q", raw)[0], False


def short(number):
    """An f32, with as few digits as make the same f32."""
    for digits in range(1, 10) if math.isfinite(number) else ():
        fewer = float(f"{number:.{digits}g}")
        if abs(fewer) <= 3.4028235e38 and struct.unpack("<f", struct.pack("<f", fewer))[0] == number:
            return fewer
    return number


class LongDouble:
    """80 bits: a sign, 15 bits of exponent, and a significand whose highest bit is the integer."""

    def __init__(self, data):
        self.significand, upper = struct.unpack_from("<QH", data)
        self.sign, self.exponent = "-" if upper >> 15 else "", upper & 0x7FFF

    def exact(self):
        """The number, with as many digits as it needs."""
        if self.exponent == 0x7FFF:
            return decimal.Decimal(self.sign + ("nan" if self.significand & (1 << 63) - 1 else "inf"))
        power = max(self.exponent, 1) - 16383 - 63
        scaled = self.significand << power if power > 0 else self.significand * 5 ** -power
        with decimal.localcontext() as context:
            context.prec, context.Emin, context.Emax = 20000, -99999, 99999
            return decimal.Decimal(f"{self.sign}{decimal.Decimal(scaled)}").scaleb(min(power, 0))

    def general(self):
        """As `%.21Lg` writes it."""
        exact = self.exact()
        if not exact.is_finite():
            return str(exact).lower().replace("infinity", "inf")
        rounded = decimal.Context(prec=21, Emin=-99999, Emax=99999).plus(exact) if exact else exact
        place = rounded.adjusted() if exact else 0
        digits = "".join(map(str, rounded.as_tuple().digits)).rstrip("0") or "0"
        if -4 <= place < 21:
            digits = "0" * -place + digits
            whole, rest = digits[:max(place, 0) + 1].ljust(place + 1, "0"), digits[max(place, 0) + 1:]
            return self.sign + whole + ("." + rest if rest else "")
        return f"{self.sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{place:+03}"

    def __float__(self):
        return float(self.exact())


def conversions(format_):
    """Which values printf takes for a format."""
    kinds = []
    found = re.findall(r"%[-+ #0']*(?:\d+|(\*))?(?:\.(?:\d+|(\*))?)?(hh|h|ll|l|j|z|t|L)?([a-zA-Z%])", format_)
    for width, precision, length, letter in found:
        long = length in ("l", "ll", "j", "z", "t")
        if letter == "%":
            continue
        kinds += ["i32" for star in (width, precision) if star]
        if letter in "di":
            kinds.append("i64" if long else "i32")
        elif letter in "uoxX":
            kinds.append("u64" if long else "u32")
        elif letter == "c" and not long:
            kinds.append("i32")
        elif letter in "cC":
            kinds.append("u32")
        elif letter in "fFeEgGaA":
            kinds.append("f80" if length == "L" else "f64")
        else:
            kinds.append({"s": "text", "S": "text", "p": "u64", "n": "none"}[letter])
    return kinds


def printf(format_, values):
    """What printf writes, as far as Python formats alike: no %a, no flags of unsigned hexadecimal, a long double as a
    double."""
    format_ = re.sub(r"(%[-+ #0]*[\d*]*(?:\.[\d*]*)?)(?:hh|h|ll|l|j|z|t)?([a-zA-Z])", r"\1\2", format_)
    values = [("(null)" if value is None else value) for value in values]
    conversions = re.findall(r"%[-+ #0]*(?:\d+|(\*))?(?:\.(?:\d+|(\*))?)?([a-zA-Z%])", format_)
    shown, values = [], iter(values)
    for width, precision, conversion in conversions:
        if conversion == "%":
            continue
        shown += [next(values) for star in (width, precision) if star]
        value = next(values)
        if conversion == "p":
            value = f"{value:#x}" if value else "(nil)"
        shown.append(value)
    return format_.replace("%p", "%s") % tuple(shown)


TYPE = r"(?:enum|flags)\([^)]*\)|[A-Za-z][A-Za-z0-9]*(?:\[\])?"


def pieces(message):
    """The first line as (text, None), or (name, type)."""
    line = re.split("[\n\r]", message)[0]
    at = 0
    for found in re.finditer(rf"\$([A-Za-z0-9_]+)(?::({TYPE}))?", line):
        yield line[at:found.start()], None
        yield found[1], found[2] or "i64"
        at = found.end()
    yield line[at:], None


def names(message):
    return [text for text, kind in pieces(message) if kind]


def unique(given):
    """Names of which each that comes again has a number behind it that no other name has."""
    found = []
    for name in given:
        number = 1
        candidate = name
        while candidate in found or (number > 1 and candidate in given):
            number += 1
            candidate = f"{name}_{number}"
        found.append(candidate)
    return found


def types(message):
    return [kind for _, kind in pieces(message) if kind]


def labels(kind):
    """The names of an enum or of flags, with their numbers."""
    pairs = [label.split("=") for label in kind[kind.index("(") + 1:-1].split(",")]
    return [(name.strip(), int(number, 0)) for name, number in pairs]


def typed(kind, value):
    """The value of a field, with names for numbers."""
    if kind.startswith("enum("):
        return next((name for name, number in labels(kind) if number == value), value)
    if kind.startswith("flags("):
        bits = value & 0xFFFFFFFFFFFFFFFF
        names = [(name, number & 0xFFFFFFFFFFFFFFFF) for name, number in labels(kind)]
        found = [(name, number) for name, number in names if number and bits & number == number]
        for _, number in found:
            bits &= ~number
        return [name for name, _ in found] + ([bits] if bits else [])
    return value


def plain(value):
    """A value in JSON, which has no infinite numbers, and of whose readers many round those beyond 2^53."""
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, LongDouble):
        return value.general()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else str(value)
    if isinstance(value, int) and abs(value) > 1 << 53:
        return str(value)
    return value


def shown(kind, value):
    """The value of a field as text, for the types that Python shows alike."""
    value = typed(kind, value)
    if kind in ("hex", "ptr"):
        return f"{value:#x}"
    if kind == "bool":
        return "true" if value else "false"
    if kind.startswith("flags("):
        return "|".join(hex(bit) if isinstance(bit, int) else bit for bit in value) or "0"
    return "(null)" if value is None else str(plain(value))


def render(message, values):
    """An argument without a value is a question mark."""
    values, text = iter(values), ""
    for piece, kind in pieces(message):
        value = next(values, values) if kind else None
        text += piece if not kind else f"{piece}({'?' if value is values else shown(kind, value)})"
    return text


def rfc3339(nanos):
    second = datetime.datetime.fromtimestamp(nanos // 10**9, datetime.timezone.utc)
    return second.strftime("%Y-%m-%dT%H:%M:%S") + f".{nanos % 10**9:09}Z"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_timeline.py FILE")
    with open(sys.argv[1], "rb") as file:
        timeline = Timeline(file.read())
    for events, is_important in ((timeline.important(), True), (timeline.events(), False)):
        for number, (key, at, missed) in enumerate(events):
            older = events[number + 1][0][0] if number + 1 < len(events) else None
            cycles = None if older is None else key[0] - older
            print(json.dumps(timeline.line(at, cycles, missed, is_important), ensure_ascii=False))


if __name__ == "__main__":
    try:
        main()
    except Invalid as error:
        sys.exit(f"read_timeline: expected {error}")
