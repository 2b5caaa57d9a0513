"""Runs of one small model in an archive: what differs between them is known."""

from collections.abc import Iterable
from pathlib import Path

from tests.checks.matmul_programs import config, linear
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.archive.rows import Provenance, rows_of
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.session.session import Session

WARM = (Iteration(cold=True), Iteration(), Iteration())
OP = 18  # a matmul's line in the warm window


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


async def archived(at: Session, reports: Iterable[tuple[Path, Provenance]] | Iterable[Path]) -> Archive:
    """The session's archive with these reports in it."""
    archive = at.archive
    assert archive is not None
    for each in reports:
        path, provenance = each if isinstance(each, tuple) else (each, Provenance())
        archive.add([rows_of(await at.run(str(path)), provenance)])
    return archive
