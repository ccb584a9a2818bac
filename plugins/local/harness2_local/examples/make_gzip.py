"""Compresses like gzip, to the same bytes on every machine: what two zlibs make is alike, but not to the byte.

One block of deflate (RFC 1951) with the fixed codes, the longest of the last repetitions taken each time; around it the
header and trailer of gzip (RFC 1952), without a name or a time.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence

_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255))
_SHORTEST, _LONGEST = 3, 257
"""Bytes of a repetition; 258 would have a code of its own."""
_WINDOW = 32_768
_TRIED = 64
"""Earlier places that are looked at for one repetition."""


def gzipped(data: bytes) -> bytes:
    return _HEADER + _deflated(data) + struct.pack("<II", zlib.crc32(data), len(data))


def _deflated(data: bytes) -> bytes:
    out = _Bits()
    out.put(0b011, 3)  # the last block, with the fixed codes
    places: dict[bytes, list[int]] = {}
    at = 0
    while at < len(data):
        length, distance = _repetition(data, at, places.get(data[at : at + _SHORTEST], ()))
        if length:
            _put_stepped(out, _LENGTHS, length, lambda code: out.symbol(257 + code))
            _put_stepped(out, _DISTANCES, distance, lambda code: out.code(code, 5))
        else:
            out.symbol(data[at])
        for place in range(at, at + (length or 1)):
            places.setdefault(data[place : place + _SHORTEST], []).append(place)
        at += length or 1
    out.symbol(256)
    return out.whole()


def _repetition(data: bytes, at: int, places: Sequence[int]) -> tuple[int, int]:
    """(length, distance) of the longest one, the nearest of equals; (0, 0) when there is none."""
    best = (0, 0)
    for place in reversed(places[-_TRIED:]):
        length = 0
        while length < _LONGEST and at + length < len(data) and data[place + length] == data[at + length]:
            length += 1
        if length >= _SHORTEST and length > best[0] and at - place <= _WINDOW:
            best = (length, at - place)
    return best


class _Bits:
    """Bits from the lowest of each byte on."""

    def __init__(self) -> None:
        self._value = 0
        self._count = 0

    def put(self, value: int, bits: int) -> None:
        self._value |= value << self._count
        self._count += bits

    def code(self, code: int, bits: int) -> None:
        """Huffman codes come with their highest bit first."""
        self.put(int(f"{code:0{bits}b}"[::-1], 2), bits)

    def symbol(self, symbol: int) -> None:
        """A byte, the end of the block (256), or a length (from 257 on), by the fixed codes."""
        if symbol < 144:
            self.code(0x30 + symbol, 8)
        elif symbol < 256:
            self.code(0x190 + symbol - 144, 9)
        elif symbol < 280:
            self.code(symbol - 256, 7)
        else:
            self.code(0xC0 + symbol - 280, 8)

    def whole(self) -> bytes:
        return self._value.to_bytes((self._count + 7) // 8, "little")


def _steps(first: int, extra: Sequence[int]) -> list[tuple[int, int]]:
    """(least value, bits that follow) of each code."""
    found = []
    for bits in extra:
        found.append((first, bits))
        first += 1 << bits
    return found


_LENGTHS = _steps(3, [0] * 8 + [bits for bits in range(1, 6) for _ in range(4)])
_DISTANCES = _steps(1, [0] * 2 + [bits for bits in range(14) for _ in range(2)])


def _put_stepped(out: _Bits, steps: Sequence[tuple[int, int]], value: int, put_code: Callable[[int], None]) -> None:
    code = max(index for index, (least, _) in enumerate(steps) if least <= value)
    least, bits = steps[code]
    put_code(code)
    out.put(value - least, bits)
