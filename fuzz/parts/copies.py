"""Copies of large reports in the state folder, damaged: the answer stays what the report says."""

from __future__ import annotations

from fuzz import doors
from fuzz.sources import COLD_AND_WARM
from fuzz.verdict import Flaw
from tests.profiles import CSV_GENERATIONS, write_performance_report
from tests.programs import block

FOREIGN = (b"", b"\0" * 5000, b"SQLite format 3\0", b"PK\x03\x04", b"ttnn-mcp kept 1\n" + b"\xff" * 48)


def run(sitting):
    """Damages until the time is up, one copy each."""
    reports = [
        write_performance_report(sitting.folder / generation, block(), COLD_AND_WARM, generation=generation)
        for generation in CSV_GENERATIONS
    ]
    truths = [doors.columns_of(path, None) for path in reports]
    for number in sitting.numbers():
        rng = sitting.random(number)
        place = rng.randrange(len(reports))
        folder = sitting.folder / f"copies-{number % 20}"
        doors.columns_of(reports[place], folder)
        for copy in folder.iterdir():
            copy.write_bytes(damaged(rng, copy.read_bytes()))
        sitting.count("answer", flaws_of(reports[place], folder, truths[place]), "open_run")


def flaws_of(report, folder, truth):
    """What is wrong with the report as it is read beside a damaged copy, and then from the one written anew."""
    try:
        told = [doors.columns_of(report, folder), doors.columns_of(report, folder)]
    except Exception as error:  # noqa: BLE001 - no damage may raise
        return [Flaw("a copy raised", "open_run", ascii(error)[:200])]
    return [] if told == [truth, truth] else [Flaw("another report from a copy", "open_run")]


def damaged(rng, contents):
    """The bytes of a copy with one thing wrong."""
    if not contents:  # an earlier damage cut it to nothing
        return rng.choice(FOREIGN)
    kind = rng.choice(("bits", "cut", "more", "swapped", "foreign", "zeros"))
    at = rng.randrange(len(contents))
    to = min(len(contents), at + rng.choice((1, 8, 500)))
    if kind == "bits":
        changed = bytearray(contents)
        for _ in range(rng.choice((1, 2, 50))):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if kind == "cut":
        return contents[:at] + (contents[to:] if rng.random() < 0.5 else b"")
    if kind == "more":
        return contents[:to] + contents[at:]
    if kind == "swapped":
        return contents[at:] + contents[:at]
    return rng.choice(FOREIGN) if kind == "foreign" else contents[:at] + bytes(to - at) + contents[to:]
