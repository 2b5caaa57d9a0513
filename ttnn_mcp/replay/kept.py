"""Results of replays as they are kept in the state folder, one file per script: for the answers that cite them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.errors import StoreUnusable, shown, shown_path
from ttnn_mcp.readers.manifest import manifest_beside
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ttnn_mcp.analyses.laws.law import Expected
    from ttnn_mcp.archive.memory_of_ops import Remembered
    from ttnn_mcp.archive.precedents import Precedent
    from ttnn_mcp.arrays import Integers
    from ttnn_mcp.replay.results import Results, TriedCandidate
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run

KEPT_AT_MOST = 2_000  # files; the oldest go first
QUOTED = 2
FLAGS = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")  # of a compute kernel config
MEASURED_HERE = "measured here"  # stands where a law is named


@dataclass(frozen=True)
class Replays:
    """What a session has of replays; each of its runs has it among what is kept.

    Attributes:
        folder: where results and scripts lie.
        python: the Python with TTNN that was named.
        confined: whether callers are not trusted with this machine (HTTP).
    """

    folder: Path
    python: Path | None = None
    confined: bool = False

    def keep(self, results: Results) -> Path:
        """Keep them; those of the same op with the same settings, chip and TTNN are replaced.

        Raises:
            StoreUnusable: the folder cannot be written.
        """
        bound = f"{results.signature}-{results.tuned}-{''.join(one for one in results.ttnn if one.isalnum())[:20]}"
        target = self.folder / f"{bound}.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part = target.with_suffix(".part")
            part.write_text(results.model_dump_json(), encoding="utf-8")
            part.replace(target)
            for old in sorted(self.folder.glob("*.json"), key=lambda one: one.stat().st_mtime)[:-KEPT_AT_MOST]:
                old.unlink(missing_ok=True)
        except OSError as failed:
            raise StoreUnusable(
                f"The results cannot be kept in {shown_path(self.folder)} ({failed.strerror})."
            ) from None
        return target

    def of(self, signature: str) -> Iterator[tuple[str, Results]]:
        """Those of an op with this work, whatever its settings, and the names of their files."""
        from ttnn_mcp.replay.results import read_results  # noqa: PLC0415 - with the first citation

        for path in sorted(self.folder.glob(f"{signature}-*.json")):
            with suppress(Exception):  # another version's, or damaged: it is a citation less
                yield path.name, read_results(path)


class _Tried(NamedTuple):
    """A candidate that was compared with the op as profiled; `noise` is the share by which it was judged."""

    file: str
    results: Results
    place: int
    one: TriedCandidate
    verdict: str
    noise: float

    @property
    def settings(self) -> dict[str, object]:
        """What it sets."""
        return {name: value for name, value in self.one.settings.items() if name != "own_config"}

    @property
    def share(self) -> float:
        """Its time as a share of that of the op as profiled."""
        return (self.one.median_us or 0.0) / (self.results.baseline.median_us or 1.0)


def signature_of(op: OpTable, arch: str | None) -> tuple[str, str]:
    """The work of an op in a table of its row only, and how it was set."""
    return _signatures(op, arch)[0]


def _signatures(ops: OpTable, arch: str | None) -> list[tuple[str, str]]:
    from ttnn_mcp.archive.rows import Kinds  # noqa: PLC0415 - the same

    kinds = Kinds(ops, arch)
    columns = (
        [f"{one & (1 << 64) - 1:016x}" for one in each.tolist()] for each in (kinds.signature, kinds.settings_hash)
    )
    return list(zip(*columns, strict=True))


def cited(run: Run, op: OpTable, asked: Mapping[str, object] | None = None) -> str:
    """What replays of an op measured, in words: with these settings, or the best; empty where none did."""
    known = [tried for tried in _compared(run, op) if asked is None or tried.settings == asked]
    sentences: list[str] = []
    for tried in sorted(known, key=lambda one: one.share)[:QUOTED]:
        base, ttnn = tried.results.baseline.median_us, shown(tried.results.ttnn or "?")
        times = f"{tried.one.median_us:.2f} us, {base:.2f} as profiled, noise {tried.noise:.1%}"
        sentences.append(f"{tried.verdict} alone: {shown(tried.one.name)} {times} (TTNN {ttnn})")
    return "; ".join(sentences)


def measured_here(run: Run, op: OpTable, us: float | None, asked: Mapping[str, object]) -> Expected | None:
    """The time to expect of an op that took `us`, with settings that a replay of it measured beside its own.

    Of a memory report, which has no times, what the op takes alone.
    """
    from ttnn_mcp.analyses.laws.law import Expected  # noqa: PLC0415 - the same

    for tried in _of_its_settings(run, op):
        if tried.settings == asked:
            likely, noise = (us or tried.results.baseline.median_us or 0.0) * tried.share, tried.noise
            source = f"a replay on this chip (TTNN {shown(tried.results.ttnn or '?')})"
            return Expected(likely, likely * (1 - noise), likely * (1 + noise), MEASURED_HERE, source)
    return None


def has_replays(run: Run) -> bool:
    """Whether there may be results of any op."""
    replays = run.kept.get(Replays)
    return replays is not None and any(replays.folder.glob("*.json"))


def tried_alone(run: Run, ops: OpTable, lines: Integers) -> dict[int, Remembered]:
    """What replays of the ops at some lines measured, as if earlier runs had: in proportion to what each op took."""
    from ttnn_mcp.archive.memory_of_ops import Remembered  # noqa: PLC0415 - the same
    from ttnn_mcp.archive.precedents import Timing  # noqa: PLC0415 - the same

    if not has_replays(run):
        return {}
    import numpy as np  # noqa: PLC0415 - the session names this module before it reads anything

    part = ops.take(np.flatnonzero(np.isin(ops.lines, lines)))
    works, kernel_us = _signatures(part, run.chip.arch), (part.numbers("kernel_ns") / 1e3).tolist()
    known = {
        work: sorted(_of_its_settings(run, part.take(np.array([place]))), key=lambda tried: tried.share)
        for work, place in {work: place for place, work in enumerate(works)}.items()
    }
    return {
        line: Remembered(Timing(1, us, 0.0), tuple(_precedent(tried, us) for tried in known[work]))
        for line, work, us in zip(part.lines.tolist(), works, kernel_us, strict=True)
    }


def _precedent(tried: _Tried, us: float) -> Precedent:
    from ttnn_mcp.archive.precedents import Earlier, Precedent, Timing  # noqa: PLC0415 - the same
    from ttnn_mcp.archive.settings_apart import FIDELITY, WEIGHTS, Apart, Setup  # noqa: PLC0415 - the same

    of_kernel = {FIDELITY: FIDELITY, WEIGHTS: WEIGHTS, **dict.fromkeys(FLAGS, "compute_kernel_config")}
    config = "conv_config" if tried.results.op == "Conv2d" else "program_config"
    differences = [Apart(name, of_kernel.get(name, config), str(value)) for name, value in tried.settings.items()]
    cell = (f"candidates[{tried.place}].median_us", tried.one.median_us or 0.0)
    timing = Timing(1, us * tried.share, tried.noise)
    earlier = Earlier(
        Setup(None, None), int(tried.results.tuned, 16), timing, 1, tried.file, tried.results.line, cell
    )
    return Precedent(earlier, tuple(differences), tried.noise, tried.share - 1)


def _compared(run: Run, op: OpTable) -> Iterator[_Tried]:
    """What replays of an op at this chip's clock measured beside it as profiled."""
    replays = run.kept.get(Replays)
    if replays is None:
        return
    from ttnn_mcp.replay.results import judged  # noqa: PLC0415 - the same

    made = manifest_beside(run.performance_report.csv.path if run.performance else run.memory_report.path)
    build = made.build if made else None
    for file, results in replays.of(signature_of(op, run.chip.arch)[0]):
        same_build = not build or f"ttnn {results.ttnn} " in f"{build} "
        if results.mode == "measured" and results.clock_ghz == run.chip.clock_ghz and same_build:
            for place, (one, verdict, noise) in enumerate(judged(results).verdicts):
                if place and noise is not None:  # then it was compared
                    yield _Tried(file, results, place, one, verdict, noise)


def _of_its_settings(run: Run, op: OpTable) -> Iterator[_Tried]:
    """The same, measured beside the op with the settings that it has in this run."""
    _, tuned = signature_of(op, run.chip.arch)
    return (tried for tried in _compared(run, op) if tried.results.tuned == tuned)
