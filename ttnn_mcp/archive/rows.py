"""The rows that an archive keeps of a run, computed for all ops at once.

An op's attributes have two parts: what it computes, and how it was set up to compute it. Two ops do the same work if
they agree in name, operands and the first part. Only the second part may be tuned, so only it may explain why one is
faster. An attribute that we do not know counts as work: then less is compared, and nothing wrongly.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp import quoting
from ttnn_mcp.analyses.devices.host_gaps import timeline_of
from ttnn_mcp.archive.schema import OPS
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.hardware import canonical_architecture
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.readers.printed.nesting import parse_struct
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import first_rows, numbered
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.texts import Texts
from ttnn_mcp.run.reading_digest import reading_digest

if TYPE_CHECKING:
    import pandas as pd

    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run

LONGEST = 4_000  # characters of settings that are kept; the longest of real ones has under 2,000
_TUNED = re.compile(  # by the ops' attribute structs in tt-metal (ttnn/cpp/ttnn/operations/**/device/*_types.hpp)
    r"program_config|compute_kernel_config|compute_config|block_config|parallelization_config|memory_config|mem_config"
    r"|core_grid|core_coord|worker_grid|sub_core_grids|grid_size|double_buffer|activation_reuse|split_reader"
    r"|full_inner_dim|config_tensors_in_dram|num_links|num_workers|num_buffers|chunks_per_sync|topology|use_multicore"
    r"|fp32_dest_acc|packer_l1|approx|fast_|slice_config|use_noc|num_cores|run_batched|chunk_size|block_w|block_h"
    r"|subblock|persistent|throttle"
)
_PASSING = re.compile(  # differs from call to call, or names a place in one process
    r"address|semaphore|hash|_id$|_idx$|_ids$|trace|global_cb|barrier|path|file|name$|seed|tile$|worker_core"
)
_EMPTY = re.compile(r"\s*(std::nullopt|None|false|\{\}|\[\]|SmallVector\(\[\]\)|)\s*", re.IGNORECASE)
_PATH = re.compile(r"[/\\]|(?<!:):(?!:)")  # a slash, or the colon of a drive; C++ has two colons
_UNSET = re.compile(r"\b[A-Za-z_]\w*=std::nullopt;?")  # \b: a long word is searched once, not from each letter
_SCOPE = re.compile(r"\b[A-Za-z_]\w*::")
_FLAGS = {"1": "true", "true": "true", "True": "true"}
_FLAG_NAMES = re.compile(r"^(is_|has_|use_|enable_|transpose_|untilize|bcast_batch|user_run_batched|bfp8)")
NAME_CHARS = 120  # of an op: real ones have up to 60
_STAMP = re.compile(r"(20\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)")
_ODD = re.compile(r"[^\w:<>,. ()-]")  # op names of TTNN have none of them; a path would


class RunRows(NamedTuple):
    """What an archive keeps of a run.

    Attributes:
        run: the row of the table `runs`.
        ops: the rows of the table `ops`.
    """

    run: dict[str, object]
    ops: pd.DataFrame


class Provenance(NamedTuple):
    """What a person says of where a run comes from; None for what nobody says."""

    label: str | None = None
    build: str | None = None
    commit: str | None = None


def run_key_of(run: Run) -> str:
    """The run's key in an archive: from the contents of its performance report.

    Raises:
        ReportMissing: the report is gone.
        QuestionRefused: the run has no performance report.
    """
    return fingerprint(run.performance_report.csv.path)


def rows_of(
    run: Run, provenance: Provenance | None = None, *, run_key: str | None = None, modified: float | None = None
) -> RunRows:
    """The rows of a run.

    Args:
        run: the run.
        provenance: what a person says of it.
        run_key: its key where that is known.
        modified: when its report was written, in seconds since 1970, where its file is a copy.

    Raises:
        QuestionRefused: the run has no device times.
        ReportMissing: its report is gone.
    """
    report, provenance = run.performance_report, provenance or Provenance()
    key = run_key or fingerprint(report.csv.path)
    scope = run.scope()
    ops = report.ops
    inside = np.isin(ops.lines, scope.ops.lines)
    clock_here = dict(report.clocks_apart).get(scope.critical_device, report.clock_ghz)
    timeline = timeline_of(scope.critical, clock_here)
    clock = run.chip.clock_ghz
    row: dict[str, object] = {
        "run_key": key,
        "name": quoting.line(report.csv.path.name),
        "label": provenance.label,
        "recorded_at": recorded_at(report.csv.path.name, modified or report.csv.path.stat().st_mtime),
        "arch": run.chip.arch,
        "clock_mhz": round(clock * 1e3, 3) if clock else None,
        "devices": len(report.devices),
        "build": provenance.build or (run.memory.build if run.memory else None),
        "commit": provenance.commit,
        "csv_generation": report.csv.generation,
        "window_us": timeline.wall_ns / 1e3,
        "kernel_us": timeline.kernel_ns / 1e3,
        "ops": len(ops),
        "window_ops": int(inside.sum()),
        "warm": scope.window.warm,
        "traced": report.traced,
        "reading": reading_digest(),
        "doubts": scope.times_in_doubt or None,
    }
    return RunRows(row, _op_rows(ops, run.chip.arch, key, inside))


def recorded_at(file_name: str, modified: float) -> int:
    """When the report was written, in seconds since 1970: from its name, which survives copying, else its file."""
    stamp = _STAMP.search(file_name)
    if stamp:
        try:
            return int(datetime.strptime("_".join(stamp.groups()), "%Y_%m_%d_%H_%M_%S").timestamp())  # noqa: DTZ007 - local time
        except (ValueError, OverflowError, OSError):
            pass
    return int(modified)


def _op_rows(ops: OpTable, arch: str | None, key: str, inside: Booleans) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - loaded with the report whose rows these are

    kinds = Kinds(ops, arch)
    columns: dict[str, object] = {
        "run_key": _categorical(Texts(np.zeros(len(ops), dtype=np.int64), (key,))),
        "line": ops.lines,
        "device": ops.numbers("device").astype(np.int32),
        "op_code": _categorical(kinds.codes),
        "signature": kinds.signature,
        "operands": _categorical(kinds.operands),
        "settings": _categorical(kinds.settings),
        "settings_hash": kinds.settings_hash,
        "fidelity": _categorical(kinds.fidelity),
        "cores": pd.array(ops.numbers("cores"), dtype="Float64"),
        "kernel_us": ops.numbers("kernel_ns") / 1e3,
        "in_window": inside,
    }
    return pd.DataFrame({column.name: columns[column.name] for column in OPS})


class Kinds:
    """What many ops share, computed once per kind."""

    def __init__(self, ops: OpTable, arch: str | None) -> None:
        attributes = ops.texts("attributes")
        self.codes = ops.texts("op_code").folded(op_name)
        self.fidelity = ops.texts("fidelity").folded(lambda text: _ODD.sub("", text)[:NAME_CHARS])
        parts = [op_settings(text) for text in attributes.distinct]
        by_code = [*parts, WorkAndSettings("{}", "")]
        tuned = Texts(attributes.codes, tuple(part.tuned for part in parts)).folded(str)
        self.settings = tuned
        kinds = numbered(len(ops), [signatures(ops), attributes.codes])
        firsts = first_rows(kinds)
        described = ops.take(firsts)
        operands = [_operands(described, row) for row in range(len(firsts))]
        self.operands = Texts(kinds, tuple(operands)).folded(str)
        chip = canonical_architecture(arch) if arch else None
        work = [
            "\n".join((chip or arch or "", self.codes[row], by_code[attributes.codes[row]].work, operands[place]))
            for place, row in enumerate(firsts.tolist())
        ]
        self.signature = hashes(work)[kinds]
        setting = numbered(len(ops), [tuned.codes, self.fidelity.codes])
        texts = [f"{tuned[row]}\n{self.fidelity[row]}" for row in first_rows(setting).tolist()]
        self.settings_hash = hashes(texts)[setting]


def op_name(code: str) -> str:
    """The op's canonical name, with no character that a path has."""
    return _ODD.sub("", canonical(code))[:NAME_CHARS] or "unnamed"


def hashes(texts: Sequence[str]) -> Integers:
    """A 64-bit hash per text, the same on every machine and in every version."""
    digests = b"".join(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<i8").astype(np.int64)


def _operands(ops: OpTable, row: int) -> str:
    """`32x1024[...] BFLOAT16 TILE L1_INTERLEAVED * ... -> ...`; cleaned, as cells are text of the report."""
    sides = [
        " * ".join(
            " ".join((operand.shape_text(row), operand.dtype[row], operand.layout[row], operand.placement[row]))
            for operand in side
            if operand.present[row]
        )
        for side in (ops.inputs, ops.outputs)
    ]
    return re.sub(r"[^\w\[\] *>-]", "", " -> ".join(sides))


def _categorical(texts: Texts) -> pd.Categorical:
    """The texts as DuckDB reads them: each distinct one once; an empty one is NULL."""
    import pandas as pd  # noqa: PLC0415

    place = {text: number for number, text in enumerate(text for text in texts.distinct if text)}
    codes = np.array([*(place.get(text, -1) for text in texts.distinct), -1], dtype=np.int64)[texts.codes]
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(place), dtype="object"))


class WorkAndSettings(NamedTuple):
    """The parts of an ATTRIBUTES cell.

    Attributes:
        work: what decides what is computed, as JSON.
        tuned: what may be tuned, as JSON; "" without.
    """

    work: str
    tuned: str


def op_settings(cell: str) -> WorkAndSettings:
    """The parts of one ATTRIBUTES cell. Values that could hold a path are left out of both."""
    work: dict[str, str] = {}
    tuned: dict[str, str] = {}
    for key, text in parse_attributes(cell).items():
        if _PASSING.search(key) or _PATH.search(text):
            continue
        value = _short(key, text)
        if value:
            (tuned if _TUNED.search(key) else work)[key] = value
    return WorkAndSettings(_written(work), _written(tuned) if tuned else "")


def _short(key: str, text: str) -> str:
    """The value without what was not set and without C++ scopes: builds print these differently."""
    if "MemoryConfig(" in text:  # buffer and layout are known of each operand: only the shards are left to tell
        config = parse_struct(text)
        text = config.fields.get("shard_spec", "") if config else ""
    if _EMPTY.fullmatch(text):
        text = ""
    if _FLAG_NAMES.match(key):
        return "" if text.strip() == "0" else _FLAGS.get(text.strip(), text.strip())
    return _SCOPE.sub("", _UNSET.sub("", text)).replace(";)", ")").strip()


def _written(parts: dict[str, str]) -> str:
    return json.dumps(dict(sorted(parts.items())), separators=(",", ":"), ensure_ascii=True)[:LONGEST]
