"""Programs whose tensors pass through the host, or are made there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.checks.asking import Case, case_of_reports
from tests.checks.rows import put
from tests.profiles import Iteration, Program, write_run
from tests.profiles.ops import unary

if TYPE_CHECKING:
    from pathlib import Path

    from tests.profiles.model import Tensor

WARM = [Iteration()]

unknown_sizes = pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE tensors ADD COLUMN size INT; UPDATE tensors SET size = 2000000, shape = 'unheard of'",
        "UPDATE tensors SET dtype = 'DataType::UNHEARD_OF'",
    ],
    ids=["shape", "size"],
)


def worked(program: Program, kernel_ns: float = 1_000_000) -> Tensor:
    """The output of an op on the device."""
    shape = [1, 1, 32, 32 * (1 + len(program.calls))]
    x, y = (program.tensor(shape) for _ in range(2))
    put(program, unary("RELU", x, y, kernel_ns))
    return y


def of_unknown_size(folder: Path, program: Program, statement: str) -> Case:
    """A case whose memory report `statement` made unreadable."""
    made = write_run(folder, program, WARM)
    with closing(sqlite3.connect(made.memory)) as database, database:
        database.executescript(statement)
    return case_of_reports(made.performance, made.memory)
