"""Measured rows as descriptions: what `measurements/*.csv` tell, in the words of the laws."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from functools import cache
from math import ceil, prod
from typing import TYPE_CHECKING

from generate.layout import ROOT
from ttnn_mcp.analyses.laws.attention import AttentionDescription
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription, as_chosen
from ttnn_mcp.analyses.laws.moves import MoveDescription
from ttnn_mcp.analyses.laws.others import CollectiveDescription, ElementwiseDescription, NormDescription
from ttnn_mcp.hardware import ARCHITECTURES, TILE_SIDE, dram_peak_gb_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ttnn_mcp.analyses.laws.descriptions import Described

MEASUREMENTS = ROOT / "measurements"
PORT = re.compile(
    r"/(?:blob|tree)/[^/]+/((?:models/(?:demos/(?:blackhole|wormhole|vision|multimodal)/)?[^/]+/)?[^/]+)"
)
FORMATS = {
    "bf16": "BFLOAT16",
    "bfp8": "BFLOAT8_B",
    "bfp4": "BFLOAT4_B",
    "fp32": "FLOAT32",
    "int32": "INT32",
    "uint32": "UINT32",
    "uint16": "UINT16",
    "uint8": "UINT8",
}
# What a basis has beyond the kernel, in us: the middles of the ranges that measurements/README.md gives.
BEYOND_US = {"kernel": 0.0, "derived": 0.0, "fw": 1.0, "traced_wall": 2.0, "queued_wall": 2.0}
SHARE_AT_MOST = 0.2  # rows whose basis may add more than that to the kernel are left out (ours)
CORES = {"wormhole_b0": 64, "blackhole": 110}  # at work where the row does not tell: all, of the usual cards
PROGRAMS = {
    "1d": "1D",
    "2d": "2D",
    "dram_sharded": "DRAM_SHARDED",
    "minimal": "MINIMAL",
    "sparse": "SPARSE",
    "auto": "AUTO",
}
# Words in notes of rows that are not of the op as it is today, or as its default is.
OTHER_KERNELS = (
    "old build",
    "oldest version",
    "older build",
    "(flag",
    "chains",
    "tree merge",
    "of the branch",
    "branch of",
    "is in it",
    "no program config",
    "at most 8 cores per head group",
)


@dataclass(frozen=True)
class Measured:
    """One measured row.

    Attributes:
        us: kernel time: what its basis has beyond is taken off.
        source: key of the source, with the model behind a slash.
        shape: rows with equal texts are left out together.
    """

    op: Described
    us: float
    source: str
    shape: str

    @property
    def model(self) -> str:
        """The port of a model that the source is about, or the source: its rows are left out together, too."""
        key, slash, model = self.source.partition("/")
        return f"{ports().get(key, key)}{slash}{model}"


@cache
def ports() -> dict[str, str]:
    """By key of a source what its link is about."""
    with (MEASUREMENTS / "sources.csv").open(encoding="utf-8", newline="") as lines:
        return {row["key"]: port(row["link"]) for row in csv.DictReader(lines)}


def port(link: str) -> str:
    """The folder of a model's port, whichever fork and commit of the repository the link names."""
    named = PORT.search(link)
    return named.group(1) if named else link


def measured() -> Iterator[Measured]:
    """All rows that a law may be fitted to."""
    for name, described in READERS.items():
        for row, us in usable_rows(name):
            op = described(row)
            if op is not None:
                yield Measured(replace(op, card_gb_s=card_gb_s(row)), us, row["source"], shape_of(row))


def card_gb_s(row: dict[str, str]) -> float | None:
    """The peak of the card's DRAM where it is less than that of the chip."""
    peak = dram_peak_gb_s(row["chip"], product=row["board"])
    most = ARCHITECTURES[row["chip"]].dram_peak_gb_s
    return peak.at_most_gb_s if peak is not None and peak.at_most_gb_s < most else None


def usable_rows(name: str) -> Iterator[tuple[dict[str, str], float]]:
    """The rows of a file that tell a kernel time of today's op, with that time in us."""
    with (MEASUREMENTS / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            us = float(row["us"] or 0) - BEYOND_US[row["basis"]]
            of_kernel = row["status"] in ("ok", "slower") and BEYOND_US[row["basis"]] <= SHARE_AT_MOST * us
            if of_kernel and not any(words in row["note"] for words in OTHER_KERNELS):
                yield row, us


def shape_of(row: dict[str, str]) -> str:
    """What rows of one shape share; a sharded norm is what it is by the block of a core."""
    names = (
        "op",
        "b",
        "m",
        "k",
        "n",
        "sq",
        "sk",
        "q_heads",
        "rows",
        "width",
        "shape",
        "elements",
        "bytes_per_device",
    )
    block = row.get("grid", "") if "sharded" in row.get("in_place", "") else ""
    return " ".join(row[name] for name in names if row.get(name)) + block


def whole(row: dict[str, str], name: str) -> int | None:
    text = row.get(name, "")
    return int(float(text)) if text else None


def grid(row: dict[str, str]) -> tuple[int, int] | None:
    x, _, y = row.get("grid", "").partition("x")
    return (int(x), int(y)) if y else None


def cores(row: dict[str, str]) -> int | None:
    return whole(row, "cores") or (None if grid(row) else CORES[row["chip"]])


def dtype(row: dict[str, str], name: str) -> str:
    return FORMATS.get(row.get(name, ""), "")


def place(row: dict[str, str], *names: str) -> str:
    """The first placement that is told."""
    return next((row[name].upper() for name in names if row[name]), "")


def is_set(row: dict[str, str], name: str) -> bool:
    return row[name] in ("1", "1.0")


def matmul(row: dict[str, str]) -> MatmulDescription | None:
    if row["op"] not in ("Matmul", "MinimalMatmul", "SparseMatmul") or row["devices"] != "1":
        return None
    program = PROGRAMS.get(row["program"] or "auto", "")
    asked = MatmulDescription(
        chip=row["chip"],
        cores=None if program == "DRAM_SHARDED" else whole(row, "cores"),  # there they count what holds the input
        grid=grid(row),
        fidelity=row["fidelity"],
        rows=whole(row, "m") or 0,
        k=whole(row, "k") or 0,
        n=whole(row, "n") or 0,
        batch=whole(row, "b") or 1,
        in0_dtype=dtype(row, "in0_dtype"),
        in1_dtype=dtype(row, "in1_dtype"),
        out_dtype=dtype(row, "out_dtype") or dtype(row, "in0_dtype"),
        in0_place=place(row, "in0_place"),
        in1_place=place(row, "in1_place"),
        out_place=place(row, "out_place"),
        program=program,
        block_w=whole(row, "in0_block_w"),
        per_core_m=whole(row, "per_core_m"),
        per_core_n=whole(row, "per_core_n"),
        subblock_w=whole(row, "subblock_w") if program == "SPARSE" else None,
        fused=row["activation"],
        active=(active := float(whole(row, "experts_active") or 1)),
        slots=active + (whole(row, "experts_in_vain") or 0),
    )
    return as_chosen(asked)


def attention(row: dict[str, str]) -> AttentionDescription | None:
    if row["mode"] not in ("prefill", "decode") or row["d_v"] or not row["sk"] or "mask" in row["note"]:
        return None
    in_window, behind_others = row["window"] and int(row["window"]) < int(row["sk"]), row["sq"] != row["sk"]
    if (
        in_window
        or "Windowed" in row["op"]
        or (row["mode"] == "prefill" and is_set(row, "causal") and behind_others)
    ):
        return None
    return AttentionDescription(
        chip=row["chip"],
        cores=cores(row),
        grid=grid(row),
        fidelity=row["fidelity"],
        mode=row["mode"],
        batch=whole(row, "b") or 1,
        heads=whole(row, "q_heads") or 1,
        kv_heads=whole(row, "kv_heads") or 1,
        queries=whole(row, "sq") or 1,
        keys=whole(row, "sk") or 0,
        head_size=whole(row, "d") or 0,
        causal=is_set(row, "causal"),
        q_chunk=whole(row, "q_chunk"),
        k_chunk=whole(row, "k_chunk"),
        kv_dtype=dtype(row, "kv_dtype"),
    )


def norm(row: dict[str, str]) -> NormDescription | None:
    if row["kind"] not in ("layer", "rms"):
        return None
    rows, width = whole(row, "rows") or 0, whole(row, "width") or 0
    shards = grid(row) if "block_sharded" in row["in_place"] else None
    return NormDescription(
        chip=row["chip"],
        cores=cores(row),
        rows=rows,
        width=width,
        dtype=dtype(row, "dtype"),
        in_place=place(row, "in_place"),
        out_place=place(row, "out_place", "in_place"),
        block_h=ceil(rows / TILE_SIDE / shards[1]) if shards else None,
        block_w=ceil(width / TILE_SIDE / shards[0]) if shards else None,
        residual=is_set(row, "residual"),
    )


def dims(row: dict[str, str]) -> list[int]:
    return [int(each) for each in row["shape"].split("x") if each.isdigit()]


def elementwise(row: dict[str, str]) -> ElementwiseDescription:
    *outer, height, width = (1, 1, *dims(row))
    shaped = prod(outer) * ceil(height / TILE_SIDE) * ceil(width / TILE_SIDE)
    return ElementwiseDescription(
        chip=row["chip"],
        cores=cores(row),
        kind=row["kind"],
        tiles=shaped if row["shape"] else (whole(row, "elements") or 0) // TILE_SIDE**2,
        inputs=2 if row["op"] in ("BinaryNg", "Binary") and not row["broadcast"] else 1,
        dtype=dtype(row, "dtype"),
        out_dtype=dtype(row, "out_dtype"),
        in_place=place(row, "in_place"),
        out_place=place(row, "out_place", "in_place"),
        fused=row["activation"],
    )


MOVE_KINDS = {"i2s": "to_shards", "s2i": "from_shards"}
KINDS = ("clone", "typecast", "tilize", "untilize", "to_shards", "from_shards")


def move(row: dict[str, str]) -> MoveDescription | None:
    *outer, height, width = (1, 1, *dims(row))
    tiled = "tile" in (row["from_layout"], row["to_layout"])
    side = TILE_SIDE if tiled else 1
    padded = (ceil(height / side) * side, ceil(width / side) * side)
    kind = MOVE_KINDS.get(row["kind"], row["kind"])
    if kind not in KINDS:
        return None
    return MoveDescription(
        chip=row["chip"],
        cores=cores(row),
        kind=kind,
        rows=prod(outer) * padded[0],
        width=padded[1],
        dtype=dtype(row, "dtype"),
        out_dtype=dtype(row, "out_dtype"),
        from_place=place(row, "from_place", "to_place"),
        to_place=place(row, "to_place") or ("L1" if kind == "to_shards" else place(row, "from_place")),
        ragged=padded != (height, width),
    )


def collective(row: dict[str, str]) -> CollectiveDescription:
    return CollectiveDescription(
        chip=row["chip"],
        kind=row["kind"],
        devices=whole(row, "devices") or 1,
        size=float(row["bytes_per_device"] or 0),
        links=whole(row, "links"),
        topology=row["topology"],
    )


READERS: dict[str, Callable[[dict[str, str]], Described | None]] = {
    "matmul": matmul,
    "attention": attention,
    "norms": norm,
    "elementwise": elementwise,
    "layouts": move,
    "collectives": collective,
}
