"""Settings of scaled dot product attention: its chunks and its fidelity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from ttnn_mcp.analyses.op_kinds.grids import worker_grid
from ttnn_mcp.analyses.settings.compute import (
    FIDELITIES,
    accumulates_fp32,
    kernel_flag,
    math_fidelity,
    operands_in_l1,
    tile_bytes,
)
from ttnn_mcp.analyses.settings.sdpa_plan import DEFAULT_CHUNK, Attention
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value, broken_of, per_step_ns
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.printed.nesting import parse_struct
from ttnn_mcp.run.ops.op_names import canonical

FIELDS = {"q_chunk_size": "q_chunk", "k_chunk_size": "k_chunk"}
SIZES = (32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 1024)  # tried in practice, and what lies between
PLAIN = "ScaledDotProductAttention", "SDPA"  # prefill; decode, ring and joint forms have programs of their own
_MASK = 3  # place of the mask among the inputs
_QKV = 3
_ODD_FORMS = ("chunk_start_idx", "head_dim_v", "sliding_window_size", "chunk_start_idx_tensor", "attention_sink")


def attention_in(op: Op) -> Attention | str:
    """The attention of the op, or the reason why its buffers are not modelled."""
    name = canonical(op.table.texts("op_code")[0])
    if name not in PLAIN or len(op.table.inputs) < _QKV:
        return f"the program of {name} is not modelled"
    if any(op.attributes.text_of(key) for key in _ODD_FORMS) or op.attributes.flag("use_mla"):
        return "chunked prefill, sliding windows, sinks and latent attention are not modelled"
    sizes = [tile_bytes(op, place) for place in range(_QKV)]
    if None in sizes:
        return "operands of unknown data type"
    q, k, v = op.table.inputs[:_QKV]
    config = op.attributes.struct("program_config")
    grid = parse_struct(config.fields.get("compute_with_storage_grid_size", "")) if config else None
    x, y = (grid.number("x") or 0, grid.number("y") or 0) if grid else worker_grid(op.chip) or (0, 0)
    if not x or not y:
        return "its grid is not known"
    masked = len(op.table.inputs) > _MASK and bool(op.table.inputs[_MASK].present[0])
    return Attention(
        heads=int(prod(q.padded[0, :2].tolist())),
        rows=int(q.logical[0, 2]),
        keys=int(k.logical[0, 2]),
        head=int(q.padded[0, 3]),
        value_head=int(v.padded[0, 3]),
        q_bytes=float(sizes[0] or 0),
        k_bytes=float(sizes[1] or 0),
        v_bytes=float(sizes[2] or 0),
        out_bytes=float(tile_bytes(op, -1) or 0),
        grid=(x, y),
        device_grid=worker_grid(op.chip),
        q_chunk=(config.number("q_chunk_size") if config else None) or DEFAULT_CHUNK,
        k_chunk=(config.number("k_chunk_size") if config else None) or DEFAULT_CHUNK,
        causal=op.attributes.flag("is_causal") is not False,
        fp32=accumulates_fp32(op),
        mask_bytes=float(tile_bytes(op, _MASK) or TILE_BYTES["BFLOAT16"]) if masked else 0.0,
        chains=op.chip.arch == "blackhole",
    )


@dataclass(frozen=True)
class SdpaSettings:
    """The settings of one attention op; `attention` is a text if its chunks cannot be judged: the reason."""

    op: Op
    attention: Attention | str

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the settings."""
        return *FIELDS, "math_fidelity"

    def choices(self, setting: str) -> tuple[Value, ...]:
        """The values worth a trial."""
        if setting == "math_fidelity":
            return FIDELITIES
        attention = self.attention
        if isinstance(attention, str):
            return ()
        length = attention.rows if setting == "q_chunk_size" else attention.keys
        return tuple(size for size in SIZES if size < 2 * length)

    def tried(self, setting: str, value: Value) -> Trial:
        """The trial of one value."""
        if setting == "math_fidelity":
            return math_fidelity(self.op, str(value))
        current = self.attention
        if isinstance(current, str):
            return Trial(None, unknown=current)
        field = FIELDS[setting]
        before = getattr(current, field)
        changed = replace(current, **{field: int(value)})
        broken = broken_of(changed.rules())
        if broken:
            return Trial(before, broken)
        length = changed.rows if setting == "q_chunk_size" else changed.keys
        uneven = f"; {length} rows are no multiple of it: padded" if length % int(value) else ""
        return Trial(
            before,
            buffers=changed.buffers,
            tensors=operands_in_l1(self.op),
            older_bytes=changed.older_bytes,
            change=f"{current.pairs} pairs of chunks per head become {changed.pairs}{uneven}",
            at_most_ns=per_step_ns(self.op, current.pairs, changed.pairs),
            needs="the other fields of SDPAProgramConfig as they are",
            effect=changed != current,
            unknown="" if not kernel_flag(self.op, "dst_full_sync_en") else "dst_full_sync_en is not modelled here",
        )
