"""As much of the protobuf wire format as a trace needs: numbers, texts, and messages inside messages."""

from __future__ import annotations

import struct

VARINT, DOUBLE, BYTES = 0, 1, 2  # wire types: developers.google.com/protocol-buffers, "Encoding"


def varint(value: int) -> bytes:
    """A whole number, seven bits a byte; a negative one as its 64-bit complement."""
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def whole(field: int, value: int) -> bytes:
    """A field that holds a whole number, a truth value or an enum."""
    return _key(field, VARINT) + varint(value)


def double(field: int, value: float) -> bytes:
    """A field that holds a number with a fraction."""
    return _key(field, DOUBLE) + struct.pack("<d", value)


def message(field: int, *parts: bytes) -> bytes:
    """A field that holds a message, or bytes."""
    inside = b"".join(parts)
    return _key(field, BYTES) + varint(len(inside)) + inside


def text(field: int, value: str) -> bytes:
    """A field that holds a text."""
    return message(field, value.encode(errors="replace"))


def _key(field: int, wire_type: int) -> bytes:
    """What stands before a field's value."""
    return varint(field << 3 | wire_type)
