#!/usr/bin/env python3
"""Searches an index by docs/index.md alone: for each line of standard input, a text to find, prints the ranges of lines of
the pages that may have it, as `0-511 1024-1535`. Needs nothing but Python.
"""

import re
import struct
import sys
import zlib

ALPHABETS = {"letter": b"abcdefghijklmnopqrstuvwxyz", "digit": b"0123456789",
             "word": b"abcdefghijklmnopqrstuvwxyz0123456789"}


class Numbers:
    """Numbers and bytes, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]


def checked(data, position, length, checksum):
    part = data[position:position + length]
    if len(part) < length or zlib.crc32(part) != checksum:
        raise SystemExit(f"the checksum at {position} is wrong")
    return part


def kind(byte):
    if 0x61 <= byte <= 0x7A:
        return "letter"
    if 0x30 <= byte <= 0x39:
        return "digit"
    return {0x20: "space", 0x09: "space", 0x0A: "break"}.get(byte, "other")


def fold(text):
    text = text.replace("\u017f".encode(), b"s").replace("\u212a".encode(), b"k")
    return re.sub(rb"[A-Z]", lambda letter: letter[0].lower(), text)


def runs(text, of):
    """The runs of bytes of one class: where each begins and ends, and its class."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or of(text[at]) != of(text[start]):
            yield start, at, of(text[start])
            start = at


def pack(part):
    return int.from_bytes(part.ljust(4, b"\0"), "big")


def pair(first, second):
    both = (first << 32 | second) * 0x9E3779B97F4A7C15 % 2**64
    return 0xFF000000 | both >> 46


def aligned(part, ends, what):
    """What a page has with these bytes where an ngram begins: ranges of ngrams, of each at least one."""
    ngrams = [part[at:at + 4] for at in range(0, len(part), 4)]
    wanted = []
    for ngram in ngrams:
        if len(ngram) == 4 or ends:
            wanted.append([(pack(ngram), pack(ngram))])
        elif len(ngram) == 3:
            wanted.append([(pack(ngram), pack(ngram) | 0xFF)])
    if what == "digit":
        whole = [pack(ngram) for ngram in ngrams if len(ngram) == 4]
        wanted += [[(pair(a, b), pair(a, b))] for a, b in zip(whole, whole[1:])]
    return wanted


def of_token(part, begins, ends, what):
    """Alternatives, each a list of what a page has."""
    tail = [[(pack(part[-4:]), pack(part[-4:]))]] if ends and len(part) >= 4 else []
    if begins:
        return [aligned(part, ends, what) + tail]
    alternatives = []
    for skipped in range(4):
        wanted = aligned(part[skipped:], ends, what) if skipped <= len(part) else []
        if skipped == 3 and len(part) >= 3 and what in ALPHABETS:
            firsts = [pack(bytes([byte]) + part[:3]) for byte in ALPHABETS[what]]
            wanted = wanted + [[(ngram, ngram) for ngram in firsts]]
        alternatives.append(wanted + tail)
    return alternatives


def requirements(text):
    """Of each token and word of a text the alternatives."""
    text, all_of = fold(text), []
    for start, end, what in runs(text, kind):
        all_of.append(of_token(text[start:end], start > 0, end < len(text), what))
    in_word = lambda byte: kind(byte) in ("letter", "digit")
    for start, end, is_word in runs(text, in_word):
        if is_word and {kind(byte) for byte in text[start:end]} == {"letter", "digit"}:
            all_of.append(of_token(text[start:end], start > 0, end < len(text), "word"))
    return all_of


def bits_of(data, stored, pages):
    """The pages of a list, of which the gaps are stored."""
    low = max(1, 69 * pages // stored // 100).bit_length() - 1
    at, found, page = 0, set(), -1
    bit = lambda: data[at >> 3] >> (at & 7) & 1
    for _ in range(stored):
        gap = 0
        while bit():
            gap, at = gap + 1, at + 1
        at += 1
        high, gap = gap, 0
        for place in range(low):
            gap |= bit() << place
            at += 1
        page += 1 + (high << low | gap)
        found.add(page)
    return found


class Segment:
    def __init__(self, data, numbers):
        position, length, leaves, checksum, self.pages = numbers[:5]
        entries = checked(data, position, leaves * 12, checksum)
        self.ngrams, at = [], position + leaves * 12
        for leaf in range(leaves):
            first, size, checksum = struct.unpack_from("<III", entries, leaf * 12)
            self.read(checked(data, at, size, checksum), first)
            at += size
        if at != position + length:
            raise SystemExit("the leaves do not end where the segment ends")
        self.ngrams.sort(key=lambda one: one[0])
        table = Numbers(checked(data, *numbers[5:8]))
        self.lines = []
        for _ in range(self.pages):
            _, events, more, _, _, _, _ = table.numbers(7)
            self.lines.append(events + more)
        if sum(self.lines) != numbers[8]:
            raise SystemExit("the pages have not all lines of their segment")

    def read(self, leaf, ngram):
        numbers = Numbers(leaf)
        while numbers.at < len(leaf):
            ngram += numbers.number()
            count, length = numbers.numbers(2)
            self.ngrams.append((ngram, self.of_list(count, numbers.take(length))))

    def of_list(self, count, data):
        everywhere = set(range(self.pages))
        if 2 * count <= self.pages:
            return bits_of(data, count, self.pages)
        others = self.pages - count
        return everywhere - (bits_of(data, others, self.pages) if others else set())

    def having(self, ranges):
        found = set()
        for first, last in ranges:
            low, high = 0, len(self.ngrams)
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if self.ngrams[middle][0] < first else (low, middle)
            while low < len(self.ngrams) and self.ngrams[low][0] <= last:
                found |= self.ngrams[low][1]
                low += 1
        return found

    def candidates(self, all_of):
        everywhere = set(range(self.pages))
        found = everywhere
        for alternatives in all_of:
            any_of = set()
            for wanted in alternatives:
                any_of |= everywhere.intersection(*map(self.having, wanted))
            found = found & any_of
        return found


def segments(data):
    if data[:16] != b"timeline index 1":
        raise SystemExit("this is no index")
    position, length, checksum = struct.unpack_from("<QII", data, len(data) - 16)
    root = Numbers(checked(data, position, length, checksum))
    root.take(root.number())
    root.numbers(2)
    root.numbers(3 * root.number())
    root.numbers(2)
    return [Segment(data, root.numbers(14)) for _ in range(root.number())]


def main():
    with open(sys.argv[1], "rb") as file:
        found = segments(file.read())
    for text in sys.stdin.buffer.read().split(b"\n"):
        all_of, first, ranges = requirements(text), 0, []
        for segment in found:
            candidates = segment.candidates(all_of)
            for page, lines in enumerate(segment.lines):
                if page in candidates and lines:
                    ranges.append(f"{first}-{first + lines - 1}")
                first += lines
        print(*ranges)


if __name__ == "__main__":
    main()
