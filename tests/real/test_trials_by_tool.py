"""The same trials put to check_setting itself: made rows that ran with each case's config, asked for the value tried.

A row knows less than a trial (no build, no other tensors), so the tool may say that it cannot tell; but never yes
where TTNN refused, nor no where it accepted.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.asking import ask, session
from tests.checks.rows import put
from tests.profiles import DRAM, L1, Program, block_sharded, width_sharded, write_performance_report
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from tests.real.test_trials import TRIALS
from tests.real.trial_plans import conv_asked
from ttnn_mcp.errors import QuestionRefused

pytestmark = pytest.mark.slow  # 20 s; test_trials holds the same truth without the tool
SETTINGS = {
    "matmul": {"b": "weights_dtype", "fp32": "fp32_dest_acc_en", "packer": "packer_l1_acc"}
    | {name: name for name in ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")},
    "sdpa": {name: name for name in ("q_chunk_size", "k_chunk_size")},
    "layer_norm": {name: name for name in ("subblock_w", "block_h", "block_w")},
    "rms_norm": {name: name for name in ("subblock_w", "block_h", "block_w")},
    "conv2d": {
        name: name
        for name in (
            "act_block_h_override",
            "act_block_w_div",
            "enable_act_double_buffer",
            "weights_dtype",
            "shard_layout",
        )
    },
}
ARCHES = {"n150": "wormhole_b0", "p100": "blackhole"}
CONFIGS = {
    "2D": "MatmulMultiCoreReuseMultiCastProgramConfig",
    "1D": "MatmulMultiCoreReuseMultiCast1DProgramConfig",
    "Reuse": "MatmulMultiCoreReuseProgramConfig",
}


def program_of(row):
    """One op that ran as the case says, on a grid of that size; a conv behind what TTNN puts before it."""
    program = Program(ARCHES[row["kind"]], grid=tuple(row["grid"]))
    {"matmul": put_matmul, "sdpa": put_attention, "conv2d": put_conv}.get(row["op"], put_norm)(
        program, row["case"], row
    )
    return program


def kernel(fp32=False, packer=True):
    return f"ComputeKernelConfig(math_fidelity=HiFi2,fp32_dest_acc_en={int(fp32)},packer_l1_acc={int(packer)},dst_full_sync_en=0)"


def put_matmul(program, case, _row):
    batch, (x, y) = case.get("batch", 1), case["grid"]
    a = program.tensor([1, batch, case["m"], case["k"]], case["a"].upper())
    b = program.tensor([1, batch, case["k"], case["n"]], case["b"].upper())
    out = program.tensor([1, batch, case["m"], case["n"]], case["out"].upper())
    fields = ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")
    config = ",".join(f"{name}={case[name]}" for name in fields)
    config = f"{CONFIGS[case['kind']]}(compute_with_storage_grid_size=(x={x},y={y}),{config}"
    config += f",mcast_in0={int(case['mcast_in0'])})" if "mcast_in0" in case else ")"
    op = matmul(a, b, out, 90_000, program_config=config)
    op.attributes = {**op.attributes, "compute_kernel_config": kernel(case["fp32"], case["packer"])}
    put(program, op)


def put_attention(program, case, _row):
    tensors = [
        program.tensor([1, case["heads"], rows, case["head"]], case["dtype"].upper())
        for rows in (case["rows"], case["keys"], case["keys"], case["rows"])
    ]
    config = f"SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size={case['q_chunk_size']},k_chunk_size={case['k_chunk_size']})"
    said = {"program_config": config, "is_causal": case["causal"], "compute_kernel_config": kernel()}
    op = DeviceOp("SDPAOperation", tensors[:3], tensors[3:], 90_000, fidelity="HiFi2", attributes=said)
    put(program, op)


def put_norm(program, case, row):
    (x, y), rows, width = case["grid"], case["rows"], case["width"]
    placed = (
        block_sharded(rows // y, width // x, (x, y)) if rows > 32 else width_sharded(rows, width // (x * y), (x, y))
    )
    source, out = (program.tensor([1, 1, rows, width], placement=placed) for _ in range(2))
    gamma = program.tensor([1, 1, width // 32, 32], layout="ROW_MAJOR")
    blocks = ",".join(f"{name}={case[name]}" for name in ("subblock_w", "block_h", "block_w"))
    said = {
        "program_config": f"LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(x={x},y={y}),{blocks},inplace=0)",
        "norm_type": "LayerNormType::RMSNORM" if row["op"] == "rms_norm" else "LayerNormType::LAYERNORM",
        "output_mem_config": placed,
        "compute_kernel_config": kernel(),
    }
    put(
        program,
        DeviceOp("LayerNormDeviceOperation", (source, gamma), (out,), 30_000, fidelity="HiFi2", attributes=said),
    )


def put_conv(program, case, row):
    """The conv that TTNN makes of the case without the setting, behind the sharding and the halo of its input."""
    made = conv_asked(case).on(tuple(row["grid"]))
    (nhw, c_in, c_out), window = made.cores, made.window
    pixels, pad = case["b"] * case["h"] ** 2, case["k"] // 2
    x = program.tensor([1, 1, pixels, case["cin"]], layout="ROW_MAJOR", placement=L1)
    halo = program.tensor([1, 1, pixels, made.input_channels], layout="ROW_MAJOR", placement=DRAM)
    put(program, DeviceOp("InterleavedToShardedDeviceOperation", (x,), (halo,), 5_000))
    put(program, DeviceOp("HaloDeviceOperation", (halo,), (halo,), 5_000))
    inner = case["cin"] * case["k"] ** 2
    weights = program.weight([1, 1, -(-inner // 32) * 32, case["cout"]], made.weights_dtype)
    out = program.tensor([1, 1, window.rows, case["cout"]], made.output_dtype)
    said = {
        "block_config": f"Conv2dBlockConfig(act_block_h_ntiles={made.block_h},act_block_w_ntiles={made.block_w})",
        "compute_kernel_config": kernel(),
        "dtype": f"DataType::{made.output_dtype}",
        "enable_act_double_buffer": case["enable_act_double_buffer"],
        "enable_weights_double_buffer": case["enable_weights_double_buffer"],
        "has_bias": True,
        "input_tensor_shape": f"{{{case['b']}, {case['h']}, {case['h']}, {case['cin']}}}",
        "memory_config": f"MemoryConfig(memory_layout=TensorMemoryLayout::{made.layout},buffer_type=BufferType::L1)",
        "parallelization_config": (
            f"Conv2dParallelizationConfig(num_cores_nhw={nhw},num_cores_c_in={c_in},num_cores_c_out={c_out},"
            f"per_core_out_matrix_height_ntile={made.per_core_h},per_core_out_matrix_width_ntile={made.per_core_w})"
        ),
        "pre_op_l1_allocation_size_bytes": (row["l1_tensors_before"] or 0) + made.halo_bytes,
        "sliding_window_config": (
            f"SlidingWindowConfig(batch_size={case['b']}, input_hw=({case['h']},{case['h']}), window_hw=({case['k']},{case['k']}), "
            f"stride_hw=({case['s']},{case['s']}), padding=(({pad},{pad}),({pad},{pad})), dilation_hw=(1,1))"
        ),
        "untilize_out": False,
    }
    put(
        program,
        DeviceOp("Conv2dDeviceOperation", (halo, weights), (out,), 90_000, fidelity="HiFi2", attributes=said),
    )


@pytest.mark.parametrize("op", list(SETTINGS))
async def test_the_tool_never_contradicts_ttnn(op, tmp_path):
    if not TRIALS.exists():
        pytest.skip(f"{TRIALS} is not there: the trials lie beside this repository")
    at, reports, seen = session(tmp_path), {}, Counter()
    for row in json.loads(TRIALS.read_text()):
        setting = SETTINGS[op].get(row["setting"]) if row["op"] == op else None
        if setting is None:
            continue
        key = json.dumps([row["kind"], row["op"], row["case"]])
        if key not in reports:
            program = program_of(row)
            line = 1 + 2 * len(program.device_ops)
            reports[key] = str(write_performance_report(tmp_path / str(len(reports)), program)), line
        run, line = reports[key]
        try:
            said = await ask(at, "check_setting", run=run, op=line, setting=setting, value=row["value"])
        except QuestionRefused as refused:
            raise AssertionError(f"{row}: {refused}") from refused
        verdict = said["verdict"]
        seen[row["accepted"], verdict] += 1
        yes, no = verdict in ("fits", "legal"), verdict in ("illegal", "too_large")
        assert not (yes and not row["accepted"]), (row, said)
        assert not (no and row["accepted"]), (row, said)
    accepted = sum(count for (was, _), count in seen.items() if was)
    assert seen[True, "fits"] >= 0.9 * accepted, seen
