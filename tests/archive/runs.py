"""Runs of one small model in an archive: what differs between them is known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.asking import session
from tests.checks.matmul_programs import config, linear
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.archive.rows import Provenance, RunRows, rows_of
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.session.archiving import Archiving
from ttnn_mcp.session.session import Session

WARM = (Iteration(cold=True), Iteration(), Iteration())
OP = 18  # a matmul's line in the warm window
START = 1_767_225_600  # 2026-01-01, in seconds since 1970
DAY = 24 * 3600


def model(us: float = 93.0, *, block: int = 2, fidelity: str = "HiFi2", matmuls: int = 4, **how) -> Program:
    """An embedding, equal matmuls of `us` each within 0.2 %, and a relu of 20 us."""
    where = {name: how.pop(name) for name in ("clock_ghz", "devices") if name in how}
    program = Program(how.pop("arch", "wormhole_b0"), **where)
    program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 512])], kernel_ns=5_000)
    for at in range(matmuls):
        linear(
            program,
            kernel_ns=int(1000 * us * (1 + 0.001 * (at % 3))),
            fidelity=fidelity,
            program_config=config(block),
            **how,
        )
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=20_000)
    return program


def report_of(folder: Path, program: Program, *, day: int = 0) -> Path:
    """A report whose file name says on which day of 2026 it was made."""
    made = write_performance_report(folder, program, WARM)
    month, date = divmod(day, 28)
    return made.rename(folder / f"ops_perf_results_2026_{month + 1:02}_{date + 1:02}_00_00_00.csv")


def remembering(folder: Path) -> Session:
    """A session that asks its archive; nothing comes into it but what a test adds."""
    at = session(folder)
    at.archiving = Archiving(at.settings, at.settings.state_folder / "archive")
    at.archiving.begin = lambda: None
    return at


def archive_of(at: Session) -> Archive:
    assert at.archive is not None
    return at.archive


async def archived(at: Session, *reports: Path) -> Archive:
    """The session's archive with these reports in it."""
    rows = [rows_of(await at.run(str(report)), Provenance()) for report in reports]
    archive_of(at).add(rows)
    return archive_of(at)


@dataclass(frozen=True)
class Night:
    """How a night's run differs from the one it is made from."""

    scale: float = 1.0
    op_code: str | None = None  # only this op is scaled
    settings_hash: int | None = None  # of the scaled ops
    gap_us: float = 7.5
    drop: str | None = None  # op that is gone
    label: str | None = None
    build: str | None = None
    clock_mhz: float | None = None
    doubts: str | None = None


def nights(of: RunRows, each: Iterable[Night], *, first: int = 0) -> list[RunRows]:
    """Runs made from one, a day apart."""
    return [_night(of, night, first + day) for day, night in enumerate(each)]


def _night(of: RunRows, night: Night, day: int) -> RunRows:
    key = f"{day:032x}"
    ops = of.ops.assign(run_key=key)
    ops = ops[ops["op_code"] != night.drop]
    scaled = ops["op_code"] == night.op_code if night.op_code else ops["line"] > 0
    ops["kernel_us"] = ops["kernel_us"].where(~scaled, ops["kernel_us"] * night.scale)
    if night.settings_hash is not None:
        ops["settings_hash"] = ops["settings_hash"].where(~scaled, night.settings_hash)
    kernel_us = float(ops.loc[ops["in_window"], "kernel_us"].sum())
    changed = {
        "run_key": key,
        "name": f"night_{day}.csv",
        "label": night.label,
        "recorded_at": START + day * DAY,
        "build": night.build,
        "kernel_us": kernel_us,
        "window_us": kernel_us + night.gap_us,
        "clock_mhz": night.clock_mhz or of.run["clock_mhz"],
        "doubts": night.doubts,
    }
    return RunRows({**of.run, **changed}, ops)


def even(count: int, scale: float = 1.0, **how) -> Sequence[Night]:
    """Nights that differ by a tenth of a percent."""
    return [Night(scale * (1 + 0.001 * (at % 2)), **how) for at in range(count)]
