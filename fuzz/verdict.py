"""What an answer must be: typed, plain JSON, clean text, with evidence, and no number that cannot be.

Each flaw has a kind, which with the place of a failure makes its signature.
"""

from __future__ import annotations

import json
import math
import unicodedata
from dataclasses import dataclass
from functools import cache

from jsonschema import Draft202012Validator

from fuzz import doors

SHARE_TOLERANCE = 1e-4  # shares are rounded to four decimals
SAVING_TOLERANCE_US = 0.51  # kernel_ms is rounded to three decimals, half a microsecond
LARGEST_WHOLE = 2**63  # SQLite's, and what no counter of a report can pass
LONGEST_SENTENCE = 2500  # of a refusal; ours are one or two sentences and a list of names
MOVES_FREELY = {
    "change_share",
    "gain_share",
    "noise_share",
    "min_share",
}  # ratios between two runs, no parts of a whole
PARTS = {"share", "busy", "efficiency", "waste"}
NEVER_NEGATIVE = {"kernel_us", "kernel_ms", "kernel_ns", "count", "ops", "bytes", "wall_ms"}
OF_GAPS = (4, 5)  # steps whose savings come out of the wall time, not out of the kernels
UNCLEAN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
WITH_LINES = {"skill_step", "query_run"}  # pages are Markdown; a cell may be a stack trace


@dataclass(frozen=True)
class Flaw:
    """Why an outcome fails; `where` names the field or the function."""

    kind: str
    where: str
    detail: str = ""


@cache
def _validator(tool):
    return Draft202012Validator(doors.tools()[tool][1])


def flaws(tool, text):
    """What is wrong with the answer `text` of a tool."""
    try:
        answer = json.loads(text, parse_constant=_not_json)
        text.encode()
    except (ValueError, UnicodeError, RecursionError) as wrong:
        return [Flaw("not JSON", tool, str(wrong)[:200])]
    found = []
    if len(text.encode()) > doors.largest_answer():
        found.append(Flaw("too large", tool, f"{len(text)} characters"))
    for error in _validator(tool).iter_errors(answer):
        found.append(Flaw("off schema", f"{tool}.{_path(error.absolute_path)}", error.message[:200]))
        break
    found += _walk(answer, tool, tool)
    if tool == "optimization_check":
        found += _savings(answer)
    return list(dict.fromkeys(found))


def sentence_flaws(tool, sentence):
    """What is wrong with a refusal."""
    if doors.BUG in sentence:
        return [Flaw("unforeseen", tool, sentence[:200])]
    if not sentence.strip():
        return [Flaw("empty refusal", tool)]
    if len(sentence) > LONGEST_SENTENCE:
        return [Flaw("long refusal", tool, f"{len(sentence)} characters: {sentence[:160]!r}")]
    return [Flaw("unclean refusal", tool, ascii(sentence)[:300])] if unclean(sentence) else []


def gap_savings(check, host):
    """Savings of the steps about gaps, against the wall time that host_overhead tells of the same window."""
    wall = host.get("wall_ms")
    if wall is None or check.get("window") != host.get("window"):
        return []
    over = [
        one["check"]
        for one in check.get("findings", ())
        if one["step"] in OF_GAPS and _number(one["saving_us"]["at_most"]) > wall * 1000 + SAVING_TOLERANCE_US
    ]
    return [Flaw("saving above the window", name, f"wall {wall} ms") for name in over]


def unclean(text, *, lines=False):
    """Control characters, bidi marks, zero widths, surrogates, line separators."""
    return not text.isprintable() and any(
        unicodedata.category(char) in UNCLEAN and not (lines and char in "\n\t") for char in text
    )


def _not_json(constant):
    raise ValueError(f"{constant} is no JSON")


def _number(value):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


def _path(parts):
    return ".".join("[]" if isinstance(part, int) else part for part in parts)


def _walk(value, where, tool):
    if isinstance(value, dict):
        yield from _walk_fields(value, where, tool)
    elif isinstance(value, list):
        for inside in value:
            yield from _walk(inside, where, tool)
    elif isinstance(value, str):
        if unclean(value, lines=tool in WITH_LINES):
            yield Flaw("unclean text", where, ascii(value)[:200])
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and not _sensible(value, tool):
        yield Flaw("absurd number", where, str(value)[:60])


def _walk_fields(value, where, tool):
    if set(value) >= {"columns", "rows"} and tool != "query_run":  # a user's SQL names its columns as it likes
        for row in value["rows"]:
            for name, cell in zip(value["columns"], row, strict=False):
                yield from _named(name, cell, f"{where}.{name}")
    for name, inside in value.items():
        if name == "evidence" and not inside:
            yield Flaw("no evidence", where)
        if unclean(name):
            yield Flaw("unclean text", where, ascii(name)[:200])
        yield from _named(name, inside, f"{where}.{name}")
        yield from _walk(inside, f"{where}.{name}", tool)


def _sensible(value, tool):
    """Finite, and no counter's overflow; query_run returns what a cell holds."""
    return (isinstance(value, int) or math.isfinite(value)) and (abs(value) < LARGEST_WHOLE or tool == "query_run")


def _named(name, value, where):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return
    is_part = (name in PARTS or name.endswith("_share")) and name not in MOVES_FREELY
    if is_part and not -SHARE_TOLERANCE <= value <= 1 + SHARE_TOLERANCE:
        yield Flaw("share", where, str(value))
    if name in NEVER_NEGATIVE and value < 0:
        yield Flaw("negative", where, str(value))


def _savings(answer):
    window_us = _number(answer.get("kernel_ms")) * 1000
    for finding in answer.get("findings", ()):
        saving = finding.get("saving_us", {})
        least, most = _number(saving.get("at_least")), _number(saving.get("at_most"))
        if not 0 <= least <= most:
            yield Flaw("saving bounds", finding["check"], f"{least} .. {most}")
        if finding["step"] not in OF_GAPS and most > window_us + SAVING_TOLERANCE_US:
            yield Flaw("saving above the window", finding["check"], f"{most} of {window_us}")
        if not finding.get("evidence"):
            yield Flaw("no evidence", finding["check"])
