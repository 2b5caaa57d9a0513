"""Reports whose every text carries a mark, so that a test sees where text of a profile comes out."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tests.profiles import Iteration, Run, header_of, performance_rows, write_rows, write_run
from tests.profiles.demo_model import demo_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MARK = "Zqx"
WORDS = re.compile(r"(?<=': ')(?=[A-Za-z])")  # where a value of ATTRIBUTES begins
GRAPH_TEXTS = re.compile(r'(?<="name": ")(?=[A-Z])')  # names of device ops in a captured graph
CODES = ("OP CODE", "MATH FIDELITY", "DEVICE ARCH")
OPERANDS = ("LAYOUT", "DATATYPE", "MEMORY")


def marked(text: str) -> str:
    return f"{text}{MARK}" if text else text


def codes(row: dict[str, str]) -> None:
    for name in CODES:
        row[name] = marked(row.get(name, ""))


def operands(row: dict[str, str]) -> None:
    row.update({name: marked(text) for name, text in row.items() if name.endswith(OPERANDS)})


def attributes(row: dict[str, str]) -> None:
    row["ATTRIBUTES"] = WORDS.sub(MARK, row["ATTRIBUTES"])


def nothing(_row: dict[str, str]) -> None:
    """The CSV's cells as they are, so that the two reports can be linked."""


KINDS: dict[str, Callable[[dict[str, str]], None]] = {
    "codes": codes,
    "operands": operands,
    "attributes": attributes,
    "linked": nothing,
    "not linked": nothing,
}


def marked_run(folder: Path, kind: str) -> Run:
    """Both reports of the demo program. In every third op the texts of one kind of column are marked.

    Signposts, names of files and most texts of the memory report are marked in every report.
    """
    program = demo_program()
    program.fail(f"Out of Memory: {MARK} Not enough space to allocate 999999999 B L1 buffer across 64 banks")
    iterations = (Iteration(cold=True), Iteration(signposts=(marked("begin"), marked("end"))))
    made = write_run(folder / MARK, program, iterations, name=f"made_{MARK}", timestamp=MARK)
    rows = performance_rows(program, iterations)
    device = [row for row in rows if row["OP TYPE"] == "tt_dnn_device"]
    for row in device[::3]:
        KINDS[kind](row)
    columns = [marked(name) if name == "PROGRAM HASH" else name for name in header_of(rows, "C7")]
    write_rows(made.performance, rows, columns)
    mark_database(made.memory, names=kind == "not linked")
    return made


def mark_database(path: Path, *, names: bool) -> None:
    """Mark arguments, stack traces, errors, layouts and types; names of operations and device ops only if asked for."""
    with closing(sqlite3.connect(path)) as database, database:
        if names:
            database.create_function("device_ops_marked", 1, lambda text: GRAPH_TEXTS.sub(MARK, text))
            database.execute("UPDATE captured_graph SET captured_graph = device_ops_marked(captured_graph)")
            database.execute(f"UPDATE operations SET name = name || '{MARK}' WHERE operation_id % 3 = 0")
        database.execute(f"UPDATE operation_arguments SET name = name || '{MARK}', value = value || '{MARK}'")
        database.execute(f"UPDATE stack_traces SET stack_trace = replace(stack_trace, 'model.py', 'm{MARK}.py')")
        database.execute(f"UPDATE errors SET operation_name = operation_name || '{MARK}', error_type = '{MARK}'")
        database.execute(f"UPDATE tensors SET layout = layout || '{MARK}' WHERE tensor_id % 3 = 0")
        database.execute(f"UPDATE tensors SET dtype = dtype || '{MARK}' WHERE tensor_id % 5 = 0")
