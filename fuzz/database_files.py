"""What can happen to a database's file, and what can lie beside it."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress


def mutate(rng, path):
    """One change of the file at `path`; its name."""
    mutation = rng.choice(_OF_FILES)
    mutation(rng, path)
    return mutation.__name__.strip("_")


def _page_flags(rng, path):
    """Bytes of the header: format versions, page size, text encoding, counters."""
    content = bytearray(path.read_bytes())
    if len(content) > 100:
        for _ in range(rng.choice((1, 2))):
            content[rng.choice((16, 17, 18, 19, 20, 21, 24, 28, 31, 36, 44, 52, 56, 59, 60, 92, 96))] = (
                rng.randrange(256)
            )
    path.write_bytes(content)


def _flip(rng, path):
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 5, 50))):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)


def _cut(rng, path):
    content = path.read_bytes()
    path.write_bytes(content[: rng.choice((0, 1, 16, 100, 4096, rng.randrange(len(content))))])


def _tail(rng, path):
    path.write_bytes(path.read_bytes() + rng.choice((b"\x00" * 4096, b"x", b"\xff" * 10_000)))


def _utf16(_rng, path):
    """The same rows in a database whose texts are UTF-16."""
    other = path.with_suffix(".other")
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(other)) as new, suppress(sqlite3.Error):
        new.execute("PRAGMA encoding = 'UTF-16le'")
        new.executescript("\n".join(old.iterdump()))
        new.commit()
    other.replace(path)


def beside(rng, path):
    """Files that a crashed or copied writer leaves, and settings that are none."""
    name = rng.choice(
        (
            "db.sqlite-wal",
            "db.sqlite-shm",
            "db.sqlite-journal",
            "config.json",
            "cluster_descriptor.yaml",
            "wal mode",
        )
    )
    if name == "wal mode":
        content = bytearray(path.read_bytes())
        content[18:20] = b"\x02\x02"
        path.write_bytes(content)
        return
    beside = path.with_name(name)
    content = beside.read_bytes() if beside.exists() else b""
    junk = (
        b"", b"x", b"\x00" * 512, b"\x37\x7f\x06\x82" + b"\x00" * 60, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\x00" * 504,
        b"\xff" * 5000, b"[" * 100_000, b'{"report_name": 5}', b'{"report_name": "\\ud800\\u202e"}', b"{" + b"a: " * 5000,
        b"arch:\n  0: nosuch\n", b"arch:\n  0: [\nchip_to_boardtype:\n  0: " + b"x" * 90_000, content[: len(content) // 2],
        b'{"report_name": "' + b"n" * 5000 + b'"}', b"\xff\xfe{\x00}\x00", b"null", b"1e999",
    )  # fmt: skip
    beside.write_bytes(rng.choice(junk))


_OF_FILES = (_page_flags, _flip, _cut, _tail, _utf16)
