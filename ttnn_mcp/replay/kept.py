"""Results of replays as they are kept in the state folder, one file per script: for the answers that cite them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ttnn_mcp.errors import StoreUnusable, shown, shown_path
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ttnn_mcp.replay.results import Results, TriedCandidate
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run

KEPT_AT_MOST = 2_000  # files; the oldest go first
QUOTED = 2


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

    def of(self, signature: str) -> Iterator[Results]:
        """Those of an op with this work, whatever its settings."""
        from ttnn_mcp.replay.results import read_results  # noqa: PLC0415 - with the first citation

        for path in sorted(self.folder.glob(f"{signature}-*.json")):
            with suppress(Exception):  # another version's, or damaged: it is a citation less
                yield read_results(path)


def signature_of(op: OpTable, arch: str | None) -> tuple[str, str]:
    """The work of an op in a table of its row only, and how it was set."""
    from ttnn_mcp.archive.rows import Kinds  # noqa: PLC0415 - likewise

    kinds = Kinds(op, arch)
    work, tuned = (int(one[0]) & (1 << 64) - 1 for one in (kinds.signature, kinds.settings_hash))
    return f"{work:016x}", f"{tuned:016x}"


def cited(run: Run, op: OpTable, asked: Mapping[str, object] | None = None) -> str:
    """What replays of an op measured, in words: with these settings, or the best; empty where none did."""
    replays = run.kept.get(Replays)
    if replays is None or not replays.folder.is_dir():
        return ""
    from ttnn_mcp.replay.results import judged  # noqa: PLC0415 - likewise

    sentences: list[str] = []
    for results in replays.of(signature_of(op, run.chip.arch)[0]):
        if results.mode != "measured" or results.clock_ghz != run.chip.clock_ghz:
            continue
        for one, verdict, noise in judged(results).verdicts[1:]:
            if verdict in ("faster", "alike", "slower") and (asked is None or _is_asked(one, asked)):
                times = f"{one.median_us:.2f} us, {results.baseline.median_us:.2f} as profiled, noise {noise:.1%}"
                sentences.append(f"{verdict} alone: {shown(one.name)} {times} (TTNN {shown(results.ttnn or '?')})")
    return "; ".join(sorted(sentences, key=lambda text: not text.startswith("faster"))[:QUOTED])


def _is_asked(one: TriedCandidate, asked: Mapping[str, object]) -> bool:
    return {name: value for name, value in one.settings.items() if name != "own_config"} == asked
