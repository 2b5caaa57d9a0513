"""What an answer must be: typed, plain JSON, clean text, with evidence, and no number that cannot be.

Each flaw has a kind, which with the place of a failure makes its signature.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from jsonschema import Draft202012Validator

from fuzz import doors, figures
from fuzz.figures import is_number

TOLERANCE_OF_SUMS = 1e-6  # sums of floats
SAVING_TOLERANCE_US = 0.51  # kernel_ms is rounded to three decimals, half a microsecond
LARGEST_WHOLE = 2**63  # SQLite's, and what no counter of a report can pass
LONGEST_SENTENCE = 2500  # of a refusal; ours are one or two sentences and a list of names
OF_GAPS = (4, 5)  # steps whose savings come out of the wall time, not out of the kernels
UNCLEAN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
NOT_A_FIGURE = re.compile(
    r"(?<![\w=(-])-?(nan|inf)( ?%| (us|ms|ns|s|GHz|GB|MB|kB|B|of|x)\b)|\b\d(\.\d+)?e\+?[2-9]\d\b"
)
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
    off = next(_validator(tool).iter_errors(answer), None)
    if off:
        found.append(Flaw("off schema", f"{tool}.{_path(off.absolute_path)}", off.message[:200]))
    else:
        found += [Flaw("saving above the window", where, told) for where, told in _above(tool, answer)]
    found += _walk(answer, tool, tool)
    if tool != "query_run":  # a user's SQL names its columns as it likes
        found += _figures(answer, tool)
    if tool == "optimization_check":
        found += _savings(answer)
    return list(dict.fromkeys(found))


def page_flaws(tool, text):
    """What is wrong with a page that is sent as plain text."""
    return list(_walk({"text": text}, tool, tool))


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
    return value if is_number(value) else 0


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
        if NOT_A_FIGURE.search(value) and tool not in WITH_LINES and ".attributes." not in where:  # a cell's text
            yield Flaw("no number in a sentence", where, ascii(value)[:200])
    elif is_number(value) and not _sensible(value, tool):
        yield Flaw("absurd number", where, str(value)[:60])


def _walk_fields(value, where, tool):
    for name, inside in value.items():
        if name == "evidence" and not inside:
            yield Flaw("no evidence", where)
        if unclean(name):
            yield Flaw("unclean text", where, ascii(name)[:200])
        yield from _walk(inside, f"{where}.{name}", tool)


def _sensible(value, tool):
    """Finite, and no counter's overflow; query_run returns what a cell holds."""
    return (isinstance(value, int) or math.isfinite(value)) and (abs(value) < LARGEST_WHOLE or tool == "query_run")


def _figures(answer, tool):
    """Figures that cannot be what their names say, in fields and in tables."""
    for where, record in figures.records(answer, tool):
        for name, value in record.items():
            for kind, figure in figures.wrong_of(name, value):
                yield Flaw(kind, f"{where}.{name}", str(figure)[:60])
        for name in figures.crossed(record):
            yield Flaw("bounds crossed", f"{where}.{name}", str(record)[:200])


def _above(tool, answer):
    """What an answer would save, or calls a floor, that is more than the time it speaks of."""
    if tool == "tensor_formats":
        candidates = answer.get("candidates", {"columns": (), "rows": ()})
        for row in candidates["rows"]:
            candidate = dict(zip(candidates["columns"], row, strict=True))
            most = candidate["at_most_us"]
            if most > answer["kernel_us"] + SAVING_TOLERANCE_US:
                yield f"{tool}.{candidate['check']}", f"{most} of {answer['kernel_us']} us"
    if tool == "host_overhead" and answer.get("trace_saving_ms"):
        most = answer["trace_saving_ms"]["at_most"]
        if most > answer["wall_ms"] + SAVING_TOLERANCE_US / 1000:
            yield f"{tool}.trace_saving_ms", f"{most} of {answer['wall_ms']} ms"
    if tool == "time_budget" and "ledger" in answer:
        ledger, window_us = answer["ledger"], answer["window_us"]
        spent = sum(row[ledger["columns"].index("time_us")] for row in ledger["rows"])
        if abs(spent - window_us) > SAVING_TOLERANCE_US + TOLERANCE_OF_SUMS * window_us:
            yield f"{tool}.ledger", f"adds up to {spent} of {window_us} us"


def _savings(answer):
    kernels_us = _number(answer.get("kernel_ms")) * 1000
    window_us = max(
        kernels_us, _number(answer.get("total", {}).get("before_us"))
    )  # an op that goes takes its gap along
    for finding in answer.get("findings", ()):
        saving = finding.get("saving_us", {})
        least, most = _number(saving.get("at_least")), _number(saving.get("at_most"))
        if not 0 <= least <= most:
            yield Flaw("saving bounds", finding["check"], f"{least} .. {most}")
        if finding["step"] not in OF_GAPS and most > window_us + SAVING_TOLERANCE_US:
            yield Flaw("saving above the window", finding["check"], f"{most} of {window_us}")
        if not finding.get("evidence"):
            yield Flaw("no evidence", finding["check"])
