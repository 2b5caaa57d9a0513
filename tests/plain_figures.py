"""Figures of real reports by plain arithmetic on their cells, without any code of ours: what answers are held against.

Peak rates are those of the hardware: a tile of 32x32x32 takes 16 cycles of a core's matrix engine in LoFi and 16 more
per further pass of the fidelity; BFLOAT8_B takes 1088 bytes a tile, BFLOAT4_B 576.
"""

import csv
import re
from collections import defaultdict
from math import ceil

from tests.shared_reports import shared

TILE_CYCLES = {"LoFi": 16, "HiFi2": 32, "HiFi3": 48, "HiFi4": 64}
TILE_BYTES = {"BFLOAT16": 2048, "BFLOAT8_B": 1088, "BFLOAT4_B": 576, "FLOAT32": 4096}
P100_GHZ, P100_GB_S = 1.35, 512  # the report does not tell a p100 (448 GB/s) from a p150: the faster one is a bound
KERNEL, SKEW = "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL FIRST TO LAST START [ns]"


def cells(name):
    """The rows of a report."""
    with shared(name).open(newline="") as lines:
        return list(csv.DictReader(lines))


def number(row, column):
    """A cell as a number; 0 for a blank one."""
    return float(row[column] or 0)


def dims(row, operand):
    """The padded dims of an operand, W to X; none where the op has no such operand."""
    texts = [row.get(f"{operand}_{dim}_PAD[LOGICAL]") or "" for dim in "WZYX"]
    return [int(float(text.split("[")[0])) for text in texts if text]


def elements(row, operand):
    """How many elements an operand has in memory."""
    count = 1
    for dim in dims(row, operand):
        count *= dim
    return count if dims(row, operand) else 0


def unexplained_us(name, op_code):
    """(sum, line of the largest): what is left of the ops' kernel times, in microseconds.

    Taken away: the matrix engine's time on the cores used or the bytes in DRAM, whichever is more; the cores' late
    starts; and what certainly came after the reader's last end, or ran alone.
    """
    left = {}
    for line, row in enumerate(cells(name), start=2):
        if row["OP CODE"] != op_code:
            continue
        kernel, start = number(row, KERNEL), number(row, SKEW)
        *outer, height, width = dims(row, "OUTPUT_0")
        tiles = ceil(height * outer[0] * outer[1] / 32) * ceil(width / 32) * ceil(dims(row, "INPUT_1")[2] / 32)
        engine = tiles * TILE_CYCLES[row["MATH FIDELITY"]] / number(row, "CORE COUNT") / P100_GHZ
        in_dram = [
            part for part in ("INPUT_0", "INPUT_1", "INPUT_2", "OUTPUT_0") if "DRAM" in row[f"{part}_MEMORY"]
        ]
        read = sum(elements(row, part) * TILE_BYTES[row[f"{part}_DATATYPE"]] / 1024 for part in in_dram)
        rest = kernel - min(kernel, max(engine, read / P100_GB_S))
        even = rest - min(start, rest)
        worked = {
            "reader": number(row, "DEVICE NCRISC KERNEL DURATION [ns]"),
            "compute": max(number(row, f"DEVICE TRISC{unit} KERNEL DURATION [ns]") for unit in range(3)),
            "writer": number(row, "DEVICE BRISC KERNEL DURATION [ns]"),
        }
        ended = {part: max(kernel - time - start, 0) for part, time in worked.items()}
        longest = max(worked, key=lambda part: worked[part])
        alone = min(time for part, time in ended.items() if part != longest)
        told = max(alone if worked[longest] + start >= kernel - 2 else 0, ended["reader"])
        left[line] = even - min(max(told + even - kernel, 0), even)
    return sum(left.values()) / 1e3, max(left, key=lambda line: left[line])


def conv_l1_bytes(row, block_h):
    """L1 of a core during a block-sharded Conv2d whose blocks are `block_h` rows high, by the rules of get_cb_info.

    (conv2d_op_program_factory_common.cpp; here: both buffers doubled, no bias, no packer_l1_acc.) The table of indices,
    which is read from DRAM, is left out: it holds runs of rows, with two bytes a row at most.
    """
    attributes = row["ATTRIBUTES"]

    def stated(name):
        return int(re.search(rf"{name}'?[=:] ?'?(\d+)", attributes)[1])

    for switch in ("enable_act_double_buffer", "enable_weights_double_buffer", "config_tensors_in_dram"):
        assert f"'{switch}': 'true'" in attributes
    assert "packer_l1_acc=0" in attributes
    assert "'has_bias': 'false'" in attributes
    assert "TensorMemoryLayout::BLOCK_SHARDED" in attributes
    tile = TILE_BYTES[row["OUTPUT_0_DATATYPE"]]
    block = block_h // 32 * stated("act_block_w_ntiles")
    core = stated("per_core_out_matrix_height_ntile") * stated("per_core_out_matrix_width_ntile")
    weights = 2 * stated("act_block_w_ntiles") * stated("per_core_out_matrix_width_ntile")
    return (
        stated("pre_op_l1_allocation_size_bytes")
        + core * tile  # the output
        + weights * TILE_BYTES[row["INPUT_1_DATATYPE"]]
        + 2 * block * tile  # activations as they are multicast
        + block * tile  # tilized
        + 2 * block * TILE_BYTES["BFLOAT16"]  # as the halo left them, row by row
        + 64  # its scratchpad
    )


def floor_us(rows, gb_s, ghz, cores):
    """What the ops need at least: their bytes in DRAM at this rate, or the matrix engine's time on all cores."""
    least = 0.0
    for row in rows:
        parts = [part for part in ("INPUT_0", "INPUT_1", "INPUT_2", "OUTPUT_0") if elements(row, part)]
        in_dram = [part for part in parts if "DRAM" in row[f"{part}_MEMORY"]]
        read = sum(elements(row, part) * TILE_BYTES.get(row[f"{part}_DATATYPE"], 4096) / 1024 for part in in_dram)
        engine = 0.0
        if "atmul" in row["OP CODE"]:
            *outer, height, width = dims(row, "OUTPUT_0")
            tiles = outer[0] * outer[1] * ceil(height / 32) * ceil(width / 32) * ceil(dims(row, "INPUT_1")[2] / 32)
            engine = tiles * TILE_CYCLES[row["MATH FIDELITY"]] / cores / ghz
        least += min(number(row, KERNEL), max(read / gb_s, engine))
    return least / 1e3


def useful_flops(row):
    """Multiplications and additions of a matmul's logical shapes."""
    height, width = (int(row[f"OUTPUT_0_{dim}_PAD[LOGICAL]"].split("[")[1].rstrip("]")) for dim in "YX")
    *outer, _, _ = dims(row, "OUTPUT_0")
    return 2 * outer[0] * outer[1] * height * width * dims(row, "INPUT_1")[2]


def layer_times_us(rows, first, ops):
    """Kernel time per layer of `ops` rows each, the first of which begins at `first`."""
    times = defaultdict(float)
    for place, row in enumerate(rows[first:]):
        times[place // ops + 1] += number(row, KERNEL) / 1e3
    return times
