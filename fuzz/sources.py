"""What is mutated: made reports of every generation, the demo, and real ones where they lie beside the checkout.

All are cut to some dozen rows or a few operations, so that a case takes milliseconds.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from fuzz.csv_table import CsvTable
from fuzz.database_mutations import DATABASE, columns_of, tables_of
from fuzz.doors import ROOT
from tests.pairs import Model
from tests.profiles import (
    CSV_GENERATIONS,
    DATABASE_GENERATIONS,
    CircularBuffer,
    CsvStyle,
    DatabaseStyle,
    Iteration,
    Program,
    height_sharded,
    write_memory_report,
    write_performance_report,
)
from tests.profiles.conv import Window, conv2d, halo
from tests.programs import block

SHARED = ROOT.parent / "shared"
CSV_ROWS = 36
CSV_BYTES = 2_000_000  # read of a real CSV; its head is enough
OPERATIONS = 8
ROWS_OF_A_TABLE = 400
COLD_AND_WARM = (Iteration(cold=True), Iteration())
PASSES = {
    "warm": COLD_AND_WARM,
    "signposts": (Iteration(cold=True), Iteration(signposts=("start", "stop"), host_rows=["(torch) contiguous"])),
    "trace": (Iteration(cold=True), Iteration(capture=True), Iteration(trace=(0, 1)), Iteration(trace=(0, 2))),
    "three": (Iteration(cold=True), Iteration(), Iteration(kernel_scale=1.001)),
}


@dataclass(frozen=True)
class Source:
    """A small report: a CSV's table, a folder with a database, or both."""

    name: str
    table: CsvTable | None = None
    folder: Path | None = None
    csv_name: str = "ops_perf_results.csv"

    def write(self, folder):
        """The report as it is, unmutated."""
        if self.table is not None:
            (folder / self.csv_name).write_bytes(self.table.write())
        if self.folder is not None:
            for path in self.folder.iterdir():
                shutil.copyfile(path, folder / path.name)


def conv_program():
    """Two convs, each with its halo, in height-sharded L1."""
    program = Program("wormhole_b0")
    window = Window((64, 64), (3, 3), padding=1)
    x = program.tensor([1, 1, 4096, 64], layout="ROW_MAJOR", placement=height_sharded(64, 64, (8, 8)))
    for fidelity, block_h in (("HiFi4", 1), ("LoFi", 2)):
        around = program.tensor([1, 1, 4608, 64], layout="ROW_MAJOR", placement=height_sharded(72, 64, (8, 8)))
        weight, bias = program.weight([1, 1, 576, 64], "BFLOAT8_B"), program.weight([1, 1, 32, 64])
        out = program.tensor([1, 1, 4096, 64], placement=height_sharded(64, 64, (8, 8)))
        conv = conv2d(
            around, weight, bias, out, window=window, kernel_ns=60_000, in_channels=64, act_block_h=block_h, fidelity=fidelity
        )  # fmt: skip
        program.call("ttnn.conv2d", [x, weight, bias], [out], [halo(x, around, window, 5_000), conv])
        x = out
    return program


def failing_program():
    """A run that died of memory."""
    program = block(layers=1)
    x = program.tensor([1, 1, 3136, 64], placement=height_sharded(64, 64, (7, 7)))
    program.op(
        "MatmulDeviceOperation", [x, program.weight([1, 1, 64, 64])], call="ttnn.linear",
        circular_buffers=[CircularBuffer(65_536), CircularBuffer(8_192)],
    )  # fmt: skip
    program.call("ttnn.conv2d", program.tensors[:1])
    program.fail("Out of Memory: Not enough space to allocate 1048576 B L1 buffer across 64 banks, where each bank needs "
                 "to store 16384 B, but bank size is 1395424 B")  # fmt: skip
    return program


PROGRAMS = {
    "block": block,
    "mesh": lambda: block(devices=2, layers=1),
    "conv": conv_program,
    "model": lambda: Model(layers=1, reshard_in=1).program(),
    "failing": failing_program,
}


def sources(folder, *, shared=True):
    """Every source, by kind: (CSVs, databases, pairs). `folder` keeps what is made."""
    csvs, databases, pairs = [], [], []
    for number, generation in enumerate(CSV_GENERATIONS):
        for name, program in PROGRAMS.items():
            if name != "failing":
                passes = list(PASSES)[(number + len(name)) % len(PASSES)]
                csvs.append(
                    _made_csv(folder, f"{generation}-{name}-{passes}", program(), generation, PASSES[passes])
                )
    for generation in DATABASE_GENERATIONS:
        databases += [
            _made_database(folder, f"{generation}-{name}", PROGRAMS[name](), generation)
            for name in ("block", "failing", "mesh")
        ]
    databases.append(_made_database(folder, "3.3-conv-pages", conv_program(), "3.3", DatabaseStyle(detailed="all")))
    for name in ("block", "mesh", "conv", "model"):
        program = PROGRAMS[name]()
        made = _made_database(folder, f"pair-{name}", program, "3.3")
        table = _made_csv(
            folder, f"pair-{name}-csv", program, "C7", PASSES["three" if name == "block" else "warm"]
        ).table
        pairs.append(Source(f"pair-{name}", table, made.folder))
    demo = ROOT / "resources" / "demo"
    csvs.append(_csv("demo", next((demo / "performance").rglob("ops_perf_results*.csv")), 90))
    databases.append(_database("demo", demo / "memory" / DATABASE, folder))
    if shared and SHARED.is_dir():
        _add_shared(folder, csvs, databases, pairs)
    return csvs, databases, pairs


def _add_shared(folder, csvs, databases, pairs):
    for path in sorted(SHARED.glob("data/*/*.csv")):
        with suppress(UnicodeDecodeError, IndexError):
            csvs.append(_csv(f"shared-{path.stem}", path))
    linked = None
    for path in sorted((*SHARED.glob("data/memory/*/db.sqlite"), *SHARED.glob("data/memory/*.sqlite"),
                        *SHARED.glob("real/**/db.sqlite"))):  # fmt: skip
        name = path.stem if path.name != DATABASE else path.parent.name
        databases.append(_database(f"shared-{name}", path, folder, whole=path.parent.name == "v3_3"))
        linked = databases[-1] if path.parent.name == "v3_3" else linked
    profile = next(SHARED.glob("data/memory/v3_3_perf/*/ops_perf_results*.csv"), None)
    if linked and profile:
        pairs.append(Source("shared-linked", _csv("", profile).table, linked.folder))


def _made_csv(folder, name, program, generation, passes):
    style = CsvStyle("\n", float_numbers=name.startswith("C3"))
    path = write_performance_report(folder / "csv" / name, program, passes, generation=generation, style=style)
    return Source(name, CsvTable.read(path.read_bytes(), 2 * CSV_ROWS), None, path.name)


def _made_database(folder, name, program, generation, style=None):
    more = {} if style is None else {"style": style}
    path = write_memory_report(folder / "databases" / name, program, generation, **more)
    return Source(name, None, path.parent)


def _csv(name, path, rows=CSV_ROWS):
    with path.open("rb") as file:
        content = file.read(CSV_BYTES)
    if path.stat().st_size > CSV_BYTES:
        content = content[: content.rindex(b"\n")]
    return Source(name, CsvTable.read(content, rows))


def _database(name, path, folder, *, whole=False):
    """A copy of the database with its first operations, and what lies beside it."""
    place = folder / "databases" / name
    place.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, place / DATABASE)
    for beside in ("config.json", "cluster_descriptor.yaml"):
        if (path.parent / beside).exists():
            shutil.copyfile(path.parent / beside, place / beside)
    with closing(sqlite3.connect(place / DATABASE)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        for table in tables_of(connection):
            if "operation_id" in columns_of(connection, table) and not whole:
                first = "SELECT operation_id FROM operations ORDER BY operation_id LIMIT"
                if table != "operations":
                    connection.execute(f'DELETE FROM "{table}" WHERE operation_id NOT IN ({first} {OPERATIONS})')
            connection.execute(
                f'DELETE FROM "{table}" WHERE rowid NOT IN (SELECT rowid FROM "{table}" LIMIT {ROWS_OF_A_TABLE})'
            )
        if not whole and "operations" in tables_of(connection):
            connection.execute(
                "DELETE FROM operations WHERE operation_id NOT IN "
                f"(SELECT operation_id FROM operations ORDER BY operation_id LIMIT {OPERATIONS})"
            )
        connection.commit()
        connection.execute("VACUUM")
    return Source(name, None, place)
