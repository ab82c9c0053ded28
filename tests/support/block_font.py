"""A font whose characters are equal boxes: pictures of pages look alike on every machine."""

import struct

_EM, _ADVANCE, _ASCENT, _DESCENT = 1000, 550, 900, -250
_BOX, _BLANK = 1, 2
_FIRST, _LAST = 0x21, 0x10FFFF


def block_font() -> bytes:
    """A TrueType font (OpenType 1.9): the space is blank, all else a box half an em high."""
    box = _glyph(60, 0, 490, 500)
    glyphs = (box, box, b"")
    offsets = [0, len(box), 2 * len(box), 2 * len(box)]
    tables = {
        b"OS/2": _os2(), b"cmap": _cmap(), b"glyf": b"".join(glyphs), b"head": _head(),
        b"hhea": _hhea(len(glyphs)), b"hmtx": struct.pack(">Hh", _ADVANCE, 60) * len(glyphs),
        b"loca": struct.pack(">4I", *offsets), b"maxp": struct.pack(
            ">I14H", 0x00010000, len(glyphs), 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0
        ), b"name": _name("Block"),
        b"post": struct.pack(">IIhhIIIII", 0x00030000, 0, -100, 50, 1, 0, 0, 0, 0),
    }  # fmt: skip
    return _file(tables)


def _glyph(left: int, low: int, right: int, high: int) -> bytes:
    """A rectangle, padded to four bytes."""
    head = struct.pack(">hhhhhHH", 1, left, low, right, high, 3, 0)
    across = struct.pack(">hhhh", left, 0, right - left, 0)
    up = struct.pack(">hhhh", low, high - low, 0, low - high)
    return _padded(head + b"\x01" * 4 + across + up)


def _head() -> bytes:
    return struct.pack(
        ">IIIIHHqqhhhhHHhhh",
        0x00010000, 0x00010000, 0, 0x5F0F3CF5, 0x000B, _EM, 0, 0, 0, 0, _ADVANCE, _ASCENT,
        0, 8, 2, 1, 0,
    )  # fmt: skip


def _hhea(n_glyphs: int) -> bytes:
    return struct.pack(
        ">IhhhHhhhhhhhhhhhH",
        0x00010000, _ASCENT, _DESCENT, 0, _ADVANCE, 0, 0, _ADVANCE, 1, 0, 0, 0, 0, 0, 0, 0,
        n_glyphs,
    )  # fmt: skip


def _cmap() -> bytes:
    """Format 13, in which a range of characters has one glyph."""
    groups = ((0x20, 0x20, _BLANK), (_FIRST, 0x9F, _BOX), (0xA0, 0xA0, _BLANK), (0xA1, _LAST, _BOX))
    body = b"".join(struct.pack(">III", *group) for group in groups)
    table = struct.pack(">HHIII", 13, 0, 16 + len(body), 0, len(groups)) + body
    return struct.pack(">HHHHI", 0, 1, 3, 10, 12) + table


def _os2() -> bytes:
    return struct.pack(
        ">HhHHHhhhhhhhhhhh10sIIII4sHHHhhhHHIIhhHHH",
        4, _ADVANCE, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0, bytes(10),
        1, 0, 0, 0, b"TEST", 0x40, 0x20, 0xFFFF, _ASCENT, _DESCENT, 0, _ASCENT, -_DESCENT,
        1, 0, 500, 500, 0, 0x20, 0,
    )  # fmt: skip


def _name(family: str) -> bytes:
    """Family, style, full name and PostScript name."""
    texts = [(1, family), (2, "Regular"), (4, family), (6, family)]
    records, strings = b"", b""
    for kind, text in texts:
        coded = text.encode("utf-16-be")
        records += struct.pack(">HHHHHH", 3, 1, 0x409, kind, len(coded), len(strings))
        strings += coded
    return struct.pack(">HHH", 0, len(texts), 6 + len(records)) + records + strings


def _file(tables: dict[bytes, bytes]) -> bytes:
    n = len(tables)
    power = n.bit_length() - 1
    head = struct.pack(">IHHHH", 0x00010000, n, 16 << power, power, 16 * n - (16 << power))
    at, entries, bodies = 12 + 16 * n, b"", b""
    for tag, body in tables.items():
        entries += struct.pack(">4sIII", tag, _checksum(body), at + len(bodies), len(body))
        bodies += _padded(body)
    return head + entries + bodies


def _padded(body: bytes) -> bytes:
    return body + bytes(-len(body) % 4)


def _checksum(body: bytes) -> int:
    words = struct.unpack(f">{len(_padded(body)) // 4}I", _padded(body))
    return sum(words) & 0xFFFFFFFF
