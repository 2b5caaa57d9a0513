"""The cells of one row of a performance report, in any header generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .csv_header import generation_number, operand_columns
from .text import attributes_text
from .timeline import FW_LEAD_NS, FW_TAIL_NS, program_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .model import DeviceOp, Tensor
    from .program import Program
    from .timeline import Row

ERA_OF = {"C1": "2024", "C2": "2025", "C3": "2025", "C4": "2025-09", "C5": "2026", "C6": "2026", "C7": "2026-09"}
RISCS = ("BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2")


@dataclass(frozen=True)
class CsvStyle:
    """What varies between writers. Real files: CRLF, no quotes, integers, empty cells, packed call counts."""

    line_ending: str = "\r\n"
    quoting: str = "none"  # none, all
    float_numbers: bool = False  # 64 -> 64.0, as a table saved again by another program has it
    blank: str = ""  # some write "-"
    call_counts: str | None = None  # packed: (id << 10) | device; plain: a counter; None: as of the generation
    cache_hits: bool = False  # as with --no-op-info-cache; else PROGRAM CACHE HIT is False on every row
    counters: bool = False  # SFPU/FPU/MATH Util columns


STYLE = CsvStyle()


def _number_or_name(tensor: Tensor, axis: int, *, padded_and_logical: bool) -> str:
    def four(shape: Sequence[int]) -> list[int]:
        ones = (1, 1, 1, 1, *shape)
        head = 1
        for n in shape[:-3]:
            head *= n
        return [head, *ones[-3:]]

    padded, logical = four(tensor.padded)[axis], four(tensor.shape)[axis]
    return f"{padded}[{logical}]" if padded_and_logical else str(padded)


def operand_cells(tensor: Tensor, generation: str, side: str, index: int, device_object: int = 0) -> dict[str, str]:
    names = operand_columns(generation, side, index)
    logical = generation_number(generation) >= 4
    cells = {names[axis]: _number_or_name(tensor, axis, padded_and_logical=logical) for axis in range(4)}
    where = "HOST"
    if tensor.placement is not None:
        where = f"DEV_{device_object}_{tensor.placement.buffer}_{tensor.placement.memory_layout}"
    return {**cells, names[4]: tensor.layout, names[5]: tensor.dtype, names[6]: where}


def cores_of(op: DeviceOp, program: Program) -> int:
    if op.cores is not None:
        return op.cores
    grids = [t.placement.cores for t in (*op.outputs, *op.inputs) if t.placement and t.placement.shard]
    return len(grids[0]) if grids else program.device.cores


def _requirement_cell(tensors: Iterable[Tensor], op: DeviceOp, number: int) -> str:
    """PM REQ I/O BW: bytes in the first generations, GB/s later, nothing for an op without a model."""
    if number <= 2:
        return str([float(t.bytes) for t in tensors])
    return str([round(t.bytes / op.pm_ns[0], 6) for t in tensors]) if op.pm_ns[0] > 1 else "[]"


def _device_cells(row: Row, op: DeviceOp, program: Program, number: int) -> dict[str, str | int]:
    """The columns that only an op that ran has."""
    kernel, cores = row.kernel_ns, cores_of(op, program)
    dm_start = kernel - (kernel // 50 if op.fidelity else 0)
    share = {"BRISC": 0.99, "NCRISC": 0.9} | ({f"TRISC{n}": 0.97 for n in range(3)} if op.fidelity else {})
    cells: dict[str, str | int] = {
        "CORE COUNT": cores,
        "AVAILABLE WORKER CORE COUNT": program.device.cores,
        "SUB DEVICE ID": 0,
        "DEVICE FW START CYCLE": row.fw_start,
        "DEVICE FW END CYCLE": row.fw_end,
        "OP TO OP LATENCY [ns]": row.fw_gap_ns if number == 1 else row.gap_ns,
        "OP TO OP LATENCY BR/NRISC START [ns]": row.gap_ns and row.gap_ns + kernel - dm_start,
        "DEVICE FW DURATION [ns]": kernel + FW_LEAD_NS + FW_TAIL_NS,
        "DEVICE KERNEL DURATION [ns]": kernel,
        "DEVICE KERNEL DURATION DM START [ns]": dm_start,
        "DEVICE KERNEL FIRST TO LAST START [ns]": min(kernel // 4, 374),
        "PM IDEAL [ns]": op.pm_ns[0],
        "PM COMPUTE [ns]": op.pm_ns[1],
        "PM BANDWIDTH [ns]": op.pm_ns[2],
        "PM REQ I BW": _requirement_cell(op.inputs, op, number),
        "PM REQ O BW": _requirement_cell(op.outputs, op, number),
        "PM FPU UTIL (%)": f"{round(100 * op.pm_ns[1] / kernel, 3) if kernel else 0.0}",
    }
    if 2 <= number <= 4:  # later reports leave them to the older post-processing
        for which, part in (("MIN", 0.8), ("MAX", 1.0), ("AVG", 0.95)):
            cells[f"DEVICE KERNEL DURATION PER CORE {which} [ns]"] = int(kernel * part)
    for risc in RISCS:
        time = op.risc_ns.get(risc, int(kernel * share[risc]) if risc in share else None)
        cells[f"DEVICE {risc} KERNEL DURATION [ns]"] = "" if time is None else time
    return cells


def _kernel_cells(op: DeviceOp, number: int) -> dict[str, str | int]:
    compute, sizes = op.fidelity is not None, (1116, 1460, 1212, 604, 1256)
    names = ("BRISC", "NCRISC", "TRISC 0", "TRISC 1", "TRISC 2")
    if number >= 4:
        names = ("TENSIX DM 0", "TENSIX DM 1", *(f"TENSIX COMPUTE {n}" for n in range(3)))
    idle = ("ERISC",) if number < 4 else ("ACTIVE ETH DM 0", "ACTIVE ETH DM 1", "IDLE ETH DM 0", "IDLE ETH DM 1")
    return {
        "COMPUTE KERNEL SOURCE": str([f"made/{op.op_code}/compute.cpp"] if compute else []),
        "COMPUTE KERNEL HASH": str(["compute/1/"] if compute else []),
        "DATA MOVEMENT KERNEL SOURCE": str([f"made/{op.op_code}/reader.cpp", f"made/{op.op_code}/writer.cpp"]),
        "DATA MOVEMENT KERNEL HASH": str(["reader/1/", "writer/1/"]),
        **{
            f"{name} MAX KERNEL SIZE [B]": size if n < 2 or compute else 0
            for n, (name, size) in enumerate(zip(names, sizes, strict=True))
        },
        **{f"{name} MAX KERNEL SIZE [B]": 0 for name in idle},
    }


def row_cells(row: Row, program: Program, generation: str = "C7", style: CsvStyle = STYLE) -> dict[str, str]:
    """One row as {column name: text}; columns without a value are left out."""
    number = generation_number(generation)
    era = ERA_OF.get(generation, "2025-09")
    cells: dict[str, str | int] = {"OP CODE": row.name, "HOST START TS": row.host_start_ns}
    if row.kind == "signpost":
        return _texts({**cells, "OP TYPE": "signpost", "ATTRIBUTES": row.text}, style)
    cells |= {"HOST END TS": row.host_start_ns + row.host_ns, "HOST DURATION [ns]": row.host_ns}
    if row.op is None or row.call is None:
        count = {"OP TYPE": "python_fallback", "GLOBAL CALL COUNT": row.runtime_id, "ATTRIBUTES": "None"}
        return _texts({**cells, **count}, style)
    op = row.op
    packed = (style.call_counts or ("plain" if number <= 2 else "packed")) == "packed"
    plain_count = (row.runtime_id - 1) * program.devices + row.device + 1
    cells |= {
        "OP TYPE": op.op_type,
        "GLOBAL CALL COUNT": (row.runtime_id << 10) | row.device if packed else plain_count,
        "DEVICE ID": row.device,
        "DEVICE ARCH": program.device.arch,
        "ATTRIBUTES": attributes_text(op.attributes, era),
        "MATH FIDELITY": op.fidelity or "",
        "PROGRAM HASH": program_hash(op),
        "PROGRAM CACHE HIT": str(style.cache_hits and not row.compiled),
        "LOC": f'loc(fused["{row.call.file}":{row.call.line}:0, "{row.call.name}"])',
        "CONST_EVAL_OP": str(op.const_eval).lower(),
        "PROGRAM_METADATA": "{}",
        **_kernel_cells(op, number),
    }
    if number <= 2:
        cells["CompileProgram_TT_HOST_FUNC [ns]"] = row.host_ns // 2
        cells["HWCommandQueue_write_buffer_TT_HOST_FUNC [ns]"] = 16_492
    if row.trace is not None:
        cells["METAL TRACE ID"], cells["METAL TRACE REPLAY SESSION ID"] = row.trace
    for side, tensors in (("INPUT", op.inputs), ("OUTPUT", op.outputs)):
        for index, tensor in enumerate(tensors):
            cells.update(operand_cells(tensor, generation, side, index, program.device_object))
    if row.kind == "device":
        cells |= _device_cells(row, op, program, number)
    return _texts(cells, style)


def _texts(cells: Mapping[str, str | int], style: CsvStyle) -> dict[str, str]:
    """The real writer turns every ',' into ';'."""

    def text(value: str | int) -> str:
        if isinstance(value, int):
            return f"{value}.0" if style.float_numbers else str(value)
        return value.replace(",", ";")

    return {name: text(value) for name, value in cells.items()}
