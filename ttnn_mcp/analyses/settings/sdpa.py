"""Settings of scaled dot product attention: its chunks and its fidelity."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod

from ttnn_mcp.analyses.laws.attention import AttentionDescription
from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.programs.attention import DEFAULT_CHUNK, Attention
from ttnn_mcp.analyses.programs.decode_attention import DecodeAttention
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.settings.compute import accumulates_fp32, grid_of, kernel_flag, tile_bytes
from ttnn_mcp.analyses.settings.held import held_in_l1
from ttnn_mcp.analyses.settings.judges import Judge, JudgedSettings, judges_of_plan
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value, broken_of, per_step_ns
from ttnn_mcp.hardware import DRAM_ALIGNMENT_BYTES, ELEMENT_BYTES, TILE_BYTES, canonical_dtype, filled_up
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical

FIELDS = {"q_chunk_size": "q_chunk", "k_chunk_size": "k_chunk"}
LENGTHS = {"q_chunk_size": "rows", "k_chunk_size": "keys"}
SIZES = (32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 1024)  # tried in practice, and the values between
PLAIN = "ScaledDotProductAttention", "SDPA"  # prefill; ring and joint forms have programs of their own
DECODE = "ScaledDotProductAttentionDecode", "SdpaDecode"
NO_PAGES = "the report does not show its page table"
_MASK = 3  # place of the mask among the inputs
_QKV = 3
_ODD_FORMS = ("head_dim_v", "sliding_window_size", "chunk_start_idx_tensor", "attention_sink")


def attention_in(op: Op) -> Attention | DecodeAttention | str:
    """The attention of the op, or the reason why its buffers are not modelled."""
    name = canonical(op.table.texts("op_code")[0])
    if name not in PLAIN + DECODE or len(op.table.inputs) < _QKV:
        return f"the program of {name} is not modelled"
    if any(op.attributes.text_of(key) for key in _ODD_FORMS) or op.attributes.flag("use_mla"):
        return "sliding windows, sinks and latent attention are not modelled"
    return _decode_in(op) if name in DECODE else _prompt_in(op)


def _prompt_in(op: Op) -> Attention | str:
    """The attention of whole sequences or of a prompt's chunk, or the reason why its buffers are not modelled."""
    sizes = [tile_bytes(op, place) for place in range(_QKV)]
    if None in sizes:
        return "operands of unknown data type"
    q, k, v = op.table.inputs[:_QKV]
    config = op.attributes.struct("program_config")
    grid = worker_grid(op.chip) if config is None else grid_of(config)
    also = len(op.table.inputs) > _MASK and bool(op.table.inputs[_MASK].present[0])
    start = op.attributes.number("chunk_start_idx")
    if grid is None:
        return "its grid is not known"
    if start is not None and not also:
        return NO_PAGES
    masked = also and start is None
    return Attention(
        heads=int(prod(q.padded[0, :2].tolist())),
        rows=int(q.logical[0, 2]),
        keys=int(k.logical[0, 2]) if start is None else int(q.logical[0, 2]) + int(start),
        head=int(q.padded[0, 3]),
        value_head=int(v.padded[0, 3]),
        q_bytes=float(sizes[0] or 0),
        k_bytes=float(sizes[1] or 0),
        v_bytes=float(sizes[2] or 0),
        out_bytes=float(tile_bytes(op, -1) or 0),
        grid=grid,
        device_grid=worker_grid(op.chip),
        q_chunk=(config.number("q_chunk_size") if config else None) or DEFAULT_CHUNK,
        k_chunk=(config.number("k_chunk_size") if config else None) or DEFAULT_CHUNK,
        causal=not masked and op.attributes.flag("is_causal") is not False,
        fp32=accumulates_fp32(op),
        mask_bytes=float(tile_bytes(op, _MASK) or TILE_BYTES["BFLOAT16"]) if masked else 0.0,
        chains=op.chip.arch == "blackhole",
        start=None if start is None else int(start),
        page_bytes=0 if start is None else _words(op, _MASK, 1),
    )


def _decode_in(op: Op) -> DecodeAttention | str:
    """The attention of one token, or the reason why its buffers are not modelled."""
    attributes, inputs = op.attributes, op.table.inputs
    if attributes.flag("is_causal") is False or inputs[0].sharded[0] or inputs[0].layout[0] != "TILE":
        return "attention of one token is modelled only if it is causal and its queries are interleaved tiles"
    sizes = [tile_bytes(op, place) for place in range(_QKV)]
    config = attributes.struct("program_config")
    grid = grid_of(config) or worker_grid(op.chip)
    chunk = attributes.text_of("k_chunk_size") or ""
    if None in sizes or grid is None or not chunk.isdecimal() or not int(chunk):
        return "the report does not print its data types, its grid or its chunk"
    q, k, v = inputs[:_QKV]
    paged = bool(attributes.flag("paged_attention"))
    words = [place for place in range(_QKV, len(inputs)) if inputs[place].present[0]]
    if paged and not words:
        return NO_PAGES
    # positions in a tensor are read twice; a page table comes last
    bytes_of = [_words(op, place, 1 if paged and place == words[-1] else 2) for place in words]
    keys = int(inputs[words[-1]].logical[0, 3]) * int(k.padded[0, 2]) if paged else int(k.padded[0, 2])
    return DecodeAttention(
        batch=max(int(q.logical[0, 1]), 1),
        heads=int(q.logical[0, 2]),
        key_heads=max(int(k.logical[0, 1]), 1),
        keys=keys,
        head=int(k.padded[0, 3]),
        value_head=int(v.padded[0, 3]),
        k_chunk=int(chunk),
        grid=grid,
        device_grid=worker_grid(op.chip),
        q_bytes=float(sizes[0] or 0),
        k_bytes=float(sizes[1] or 0),
        v_bytes=float(sizes[2] or 0),
        out_bytes=float(tile_bytes(op, -1) or 0),
        cores_per_head=(config.number("max_cores_per_head_batch") if config else None) or grid[0] * grid[1],
        half_tiles=canonical_dtype(q.dtype[0]) == "BFLOAT16",
        in_place=bool(op.table.outputs[0].sharded[0]),
        paged=paged,
        words_bytes=sum(bytes_of),
    )


def _words(op: Op, place: int, times: int) -> int:
    """Bytes of a row of positions or of a page table, as rows in DRAM are aligned."""
    aligned = DRAM_ALIGNMENT_BYTES.get(op.chip.arch or "", DRAM_ALIGNMENT_BYTES["wormhole_b0"])
    row = int(op.table.inputs[place].logical[0, 3]) * int(ELEMENT_BYTES["UINT32"])
    return times * filled_up(row, aligned)


@dataclass(frozen=True)
class SdpaSettings(JudgedSettings):
    """The settings of one attention op; `attention` is a text if its chunks cannot be judged: the reason."""

    attention: Attention | DecodeAttention | str

    @property
    def judges(self) -> dict[str, Judge]:
        """The judge of each setting; a single token has no chunks of queries."""
        attention = self.attention
        if isinstance(attention, DecodeAttention):
            chunks = judges_of_plan(self.op, attention, ("k_chunk_size",), self._decode_chunk)
        else:
            chunks = judges_of_plan(self.op, attention, FIELDS, self._chunk)
        return {**chunks, "math_fidelity": self.fidelity}

    def sizes(self, setting: str) -> tuple[Value, ...]:
        """Chunks up to the one that holds all rows."""
        attention = self.attention
        if isinstance(attention, str):
            return ()
        length = getattr(attention, LENGTHS[setting])
        return tuple(size for size in SIZES if size < 2 * length)

    def changed(self, now: Described, setting: str, value: Value) -> Described | None:
        """Other chunks too."""
        if isinstance(now, AttentionDescription) and setting in FIELDS:
            return replace(now, **{FIELDS[setting]: int(value)})
        return super().changed(now, setting, value)

    def _chunk(self, current: Attention, setting: str, value: int) -> Trial:
        field = FIELDS[setting]
        before = getattr(current, field)
        changed = replace(current, **{field: value})
        broken = broken_of(changed.rules())
        if broken:
            return Trial(before, broken)
        length = getattr(changed, LENGTHS[setting])
        held = held_in_l1(self.op)
        uneven = f"; {length} rows are not a multiple of it: padded" if length % value else ""
        return Trial(
            before,
            buffers=changed.buffers,
            tensors=held.tensors,
            unsure_bytes=held.unsure_bytes,
            older_bytes=changed.older_bytes,
            ran=(sum(current.buffers.values()), current.older_bytes),
            change=f"{current.pairs} pairs of chunks per head become {changed.pairs}{uneven}",
            at_most_ns=per_step_ns(self.op, current.pairs, changed.pairs),
            needs="the other fields of SDPAProgramConfig as they are",
            effect=changed != current,
            unknown="" if not kernel_flag(self.op, "dst_full_sync_en") else "dst_full_sync_en is not modelled here",
        )

    def _decode_chunk(self, current: DecodeAttention, _setting: str, value: int) -> Trial:
        if value == 0:  # accepted by 0.81.1
            return Trial(current.k_chunk, unknown="TTNN chooses the chunk for 0, which is not modelled")
        changed = replace(current, k_chunk=value)
        broken = broken_of(changed.rules())
        if broken:
            return Trial(current.k_chunk, broken)
        written = current.output_bytes  # its shard, where the output is sharded
        held = held_in_l1(self.op, {"OUTPUT_0": (written, written)})
        chunks = [ceil(plan.keys / plan.k_chunk / plan.cores_of_a_head) for plan in (current, changed)]
        return Trial(
            current.k_chunk,
            buffers=changed.buffers,
            tensors=held.tensors,
            unsure_bytes=held.unsure_bytes,
            ran=(sum(current.buffers.values()), 0),
            change=f"{chunks[0]} chunks of keys per core become {chunks[1]}",
            at_most_ns=per_step_ns(self.op, *chunks),
            needs="the other fields of SDPAProgramConfig as they are",
            effect=changed != current,
        )
