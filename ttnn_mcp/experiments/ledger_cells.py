"""What a cell of a ledger tells: its times or rates, or its PCCs. What can be read in two ways tells nothing.

A comma in a number is one of thousands, "1,234.5". Behind a figure may stand a unit, words, "±" or brackets.
"""

from __future__ import annotations

import re

from ttnn_mcp.quoting import ABSURD

NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?"
COUNTED = (
    r"(?:t|tok|tokens?|samples?|images?|img|frames?|iterations?|iters?|it|steps?|requests?|inferences?|users?)"
)
RATE = rf"{COUNTED}(?:[_/]| / |[_ ]per[_ ])s(?:ec(?:onds?)?)?"
SMALL = "[nuµμm]s"
# of a header that ends in s only one behind such a word is a unit: "img_s" is a rate, and "op(s)" are several
TIMED = (
    r"(?:time|latency|ttft|duration|runtime|wall|elapsed|decode|prefill|trace|inference|forward|mean|median|avg"
    r"|average|min|max|best|total|e2e|p\d{2}|before|after|baseline|candidate|functional|fused|optimi[sz]ed|old|new)"
)
HEADER = re.compile(rf"(?<![a-z])(?:({SMALL})|{RATE})(?![a-z])", re.IGNORECASE)
SECONDS = re.compile(
    rf"(?<![a-z])(?:{TIMED}(?:[_ ]s|[_ ]?[(\[]s[)\]])|(?<!per[_ ])(?<!/)(?:secs?|seconds?))(?![a-z])", re.IGNORECASE
)
# where several columns tell times, one with such a unit is judged: those in seconds may tell how long a trial took
USUAL = re.compile(r"(?<![a-z])(?:[mu]s|(?:t|tok|tokens|samples)[_/]s)(?![a-z])", re.IGNORECASE)
WITHIN = re.compile(rf"(?<![a-z])(?:({SMALL}|(?<=\d)s|(?<=\d )s)|{RATE})(?![a-z])", re.IGNORECASE)
# "ms per 10 iterations", "ms_per_1k_tokens": one takes a part of it. Not of rates, which are of all users at once
SEVERAL = re.compile(
    rf"(?<![a-z/])(?<!per )(?:{SMALL}|s|secs?|seconds?)[)\]]?[ _]?\(?(?:per|/)[ _]?([0-9]+)(k?)[ _]?"
    rf"(?:{COUNTED}|runs?|replays?|passes)(?![a-z])",
    re.IGNORECASE,
)
ASIDE = re.compile(r"\([^()]*\)")
BETWEEN = re.compile(r",(?!\d)|(?<!\d),|/(?! ?(?:s|secs?|seconds?|u|users?)\b)")
RUN = re.compile(rf"{NUMBER}(?:,{NUMBER})+", re.IGNORECASE)
THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
OTHER = r"(?:x|k|m|min(?:utes?)?|h|hours?|days?|percent|times|or)\b"  # what makes the number another one
REST = rf" ?±.*| (?!{OTHER})[^\W\d_].*| ?[^\w\s.,%‰\u00d7→<>=+~-]\D*| - [^\W\d_]\D*"
FIGURE = re.compile(
    rf"({NUMBER})(?: ?(?:({SMALL}|s|secs?|seconds?)|({RATE}(?:/u(?:ser)?)?))(?![a-z]))?({REST})?", re.IGNORECASE
)
PCC = re.compile(r"(?<![\w.+-])(?:-?0?\.[0-9]+|-?1\.0[0-9]*|-1\.[0-9]+)(?![\w%]|\.\w)")
HYPHEN = re.compile(r"(?<=[0-9])(?:-|\u2013| - | \u2013 )(?=[01]?\.)")  # of a range
DEVIATION = re.compile(rf"± ?{NUMBER}", re.IGNORECASE)
AT_LEAST = re.compile("(?:>=?|≥) ?")
AGAINST = re.compile(  # one of the numbers is a limit, a change, or that of the other side
    r"[<>≤≥→]|->| [-+] ?[0-9.]"
    r"|\b(?:was|vs|from|against|below|under|threshold|target|limit|required|requires?|delta|diff|drop|loss|change)\b",
    re.IGNORECASE,
)
DIGIT = re.compile("[0-9]")
BEGUN = re.compile("[0-9.+-]")
RANGE = re.compile(r" ?(?:±|to )", re.IGNORECASE)
MS = {"n": 1e-6, "u": 1e-3, "µ": 1e-3, "μ": 1e-3, "m": 1.0, "s": 1e3}  # by the first letter
PER_SECOND = 0.0  # in place of the ms of a unit  # unmoved: a mark
BLOCKS_WITHIN = 2  # times the least, ours: replays of one candidate are nearer than that
LEAST_MS, MOST_MS = 1e-6, ABSURD * 1e-6  # a run is told in whole ns


def times_of(column: str, cell: str) -> list[float]:
    """The blocks of a cell in ms; none where it tells no time, or none clearly."""
    text = " ".join(ASIDE.sub(" ", cell.replace("+/-", "±")).split()).strip(" ,").rstrip(".; ")
    parts = _parts(text)
    figures = [FIGURE.fullmatch(part) for part in parts]
    if any(not figure and BEGUN.match(part) for figure, part in zip(figures, parts, strict=True)):
        return []
    whole = [figure for figure in figures if figure and not figure[4]]
    within = {_of(unit[1]) for unit in WITHIN.finditer(text)}
    counted = whole if len(whole) == len(figures) else figures[:1]
    times = [_ms(figure, column, within) for figure in counted if figure]
    each = _several(cell) or _several(column) or 1
    known = [time / each for time in times if time]
    return known if len(known) == len(times) else []


def pccs_of(cell: str) -> list[float] | None:
    """The PCCs of a cell; None where a number in it may be one or not. A 0 or 1 is one only alone."""
    text = " ".join(DEVIATION.sub(" ", ASIDE.sub(" ", cell.replace("+/-", "±"))).split()).strip(" []")
    text = HYPHEN.sub(" to ", AT_LEAST.sub("", text, count=1) if AT_LEAST.match(text) else text)
    if text.removeprefix("-").isdecimal():
        return [float(text)] if text in ("0", "1", "-1") else []
    pccs = [float(one) for one in PCC.findall(text)]
    if AGAINST.search(text) or not pccs:
        return None if DIGIT.search(cell) else []
    return pccs


def is_usual(column: str, cell: str) -> bool:
    """Is its unit ms, us or tokens per second?"""
    return USUAL.search(cell) is not None or USUAL.search(column) is not None


def has_unit(column: str) -> bool:
    """Does a header tell a time or a rate?"""
    return HEADER.search(column) is not None or SECONDS.search(column) is not None


def _parts(text: str) -> list[str]:
    """What stands between the commas and strokes of a cell; none where a comma may be one of two things."""
    if text.startswith("["):
        return _filled(re.split("[,/]", text.strip(" []")))
    parts: list[str] = []
    for part in _filled(BETWEEN.split(text)):
        run = RUN.match(part)
        if run is None:
            parts.append(part)
            continue
        numbers = run[0].split(",")
        if THOUSANDS.fullmatch(run[0]):
            if _may_be_blocks(numbers):
                return []
            parts.append(run[0].replace(",", "") + part[run.end() :])
        elif len(numbers) > 2 or not any(number.isdigit() for number in numbers):  # "12,5" may be 12.5
            parts += [*numbers[:-1], numbers[-1] + part[run.end() :]]
        else:
            return []
    return parts


def _filled(parts: list[str]) -> list[str]:
    return [stripped for part in parts if (stripped := part.strip())]


def _may_be_blocks(numbers: list[str]) -> bool:
    """Are they whole, and as near as replays? "500,510" may be two figures."""
    if any(not number.isdigit() or number.startswith("0") for number in numbers):
        return False
    figures = [int(number) for number in numbers]
    return max(figures) <= BLOCKS_WITHIN * min(figures)


def _several(words: str) -> int:
    """How many things the time of a header or cell is of; 0 where it does not say."""
    several = SEVERAL.search(words)
    return int(several[1]) * (1000 if several[2] else 1) if several else 0


def _ms(figure: re.Match[str], column: str, within: set[float]) -> float | None:
    """The time of a figure; None where its unit is not known, or no time can be so long or short."""
    scale = _scale(figure, column, within)
    number = float(figure[1])
    if scale is None or number <= 0:
        return None
    time = 1000 / number if scale == PER_SECOND else number * scale
    return time if LEAST_MS <= time <= MOST_MS else None


def _scale(figure: re.Match[str], column: str, within: set[float]) -> float | None:
    """The ms of its unit: of the one behind it, that of the header, or the only one `within` the cell."""
    if figure[2]:
        return MS[figure[2][0].lower()]
    if figure[3]:
        return PER_SECOND
    header = HEADER.search(column)
    of_header = _of(header[1]) if header else MS["s"] if SECONDS.search(column) else None
    if not within:
        return of_header
    is_range = figure[4] is None or RANGE.match(figure[4])  # "0.6 to 0.7 ms", but not "5 runs in 3 ms"
    (unit, *others) = within
    return unit if is_range and not others and of_header in (None, unit) else None


def _of(time: str | None) -> float:
    return MS[time[0].lower()] if time else PER_SECOND
