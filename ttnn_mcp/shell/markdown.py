"""Markdown from answers. Text of a profile is data: it cannot become a link, a tag, a mention or a cell of its own.

A report as Markdown for a pull request says what its page says in text, without the pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_mcp.checks.fixes import CODE
from ttnn_mcp.report.code_block import code_block
from ttnn_mcp.report.markup import TRIAL, decimals, heading, microseconds, number, percent, saving_words
from ttnn_mcp.report.plan_section import HEADS, NUMBERS, told_of, tried_of
from ttnn_mcp.report.sections import (
    NOT_BOUNDED,
    WORDS,
    budget_why,
    not_bounded,
    ops_counted,
    run_words,
    window_words,
)
from ttnn_mcp.served.documents import meaning_of
from ttnn_mcp.shell.outline import MarkedCode, Outline, numeric, written
from ttnn_mcp.tools.answering import records

if TYPE_CHECKING:
    from ttnn_mcp.report.answers import Answers

    Answer = dict[str, Any]


_MARKS = re.compile(r"([\\`*{}\[\]<>|#!~@&$]|(?<![^\W_])_|_(?![^\W_]))")  # inside a word `_` is a letter
# GitHub looks for these in the text that is left when backslashes are gone: only an unseen gap inside keeps it away
_LINKED = re.compile(
    r"""(?i)\b(https?|ftp|www)(?=[:.])     # addresses
    | [@#](?=\w)                          # mentions, issues
    | \$(?=\S)                            # formulas
    | \bGH-(?=\d)                         # issues
    | :(?=[\w+-]+:)                       # emoji
    | \b(?=\d*[a-f])[0-9a-f]{9,40}\b       # commits; our own ids have 8 digits, and are to be copied
    """,
    re.VERBOSE,
)
_SHORTER = re.compile(r"\w{6}(?=\w)|.$")  # a commit is linked by seven digits

MARK = "## TTNN report"
FINDINGS = 10  # with their evidence; a comment on GitHub holds 65,536 characters
ROWS = 20
CODE_COLUMNS = 90  # a comment on GitHub shows as many without a scroll bar


def text(value: object) -> str:
    """A value as text that Markdown shows as it is."""
    return _shown(" ".join(str(value).split()))


def _shown(line: str) -> str:
    return _MARKS.sub(r"\\\1", _LINKED.sub(lambda linked: _SHORTER.sub("\\g<0>\u200b", linked[0]), line))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[bool] = ()) -> list[str]:
    """A table, line by line; columns of `numbers` stand at the right."""
    rules = ["---:" if at_right else "---" for at_right in numbers] or ["---"] * len(columns)
    lines = [_line(columns), _line(rules, escaped=True)]
    return [*lines, *(_line(["" if cell is None else cell for cell in row]) for row in rows)]


def window(shown: Mapping[str, Any]) -> str:
    """A window as one cell."""
    kind = shown["kind"].replace("_", " ")
    doubtful = ", in doubt" if shown.get("doubts") else ""
    return f"{kind}, {'warm' if shown['warm'] else 'not warm'}, {ops_counted(shown['rows'])}{doubtful}"


def _line(cells: Sequence[Any], *, escaped: bool = False) -> str:
    return f"| {' | '.join(cell if escaped else coded(cell) for cell in cells)} |"


def coded(value: object) -> str:
    """A value as text; what our words mark as code is code, also in a table."""
    if not isinstance(value, MarkedCode):
        return text(value)
    parts = enumerate(value.split(CODE))
    return "".join(
        f"{CODE}{part}{CODE}".replace("|", "\\|") if place % 2 else _shown(part) for place, part in parts
    )


def page(title: str, outline: Outline) -> list[str]:
    """A whole answer, line by line: its facts, then its tables."""
    lines = [f"### {text(title)}", "", *(f"- **{text(name)}**: {text(value)}" for name, value in outline.facts)]
    for section in outline.sections:
        lines += ["", f"**{text(section.title)}**", ""]
        if not any(section.columns):
            lines += [_item(*row) for row in section.rows]
        elif any(isinstance(cell, (dict, list)) for row in section.rows for cell in row):
            lines += [line for row in section.rows for line in _entry(section.columns, row)]
        else:
            cells = [[_kept(cell) for cell in row] for row in section.rows]
            lines += table(section.columns, cells, [numeric(column) for column in zip(*section.rows, strict=True)])
    return lines


def _kept(value: object) -> str:
    return value if isinstance(value, MarkedCode) else written(value)


def _item(first: object, *others: object) -> str:
    name = text(written(first))
    return f"- **{name}**: {coded(_kept(others[0]))}" if others else f"- {name}"


def _entry(columns: Sequence[str], row: Sequence[Any]) -> list[str]:
    """A row whose cells hold more than a word, as a list."""
    pairs = [(name, written(cell)) for name, cell in zip(columns, row, strict=True) if cell is not None]
    return [
        f"{'1. ' if place == 0 else '   - '}**{text(name)}**: {text(cell)}"
        for place, (name, cell) in enumerate(pairs)
    ]


def comment(answers: Answers) -> str:
    """The report of a run as Markdown."""
    against = f" against {text(run_words(answers.base))}" if answers.base else ""
    lines = [f"{MARK}: {text(run_words(answers.card))}{against}", "", *shortage(answers.comparison or answers.card)]
    if answers.comparison:
        lines += compared(answers.comparison)
    if answers.budget:
        lines += _budget(answers.budget)
    if answers.check:
        lines += findings(answers.check)
    if answers.memory:
        lines += _memory(answers.memory)
    below_findings = answers.check["trust"] if answers.check else ()
    caveats = [caveat for caveat in answers.card.get("caveats", ()) if caveat not in below_findings]
    return "\n".join([*lines, *_listed([*answers.left_out, *caveats])]).rstrip() + "\n"


def shortage(answer: Mapping[str, Any]) -> list[str]:
    """Where memory ran out, of an answer that tells it."""
    return [f"Memory: **{text(answer['ran_out'])}**", ""] if answer.get("ran_out") else []


def _verdict(label: str, answer: Answer) -> str:
    outcome = WORDS.get(answer["verdict"], answer["verdict"])
    return f"{label}: **{outcome}** - {text(answer['why'])}"


def compared(comparison: Answer) -> list[str]:
    """A comparison: its verdict and times, then the ops that made the change."""
    groups = comparison["groups"]
    lines = [
        _verdict("Against the baseline", comparison),
        "",
        f"Noise {percent(comparison['noise_share'])}: {text(comparison['noise_from'])}.",
        "",
        f"Before: {text(window_words(comparison['baseline_window']))}.",
        "",
        f"After: {text(window_words(comparison['window']))}.",
        *_listed(comparison.get("caveats", ())),
    ]
    ranked = sorted(groups["rows"], key=lambda row: -abs(row[3]))
    lines += _titled("Ops before and after", {**groups, "rows": ranked})
    for title, name in (("What makes the gain doubtful", "suspicious"), ("What changed", "changed")):
        lines += _titled(title, comparison.get(name))
    return [*lines, ""]


def _budget(budget: Answer) -> list[str]:
    return [
        _verdict("By its own measure", {**budget, "why": budget_why(budget)}),
        "",
        f"Window: {text(window_words(budget['window']))}.",
        *_titled(f"Where {microseconds(budget['window_us'])} go", budget["ledger"]),
        *_titled("Lower bounds", budget["floors"]),
        *_titled(NOT_BOUNDED, not_bounded(budget)),
        "",
    ]


def findings(check: Answer) -> list[str]:
    """The plan, and the findings behind it."""
    total = check.get("total")
    lines: list[str] = []
    if total:
        times = f"{microseconds(total['before_us'])} of {total['of']}, at best {microseconds(total['after_us'])}"
        lines += _edits(f"The plan: {times} after all edits", records(check["plan"]))
    lines += ["", f"**Findings: {len(check['findings'])}**", ""]
    for rank, finding in enumerate(check["findings"][:FINDINGS], start=1):
        saving = finding["saving_us"]
        saves = saving_words(saving, microseconds)
        lines += [f"{rank}. **{finding['check']}** (step {finding['step']}): {text(finding['claim'])}"]
        lines += [f"   - saving: {text(saves)}; assumes {text(finding['assumption'])}"]
        lines += _fix(finding["fix"])
        lines += [f"   - {label}: {text(finding[label])}" for label in ("verify", "caveat") if finding.get(label)]
        lines += [f"   - evidence: {_cited(cell)}" for cell in finding["evidence"]]
    more = len(check["findings"]) - FINDINGS
    if more > 0:
        lines += ["", f"{more} more findings, each saving less, are not listed."]
    return [*lines, *_listed(check["trust"] or ["no doubts"]), ""]


def _edits(title: str, edits: Sequence[Answer]) -> list[str]:
    """The edits with the columns of the page: what a comment has no room for stands in the findings."""
    if not edits:
        return []
    rows = [
        [edit["rank"], "; ".join(filter(None, (edit["what"], tried_of(edit)))), edit["where"], *told_of(edit)]
        for edit in edits
    ]
    trial = [f"{TRIAL}: {meaning_of(TRIAL)}"] if any(TRIAL in row for row in rows) else []
    return [f"**{title}**", "", *table(HEADS, rows, [head in NUMBERS for head in HEADS]), *_listed(trial)]


def _fix(fix: str) -> list[str]:
    """A fix in words in one line; its code as a block."""
    code = code_block(fix, CODE_COLUMNS)
    if not code:
        return [f"   - fix: {text(fix)}"]
    return ["   - fix:", "", *(f"     {line}" for line in ("```python", *code, "```")), ""]


def _cited(cell: Answer) -> str:
    row = f"line {cell['row']}" if isinstance(cell["row"], int) else text(cell["row"])
    unit = f" {cell['unit']}" if cell.get("unit") else ""
    return f"{text(cell['source'])}, {row}: {text(cell['column'])} = {text(number(cell['value']))}{unit}"


def _memory(memory: Answer) -> list[str]:
    peak = memory["l1_peak"]
    place = f"operation {peak['operation']}, {text(peak['name'])}"
    line = f", {text(peak['line'])}" if "line" in peak else ""
    level = f"L1 peak: **{number(peak['bytes_per_bank'])} B** of a bank, at {place}{line}."
    parts = f"Of these: tensors {number(peak['tensors_bytes'])} B, circular buffers "
    parts += f"{number(peak['circular_buffers_bytes'])} B."
    live = _titled("Live at the peak", memory["live"], memory.get("more_live", 0))
    return [level, parts, *live, *_listed(memory.get("caveats", ())), ""]


def _titled(title: str, answer: Answer | None, left_out: int = 0) -> list[str]:
    if not answer or not answer["rows"]:
        return []
    columns: Sequence[str] = answer["columns"]
    shown = answer["rows"][:ROWS]
    digits = [decimals(name, (row[place] for row in shown)) for place, name in enumerate(columns)]
    rows = [
        [
            percent(cell) if name.endswith("share") else number(cell, most)
            for name, cell, most in zip(columns, row, digits, strict=True)
        ]
        for row in shown
    ]
    left = left_out + max(len(answer["rows"]) - ROWS, 0)
    more = ["", f"{left} more rows are not listed."] if left > 0 else []
    return ["", f"**{title}**", "", *table([heading(name) for name in columns], rows), *more]


def _listed(sentences: Sequence[str]) -> list[str]:
    return ["", *(f"- {text(sentence)}" for sentence in sentences)] if sentences else []
