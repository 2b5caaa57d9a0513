"""What several tests of step 3 share: moves, norms and matmuls put into a program, reports that lack something."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tests.checks.asking import case_of_reports
from tests.checks.rows import COLD_THEN_WARM, put
from tests.profiles import (
    DRAM,
    L1,
    CircularBuffer,
    Program,
    block_sharded,
    header_of,
    height_sharded,
    performance_rows,
    write_rows,
    write_run,
)
from tests.profiles.model import DeviceOp
from tests.profiles.ops import (
    binary,
    interleaved_to_sharded,
    layer_norm,
    matmul,
    reshard,
    sharded_to_interleaved,
    unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.checks.asking import Asker, Case, Claim, Outcome
    from tests.profiles import Placement, Tensor

BANK = 1_499_136 - 103_712 - 24_576  # bytes of a Wormhole L1 bank: all of it, less firmware, less L1_SMALL
USABLE = 1_499_136 - 105_824  # the same, by the newest build, where no memory report tells of L1_SMALL
SHAPE = [1, 1, 2048, 512]
TALL, TALLER = height_sharded(32, 512, (8, 8)), height_sharded(64, 512, (8, 4))
BLOCK = block_sharded(256, 64, (8, 8))


def to(program: Program, x: Tensor, placement: Placement, *, kernel_ns: int = 20_000) -> Tensor:
    """The move that takes `x` to `placement`."""
    out = program.tensor(x.shape, x.dtype, placement=placement)
    assert x.placement is not None
    move = {
        (True, True): reshard,
        (True, False): sharded_to_interleaved,
        (False, True): interleaved_to_sharded,
    }[x.placement.shard is not None, placement.shard is not None]
    return put(program, move(x, out, kernel_ns))


def relu(program: Program, x: Tensor, *, kernel_ns: int = 5_000, placement: Placement | None = None) -> Tensor:
    out = program.tensor(x.shape, x.dtype, placement=placement or x.placement)
    return put(program, unary("RELU", x, out, kernel_ns))


def sharded(program: Program, shape: list[int] = SHAPE, placement: Placement = TALL) -> Tensor:
    """What an op before has written in shards."""
    return relu(program, program.tensor(shape, placement=placement))


def detour(program: Program, kernel_ns: int = 20_000, *, others: bool = False, waits: int = 0) -> Tensor:
    """matmul in shards -> interleaved -> add; returns the interleaved copy."""
    x = program.tensor([1, 1, 2048, 256], placement=height_sharded(32, 256, (8, 8)))
    w = program.weight([1, 1, 256, 512])
    y = put(program, matmul(x, w, program.tensor(SHAPE, placement=TALL), 20_000))
    copy = to(program, y, DRAM, kernel_ns=kernel_ns)
    for height in range(waits):
        relu(program, program.tensor([1, 1, 32 * (height + 1), 64]))
    if others:
        put(program, matmul(copy, program.weight([1, 1, 512, 64]), program.tensor([1, 1, 2048, 64]), 20_000))
    put(program, binary("ADD", copy, program.tensor(SHAPE), program.tensor(SHAPE), 30_000))
    return copy


def left_to_ttnn(
    program: Program,
    *,
    first: Placement = L1,
    second: Placement = DRAM,
    out: Placement = DRAM,
    cores: int = 16,
    kernel_ns: int = 200_000,
    **how: object,
) -> Tensor:
    """A matmul of 1024 x 512 by 512 x 1024; 2.1 MB in DRAM where the first operand lies in L1: 17.5 us at 240 GB/s."""
    x, w = program.tensor([1, 1, 1024, 512], placement=first), program.tensor([1, 1, 512, 1024], placement=second)
    y = program.tensor([1, 1, 1024, 1024], placement=out)
    return put(program, matmul(x, w, y, kernel_ns, cores=cores, **how))


def norm(program: Program, rows: int = 19, width: int = 1280, *, kernel_ns: int = 53_500, times: int = 1) -> None:
    """Layer norms as they run by default: one core per row of tiles."""
    gamma, beta = program.weight([1, 1, 1, width]), program.weight([1, 1, 1, width])
    for _ in range(times):
        x, y = program.tensor([1, 1, rows, width]), program.tensor([1, 1, rows, width])
        put(program, layer_norm(x, gamma, beta, y, kernel_ns))


def of_every_kind() -> Program:
    """One op at least that each check of step 3 speaks of."""
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 1024, 1024], placement=where) for where in (L1, DRAM, DRAM))
    put(program, matmul(x, w, y, 100_000, cores=8))
    for name in ("MinimalMatmulOp", "ScaledDotProductAttentionDeviceOperation", "SoftmaxDeviceOperation"):
        put(program, DeviceOp(name, (x, w), (y,), 50_000, attributes={"program_config": None}))
    put(program, layer_norm(x, w, w, y, 50_000))
    put(
        program,
        sharded_to_interleaved(
            program.tensor([1, 1, 1024, 1024], placement=height_sharded(32, 1024, 32)), y, 10_000
        ),
    )
    return program


def no_such_ops() -> Program:
    """An op that no check of step 3 speaks of, on the whole grid."""
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 64, 64], placement=L1), program.tensor([1, 1, 64, 64], placement=L1)
    put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), 10_000))
    return program


def timeless(program: Program) -> Program:
    """The same ops, none of which took any time."""
    for op in program.device_ops:
        op.kernel_ns = 0
    return program


def without(folder: Path, lost: tuple[str, ...], program: Program | None = None) -> Path:
    """The program's CSV without the columns whose name holds one of `lost`, or is it: '=CORE COUNT='."""
    rows = performance_rows(program or of_every_kind())
    kept = [name for name in header_of(rows, "C7") if not any(part in f"={name}=" for part in lost)]
    return write_rows(folder / "ops_perf_results_made.csv", rows, kept)


def rewritten(folder: Path, program: Program, **cells: str) -> Path:
    """The program's CSV with these cells on every row; '_' in a column's name stands for ' '."""
    changed = {name.replace("_", " "): text for name, text in cells.items()}
    rows = [{**row, **changed} for row in performance_rows(program, COLD_THEN_WARM)]
    return write_rows(folder / "ops_perf_results_made.csv", rows, header_of(rows, "C7"))


def in_l1(program: Program, size: int) -> Tensor:
    """A ROW_MAJOR tensor that takes `size` bytes, a multiple of 64, of each of 64 banks."""
    rows = size // 64
    return program.tensor([1, 1, 64 * rows, 32], layout="ROW_MAJOR", placement=height_sharded(rows, 32, (8, 8)))


def held(size: int, late: int, *, peak: int | None = 0, made: bool = True, read: bool = True) -> Program:
    """A tensor of `size` bytes per bank that one op makes and the next reads; it is freed `late` ops after that.

    The op at `peak` of the late ones (None: one after the free) takes a million bytes of circular buffers.
    """
    program = Program()
    x = program.tensor([1, 1, 2048, 32])
    y = in_l1(program, size)
    if made:
        put(program, unary("RELU", x, y, 10_000))
    z = program.op("UnaryDeviceOperation", [y] if read else [x], placement=DRAM)
    for n in range(late):
        z = program.op(
            "UnaryDeviceOperation", [z], circular_buffers=[CircularBuffer(1_000_000 if n == peak else 64)]
        )
    program.free(y)
    buffers = [CircularBuffer(1_000_000)] if peak is None else []
    program.op("UnaryDeviceOperation", [z], circular_buffers=buffers)
    return program


def altered(folder: Path, program: Program, *statements: str, arch: str | None = None) -> Case:
    """The case of the program's two reports, after these SQL statements on the memory report."""
    made = write_run(folder, program)
    performance = rewritten(folder, program, DEVICE_ARCH=arch) if arch else made.performance
    with closing(sqlite3.connect(made.memory)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return case_of_reports(performance, made.memory)


def assert_cannot_tell(outcome: Outcome, *words: str) -> None:
    """It says what is missing and what to do about it."""
    assert outcome.status == "cannot_tell"
    assert re.search(
        "give the CSV|profile|capture|add the memory report|memory_summary|needs a memory", outcome.why
    )
    for word in words:
        assert word in outcome.why


def assert_needs_a_whole_replay(check: Asker, folder: Path, build: Callable[[], Program]) -> None:
    """It cannot tell without a memory report, without its replay, before the run's end, nor of a bank of no known size."""
    assert_cannot_tell(check.ask(build()), "needs a memory report")
    assert_cannot_tell(check.ask(build(), memory="3.3", replayed=False), "not replayed")
    died = build()
    died.fail("Out of Memory: Not enough space to allocate 65536 B L1 buffer across 64 banks")
    assert_cannot_tell(check.ask(died, memory="3.3"), "the run died before its end")
    unknown = altered(folder, build(), "DELETE FROM devices", arch="quasar")
    assert_cannot_tell(check.ask(unknown), "L1 capacity unknown")


def assert_short(claim: Claim) -> None:
    """Its texts fit an answer."""
    sizes = [len(text or "") for text in (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)]
    assert all(size <= most for size, most in zip(sizes, (200, 120, 290, 120, 160), strict=True)), sizes


def cells(outcome: Outcome) -> list[tuple[object, str | None]]:
    """(row, column) of the cited cells."""
    return [(one.row, one.column) for one in outcome.claim.evidence]


def linked(check: Asker, program: Program) -> Case:
    """A window whose ops a memory report knows by tensor."""
    case = check.case(program, memory="3.3", replayed=False)
    assert case.run.linked is not None
    assert case.run.linked.link.status == "linked", case.run.linked.link.why
    return case
