"""Lower bounds of ops: by hand for each family, and never above what real chips did."""

from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from tests.for_all import for_all
from tests.profiles import DRAM, L1, Iteration, Program, Tensor, height_sharded, write_performance_report
from tests.profiles.model import DeviceOp
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.roofline.borrowed_rows import WHY_BORROWED
from ttnn_mcp.analyses.roofline.flops import WHY_PLACE, WHY_POSITION, WHY_WINDOWS
from ttnn_mcp.analyses.roofline.matmul_flops import WHY_EXPERTS, WHY_UNFIT
from ttnn_mcp.analyses.roofline.roofline import (
    IMPOSSIBLE,
    WHY_COLLECTIVE,
    WHY_DRAM,
    WHY_FIDELITY,
    WHY_IMPOSSIBLE,
    Roofline,
    roofline_of,
)
from ttnn_mcp.analyses.roofline.traffic import WHY_DTYPE
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.chip import chip_of
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.performance import Performance

REAL = (CLIP, DEEPLAB, OFT, SEGFORMER, DEEPSEEK)
WINDOW = "SlidingWindowConfig(batch_size=1,input_hw=(56,56),window_hw=(3,3),stride_hw=(1,1),is_transpose={})"
RING = {"is_causal": True, "logical_n": 512, "ring_size": 4}


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")  # 64 cores at 1 GHz, 288 GB/s


@pytest.fixture
def bounds(tmp_path: Path, program: Program):
    """The roofline of what `program` holds by now."""
    numbers = count()

    def compute(**chip: object) -> Roofline:
        folder = tmp_path / str(next(numbers))
        report = Performance(read_performance_csv(write_performance_report(folder, program, [Iteration()])))
        return roofline_of(report.ops, replace(chip_of(report, None), **chip))

    return compute


def run(program: Program, code: str, inputs: list[Tensor], outputs: list[Tensor], **rest: object) -> None:
    """One op with any number of outputs."""
    op = DeviceOp(code, tuple(inputs), tuple(outputs), **{"kernel_ns": 50_000, **rest})
    program.call("ttnn.made_up", inputs, outputs, (op,))


def matmul(program: Program, a: list[int], b: list[int], out: list[int], **rest: object) -> None:
    settings = {"fidelity": "HiFi2", "kernel_ns": 5_000_000, **rest}
    program.op("MatmulDeviceOperation", [program.tensor(a), program.weight(b)], shape=out, **settings)


# matrix products


def test_a_batched_matmul_counts_two_operations_per_batch_row_column_and_inner_step(program, bounds):
    matmul(program, [1, 2, 64, 128], [1, 2, 128, 96], [1, 2, 64, 96], kernel_ns=10_000)
    found = bounds()
    assert found.flops[0] == found.padded_flops[0] == 2 * 2 * 64 * 128 * 96
    assert found.compute_ns[0] == pytest.approx(3_145_728 * 2 / (4096 * 64))  # HiFi2 is two passes
    assert found.dram_bytes[0] == 2 * (2 * 64 * 128 + 2 * 128 * 96 + 2 * 64 * 96)
    assert found.dram_ns[0] == pytest.approx(106_496 / 288)
    assert found.dram_achievable_ns[0] == pytest.approx(106_496 / 240)
    assert found.efficiency[0] == pytest.approx(106_496 / 288 / 10_000)


def test_padding_is_performed_but_not_useful(program, bounds):
    matmul(program, [1, 1, 19, 1280], [1, 1, 1280, 1280], [1, 1, 19, 1280])
    found = bounds()
    assert found.flops[0] == 2 * 19 * 1280 * 1280
    assert found.padded_flops[0] == 2 * 32 * 1280 * 1280


def test_a_smaller_batch_is_broadcast(program, bounds):
    matmul(program, [1, 8, 32, 64], [1, 1, 64, 32], [1, 8, 32, 32])
    assert bounds().flops[0] == 2 * 8 * 32 * 64 * 32


def test_transposed_operands_are_turned(program, bounds):
    matmul(program, [1, 1, 64, 1024], [1, 1, 4096, 1024], [1, 1, 64, 4096], attributes={"transpose_b": True})
    matmul(program, [1, 1, 1024, 64], [1, 1, 1024, 96], [1, 1, 64, 96], attributes={"transpose_a": True})
    assert bounds().flops.tolist() == [2 * 64 * 1024 * 4096, 2 * 64 * 1024 * 96]


def test_an_operand_that_an_op_before_transposed_is_not_turned_again(program, bounds):
    matmul(program, [1, 1, 64, 1024], [1, 1, 1024, 512], [1, 1, 64, 512], attributes={"transpose_b": True})
    assert bounds().flops[0] == 2 * 64 * 1024 * 512


def test_operands_that_do_not_fit_are_not_modelled(program, bounds):
    matmul(program, [1, 1, 64, 1024], [1, 1, 256, 512], [1, 1, 64, 512])
    found = bounds()
    assert np.isnan(found.flops[0])
    assert np.isnan(found.efficiency[0])
    assert found.why[0] == WHY_UNFIT


@for_all(("nnz", "experts"), [(4, 4), ("std::nullopt", None)])
def test_a_sparse_matmul_counts_active_experts_or_says_that_they_are_unknown(program, bounds, nnz, experts):
    a, b, out = program.tensor([1, 1, 32, 64]), program.weight([1, 8, 64, 128]), program.tensor([1, 8, 32, 128])
    run(program, "SparseMatmulDeviceOperation", [a, b], [out], fidelity="LoFi", attributes={"nnz": nnz})
    found = bounds()
    if experts is None:
        assert np.isnan([found.flops[0], found.dram_bytes[0], found.efficiency[0]]).all()
        assert found.why[0] == WHY_EXPERTS
    else:
        assert found.flops[0] == experts * 2 * 32 * 64 * 128
        assert found.dram_bytes[0] == a.bytes + b.bytes * experts / 8 + out.bytes


def test_a_matmul_that_gathers_first_multiplies_the_whole(program, bounds):
    a, b = program.tensor([1, 1, 64, 256]), program.weight([1, 1, 1024, 512])
    gathered, product = program.tensor([1, 1, 64, 1024]), program.tensor([1, 1, 64, 512])
    run(program, "AllGatherMatmulAsyncDeviceOperation", [a, b], [gathered, product], fidelity="LoFi")
    assert bounds().flops[0] == 2 * 64 * 1024 * 512


def test_compute_time_is_that_of_all_cores_and_of_those_used(program, bounds):
    matmul(program, [1, 1, 1024, 1024], [1, 1, 1024, 1024], [1, 1, 1024, 1024], cores=16)
    found = bounds()
    assert found.compute_used_ns[0] == pytest.approx(4 * found.compute_ns[0])


def test_without_a_fidelity_there_is_no_compute_bound_and_a_reason(program, bounds):
    matmul(program, [1, 1, 32, 64], [1, 1, 64, 32], [1, 1, 32, 32], fidelity=None)
    found = bounds()
    assert found.flops[0] == 2 * 32 * 64 * 32
    assert np.isnan([found.compute_ns[0], found.efficiency[0]]).all()
    assert found.why[0] == WHY_FIDELITY


# convolutions


def conv(program: Program, groups: int | None, *, transposed: bool = False, out: int = 3136) -> None:
    x, w = program.tensor([1, 1, 3364, 64], placement=L1), program.weight([1, 1, 576, 64], "BFLOAT8_B")
    attributes = {
        "input_tensor_shape": "{1, 56, 56, 64}",
        "output_channels": 64,
        "sliding_window_config": WINDOW.format(str(transposed).lower()),
        **({} if groups is None else {"groups": groups}),
    }
    y = program.tensor([1, 1, out, 64], placement=L1)
    run(program, "Conv2dDeviceOperation", [x, w], [y], fidelity="HiFi4", attributes=attributes)


def test_a_convolution_counts_window_and_channels_per_output_pixel(program, bounds):
    conv(program, groups=1)
    found = bounds()
    assert found.flops[0] == found.padded_flops[0] == 2 * 3136 * 64 * 64 * 9
    assert found.dram_bytes[0] == 576 * 64 * 1.0625  # the weights; activations are in L1
    assert found.compute_ns[0] == pytest.approx(231_211_008 * 4 / (4096 * 64))


def test_a_depthwise_convolution_performs_as_many_times_the_work_as_it_has_groups(program, bounds):
    conv(program, groups=64)
    found = bounds()
    assert found.flops[0] == 2 * 3136 * 64 * 9
    assert found.padded_flops[0] == 64 * found.flops[0]


def test_a_transposed_convolution_applies_its_window_to_input_pixels(program, bounds):
    conv(program, groups=1, transposed=True, out=4 * 3136)
    found = bounds()
    assert found.flops[0] == 2 * 3136 * 64 * 64 * 9
    assert found.padded_flops[0] == 4 * found.flops[0]


def test_useful_work_of_a_convolution_is_unknown_where_its_groups_are(program, bounds):
    conv(program, groups=None)
    found = bounds()
    assert np.isnan(found.flops[0])
    assert found.efficiency[0] > 0


# attention


def attention(program: Program, code: str, heads: tuple[int, int], queries: int, keys: int, **settings: object):
    q, k = program.tensor([1, heads[0], queries, 128]), program.tensor([1, heads[1], keys, 128])
    v, out = program.tensor([1, heads[1], keys, 64]), program.tensor([1, heads[0], queries, 64])
    run(program, code, [q, k, v], [out], fidelity="HiFi2", kernel_ns=5_000_000, attributes=settings)
    return q, k, v, out


def test_attention_counts_both_products_with_query_heads_and_halves_what_is_causal(program, bounds):
    tensors = attention(program, "SDPAOperation", (8, 2), 256, 512, is_causal=False)
    attention(program, "SDPAOperation", (8, 8), 512, 512, is_causal=True)
    found = bounds()
    assert found.flops[0] == 2 * 8 * 256 * 512 * (128 + 64)
    assert found.flops[1] == 2 * 8 * 512 * 512 * (128 + 64) / 2
    assert found.dram_bytes[0] == sum(tensor.bytes for tensor in tensors)


def test_attention_in_chunks_sees_what_came_before(program, bounds):
    attention(program, "SDPAOperation", (8, 1), 128, 4096, is_causal=True, chunk_start_idx=1024)
    found = bounds()
    assert found.flops[0] == 2 * 8 * (128 * 1024 + 128 * 128 / 2) * (128 + 64)
    assert np.isnan(found.dram_bytes[0])  # of the cache's 4096 positions 1152 were read, if it is not paged


def test_a_sliding_window_leaves_a_band_of_the_causal_half(program, bounds):
    attention(program, "SDPAOperation", (1, 1), 512, 512, is_causal=True, sliding_window_size=128)
    attention(program, "SDPAOperation", (1, 1), 512, 512, is_causal=False, sliding_window_size=128)
    found = bounds()
    assert found.flops[0] == 2 * (512 * 128 - 128 * 128 / 2) * (128 + 64)
    assert found.why[1] == WHY_WINDOWS


def test_a_ring_device_attends_from_its_part_to_the_whole_sequence(program, bounds):
    attention(program, "RingJointSDPADeviceOperation", (4, 4), 128, 128, **{**RING, "is_causal": False})
    attention(program, "RingJointSDPADeviceOperation", (4, 4), 128, 128, **RING, is_balanced=True)
    found = bounds()
    assert found.flops.tolist() == [2 * 4 * 128 * 512 * 192, 2 * 4 * 128 * 512 * 192 / 2]


def test_an_unbalanced_causal_ring_counts_the_least_and_says_so(program, bounds):
    attention(program, "RingJointSDPADeviceOperation", (4, 4), 128, 128, **RING, is_balanced=False)
    found = bounds()
    assert found.flops[0] == 2 * 4 * 128 * 128 / 2 * 192
    assert found.why[0] == WHY_PLACE


def test_decoding_attention_is_not_modelled_because_the_position_is_not_in_the_report(program, bounds):
    attention(program, "SdpaDecodeDeviceOperation", (8, 1), 32, 4096, is_causal=True)
    found = bounds()
    assert np.isnan([found.flops[0], found.dram_bytes[0], found.efficiency[0]]).all()
    assert found.why[0] == WHY_POSITION


# traffic


def test_block_floats_carry_their_exponents_and_l1_is_no_traffic(program, bounds):
    x = program.tensor([1, 1, 64, 64], "BFLOAT8_B")
    program.op("UnaryDeviceOperation", [x], placement=L1)
    program.op("UnaryDeviceOperation", [x], dtype="BFLOAT4_B")
    assert bounds().dram_bytes.tolist() == [4 * 1088, 4 * 1088 + 4 * 576]


def test_a_slice_reads_its_part_and_a_slice_write_writes_its_part(program, bounds):
    whole, part = program.tensor([1, 1, 1024, 64]), program.tensor([1, 1, 256, 64])
    run(program, "SliceDeviceOperation", [whole], [part])
    run(program, "SliceWriteDeviceOperation", [part, whole], [whole])
    run(program, "ShardedToInterleavedPartialDeviceOperation", [part, whole], [whole])
    assert bounds().dram_bytes.tolist() == [2 * part.bytes] * 3


def test_an_embedding_reads_the_rows_it_looks_up(program, bounds):
    tokens = program.tensor([1, 32], "UINT32", "ROW_MAJOR")
    table = program.weight([1, 1, 49408, 1280], layout="ROW_MAJOR")
    out = program.tensor([1, 1, 32, 1280], layout="ROW_MAJOR")
    run(program, "EmbeddingsDeviceOperation", [tokens, table], [out])
    assert bounds().dram_bytes[0] == tokens.bytes + 2 * out.bytes


def test_a_preallocated_output_among_the_inputs_is_not_read(program, bounds):
    x, out = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    run(program, "CopyDeviceOperation", [x, out], [out])
    run(program, "BinaryNgDeviceOperation", [x, x, out], [out])
    matmul(program, [1, 1, 64, 64], [1, 1, 64, 64], [1, 1, 64, 64])
    run(program, "MatmulDeviceOperation", [x, x, out], [out], fidelity="LoFi")
    assert (bounds().dram_bytes / x.bytes).tolist() == [2, 3, 3, 3]


def test_filling_a_cache_moves_what_is_filled_in(program, bounds):
    cache_, new = program.tensor([1, 1, 4096, 64], "BFLOAT8_B"), program.tensor([1, 1, 32, 64])
    run(program, "UpdateKVCacheOperation", [cache_, new], [cache_])
    assert bounds().dram_bytes[0] == new.bytes + 32 * 64 * 1.0625


def test_a_collective_counts_its_result_not_its_scratch_and_is_bound_elsewhere(program, bounds):
    x, scratch, out = (program.tensor([n, 1, 64, 64]) for n in (4, 8, 1))
    run(program, "ReduceScatterMinimalAsyncDeviceOperation", [x, scratch], [scratch, out], kernel_ns=200_000)
    found = bounds()
    assert found.dram_bytes[0] == x.bytes + out.bytes
    assert (found.bound[0], found.why[0]) == ("", WHY_COLLECTIVE)


def test_bytes_of_an_unknown_data_type_are_unknown(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 64])])
    path = write_performance_report(tmp_path, program, [Iteration()])
    path.write_bytes(path.read_bytes().replace(b",BFLOAT16,", b",FLOAT7,"))
    report = Performance(read_performance_csv(path))
    found = roofline_of(report.ops, chip_of(report, None))
    assert np.isnan([found.dram_bytes[0], found.efficiency[0]]).all()
    assert found.why[0] == WHY_DTYPE


# what binds


@for_all(
    ("kernel_ns", "where", "bound"),
    [
        (3_000, DRAM, "overhead"),  # a launch, whatever it moves
        (36_000, DRAM, "dram"),  # 4.2 MB at 288 GB/s take 14.6 us: 40 %
        (400_000, DRAM, "overhead"),
        (9_000, L1, "overhead"),
        (36_000, L1, "l1"),
    ],
)
def test_an_elementwise_op_is_bound_by_launch_dram_or_l1(program, bounds, kernel_ns, where, bound):
    x = program.tensor([1, 1, 1024, 1024], placement=where)
    program.op("UnaryDeviceOperation", [x], kernel_ns=kernel_ns)
    assert bounds().bound[0] == bound


@for_all(
    ("fidelity", "kernel_ns", "bound"),
    [
        ("HiFi4", 50_000, "compute"),
        ("HiFi4", 200_000, "compute"),
        ("LoFi", 50_000, "dram"),
        ("HiFi4", 900_000, "overhead"),
    ],
)
def test_a_matmul_is_bound_by_the_larger_of_arithmetic_and_traffic(program, bounds, fidelity, kernel_ns, bound):
    size = [1, 1, 1024, 1024]  # 8.2 us at LoFi, 32.8 us at HiFi4, 21.8 us of traffic
    matmul(program, size, size, size, fidelity=fidelity, kernel_ns=kernel_ns)
    assert bounds().bound[0] == bound


def test_a_matmul_in_l1_that_neither_bound_explains_is_bound_by_l1(program, bounds):
    x, w = (
        program.tensor([1, 1, 512, 512], placement=height_sharded(64, 512, (8, 1))),
        program.weight([1, 1, 512, 512]),
    )
    program.op("MatmulDeviceOperation", [x, w], fidelity="LoFi", kernel_ns=30_000)
    assert bounds().bound[0] == "l1"


def test_without_an_architecture_traffic_has_no_bound_and_a_reason_but_l1_ops_keep_theirs(program, bounds):
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=40_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024], placement=L1)], kernel_ns=40_000)
    found = bounds(dram_peak_gb_s=None, dram_achievable_gb_s=None)
    assert np.isnan([found.dram_ns[0], found.dram_achievable_ns[0], found.efficiency[0]]).all()
    assert (found.bound[0], found.why[0]) == ("", WHY_DRAM)
    assert (found.bound[1], found.why[1]) == ("l1", "")


def test_what_cannot_have_happened_in_the_time_is_not_modelled(program, bounds):
    matmul(program, [1, 1, 4096, 4096], [1, 1, 4096, 4096], [1, 1, 4096, 4096], kernel_ns=10_000)
    found = bounds()
    assert np.isnan([found.compute_ns[0], found.dram_ns[0], found.dram_bytes[0], found.efficiency[0]]).all()
    assert found.why[0] == WHY_IMPOSSIBLE


# rows that show another op's operands


def test_an_add_that_fits_neither_neighbour_but_repeats_another_row_borrowed_its_operands(program, bounds):
    big, small = program.tensor([1, 1, 32768, 256]), program.tensor([1, 1, 8192, 512])
    for x in (big, small):
        program.op("UnaryDeviceOperation", [x], kernel_ns=100_000)
        run(program, "BinaryNgDeviceOperation", [big, big], [big], kernel_ns=200_000)
        program.op("UnaryDeviceOperation", [x], kernel_ns=100_000)
    found = bounds()
    assert found.why.where(lambda text: text == WHY_BORROWED).tolist() == [False] * 4 + [True, False]
    assert np.isnan(found.efficiency[4])
    assert found.efficiency[1] > 0


def test_some_ops_keep_the_bounds_they_had_among_all(program, bounds):
    for size in (64, 128, 256):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, size, size])])
    found = bounds()
    taken = found.take(np.array([2, 0]))
    assert taken.dram_bytes.tolist() == [found.dram_bytes[2], found.dram_bytes[0]]
    assert (len(taken.bound), taken.bound[0]) == (2, found.bound[2])


# real reports


@cache
def real(name: str):
    report = Performance(read_performance_csv(shared(name)))
    return report.ops, roofline_of(report.ops, chip_of(report, None))


@for_all("name", [*REAL, LINKED], ids=lambda name: name.rpartition("/")[2])
def test_no_real_op_beats_its_lower_bound(name):
    ops, found = real(name)
    assert np.nanmax(found.efficiency) <= IMPOSSIBLE
    assert not ops.lines[found.why.among(WHY_IMPOSSIBLE)].tolist()
    assert (np.nan_to_num(found.flops) <= np.nan_to_num(found.padded_flops)).all()


@for_all("name", [*REAL, LINKED], ids=lambda name: name.rpartition("/")[2])
def test_every_real_op_has_a_bound_or_a_reason_why_not(name):
    _, found = real(name)
    assert ((found.bound.codes >= 0) | (found.why.codes >= 0)).all()
    assert (np.isfinite(found.efficiency) | (found.why.codes >= 0)).all()


def test_only_adds_of_the_real_reports_show_anothers_operands():
    found = {name: real(name) for name in (CLIP, DEEPLAB, OFT, SEGFORMER, DEEPSEEK)}
    lines = {name: ops.lines[roof.why.among(WHY_BORROWED)].tolist() for name, (ops, roof) in found.items()}
    assert lines[DEEPLAB] == [80, 185, 199, 213]  # between matmuls of 8192x512 and 2048x2048; they say 32768x256
    assert lines[DEEPSEEK] == []
    assert len(lines[CLIP]) == 192  # 3 per layer and pass: the mask's add, and two scalings of 19x5120
    assert len(lines[SEGFORMER]) == 12
    assert len(lines[OFT]) == 19


def test_minimal_matmul_of_few_rows_reaches_a_fifth_of_dram_bandwidth():
    ops, found = real(CLIP)
    minimal = ops.texts("op_code").where(lambda text: canonical(text) == "MinimalMatmul")
    assert minimal.sum() == 384
    assert found.efficiency[minimal].min() == pytest.approx(0.19, abs=0.005)
    assert found.efficiency[minimal].max() == pytest.approx(0.27, abs=0.005)  # 0.26 without the bias
    assert set(found.bound.codes[minimal]) == {found.bound.distinct.index("dram")}
    assert found.flops[minimal].sum() / found.padded_flops[minimal].sum() == pytest.approx(19 / 32)


def test_a_matmul_with_an_operand_in_interleaved_l1_is_far_from_its_bound():
    ops, found = real(DEEPLAB)
    row = ops.at_line(388)
    assert row is not None
    assert found.flops[row] == 32 * 2 * 512 * 128 * 1024
    assert found.dram_bytes[row] == 32 * 512 * (128 + 1024) * 1.0625  # INPUT_1 is in L1
    assert found.efficiency[row] == pytest.approx(20_054_016 / 512 / 191_201)


def test_ring_attention_on_eight_chips_is_counted_as_the_first_parts():
    ops, found = real(DEEPSEEK)
    ring = ops.texts("op_code").where(lambda text: "RingJointSDPA" in text)
    assert set(found.flops[ring]) == {2 * 32 * 3200 * 3200 / 2 * (576 + 128)}
    assert found.why[int(np.flatnonzero(ring)[0])] == WHY_PLACE
