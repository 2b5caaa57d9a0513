"""matmuls-through-dram: what one matmul writes to DRAM and the next reads back."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.analyses.tables import put as put_in
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Placement, Program, block_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, kernel_config, unary
from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.checks.step3_memory_sharding.matmuls_through_dram import maybe_read_again, most_in_l1

TILE = 32 * 32 * 2  # bytes
PASSED = 512 * 4096 * 2  # bytes: 9.6 us of a Blackhole's DRAM
CONFIG = "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=11,y=8),in0_block_w=8,per_core_M=2,per_core_N=12)"
SHARDED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=8,per_core_M=1,per_core_N=12)"
SHARDS = block_sharded(64, 384, (11, 8))


def multiply(program, x, n, kernel_ns, config=CONFIG, *, into=DRAM, name="Matmul"):
    w = program.tensor([1, 1, x.shape[3], n], "BFLOAT8_B")
    y = program.tensor([1, 1, x.shape[2], n], placement=into)
    attributes = {"compute_kernel_config": kernel_config("HiFi2")}
    if config != "":
        attributes |= {"program_config": config, "user_core_coord": None}
    return put(
        program,
        DeviceOp(f"{name}DeviceOperation", (x, w), (y,), kernel_ns, fidelity="HiFi2", attributes=attributes),
    )


def put_pair(
    program,
    *,
    rows=512,
    kernel_ns=(50_000, 52_000),
    configs=(CONFIG, CONFIG),
    into=DRAM,
    between="",
    others=False,
    names=("Matmul", "Matmul"),
):
    x = put(program, DeviceOp("LayerNormDeviceOperation", (program.tensor([1, 1, rows, 1024]),), (program.tensor([1, 1, rows, 1024]),), 9_000))  # fmt: skip
    y = multiply(program, x, 4096, kernel_ns[0], configs[0], into=into, name=names[0])
    if between:
        y = put(program, DeviceOp(between, (y,), (program.tensor(y.shape),), 9_000))
    if others:
        put(program, DeviceOp("ReduceDeviceOperation", (y,), (program.tensor([1, 1, rows, 1]),), 2_000))
    multiply(program, y, 1024, kernel_ns[1], configs[1], name=names[1])


def pair(**how):
    program = Program("blackhole", grid=(11, 10))
    put_pair(program, **how)
    return program


def test_an_output_that_the_next_matmul_reads_from_dram_is_told(check):
    """BGE-M3: 17 us a layer."""
    outcome = check.ask(pair())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [1, 2]
    by_bytes = [min(took, 2 * case.roofline.dram_achievable_ns[row]) for took, row in ((50_000, 1), (52_000, 2))]
    write, read = (PASSED / case.roofline.dram_bytes[row] for row in (1, 2))
    assert claim.at_most_ns.tolist() == [pytest.approx(by_bytes[0] * write), pytest.approx(by_bytes[1] * read)]
    assert 17_000 <= outcome.at_most_ns <= 5 * 17_000
    assert claim.claim == (
        "1 activation passes through DRAM to the next op (102 us, 89.5%): 4.2 MB, 512x1024 * 1024x4096 -> "
        f"512x4096 at line {case.line(1)}, read at line {case.line(2)}"
    )
    assert f"memory_config=ttnn.L1_MEMORY_CONFIG at line {case.line(1)}" in claim.fix
    assert cells(outcome)[1::2] == [(case.line(1), "OUTPUT_0_MEMORY"), (case.line(2), "INPUT_0_MEMORY")]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(pair())


def configured(which, config):
    configs = [CONFIG, CONFIG]
    configs[which] = config
    return pair(configs=configs)


@for_all("which", [0, 1])
@for_all("config", [SHARDED, ""])
def test_sharded_weights_and_unknown_configs_are_left_alone(check, which, config):
    assert check.ask(configured(which, config)).status == "clean"


@for_all("which", [0, 1])
def test_a_matmul_left_to_ttnn_gets_a_core_grid_too(check, which):
    """L1 alone would lead it to few cores. Real TTNN takes no core grid beside a program config."""
    outcome = check.ask(configured(which, None))
    line, other = outcome.case.line(1 + which), outcome.case.line(2 - which)
    told = f"; core_grid=ttnn.CoreGrid(y=10, x=11) at line {line}; program_config of line {other}, compute_kernel_"
    assert told in outcome.claim.fix
    both = " and ".join(map(str, sorted((line, other))))
    assert f"; program_config of line {both}, compute_kernel_config as now; " in check.ask(pair()).claim.fix
    assert "core_grid" not in check.ask(pair()).claim.fix
    assert f"at line {both}; compute_kernel_config as" in check.ask(pair(configs=(None, None))).claim.fix


def test_without_a_known_grid_the_choice_of_ttnn_is_not_known(check, tmp_path):
    lost = ("AVAILABLE WORKER CORE COUNT",)
    assert check.ask(without(tmp_path, lost, configured(0, None))).status == "clean"
    assert check.ask(without(tmp_path, lost, pair())).status == "found"


def test_the_choice_for_a_sharded_input_is_not_known(check):
    program = Program("blackhole", grid=(11, 10))
    x = program.tensor([1, 1, 512, 1024], placement=block_sharded(64, 96, (11, 8)))
    multiply(program, multiply(program, x, 4096, 50_000, None), 1024, 52_000)
    assert check.ask(program).status == "clean"


def test_a_matmul_that_a_core_grid_leaves_on_fewer_cores_stays_in_dram(check):
    """Pairs of matrices: one core for each, whatever the grid."""
    program = Program("blackhole", grid=(11, 10))
    x, w = program.tensor([1, 4, 2048, 256]), program.tensor([1, 4, 256, 1024])
    attributes = {"compute_kernel_config": kernel_config("HiFi2"), "program_config": None, "user_core_coord": None}
    y = put(program, DeviceOp("MatmulDeviceOperation", (x, w), (program.tensor([1, 4, 2048, 1024]),), 90_000, fidelity="HiFi2", attributes=attributes))  # fmt: skip
    put(program, DeviceOp("LayerNormDeviceOperation", (y,), (program.tensor(y.shape),), 50_000))
    assert check.ask(program).status == "clean"


@for_all("reader", ["LayerNormDeviceOperation", "BinaryNgDeviceOperation", "UnaryDeviceOperation"])
def test_a_norm_or_an_element_wise_op_reads_it_too(check, reader):
    program = Program("blackhole", grid=(11, 10))
    y = multiply(program, program.tensor([1, 1, 512, 1024]), 4096, 50_000)
    put(program, DeviceOp(reader, (y,), (program.tensor(y.shape),), 40_000))
    assert check.ask(program).claim.rows.tolist() == [0, 1]


@for_all(
    "change",
    [{"into": L1}, {"into": SHARDS}, {"into": Placement("DRAM", "WIDTH_SHARDED")}, {"others": True},
     {"between": "SoftmaxDeviceOperation"}, {"names": ("MinimalMatmul", "Matmul")}, {"names": ("Matmul", "MinimalMatmul")}],
    ids=str,
)  # fmt: skip
def test_other_ways_are_none(check, change):
    assert check.ask(pair(**change)).status == "clean"


@for_all("maker", ["LayerNormDeviceOperation", "BinaryNgDeviceOperation", "UnaryDeviceOperation"])
def test_what_a_norm_or_an_element_wise_op_makes_for_a_matmul_counts(check, maker):
    program = Program("blackhole", grid=(11, 10))
    y = put(program, DeviceOp(maker, (program.tensor([1, 1, 512, 4096]),), (program.tensor([1, 1, 512, 4096]),), 40_000))  # fmt: skip
    multiply(program, y, 1024, 52_000)
    assert check.ask(program).claim.rows.tolist() == [0, 1]


@for_all("again", [False, True])
def test_what_an_addition_may_take_as_its_second_operand_stays(check, again):
    """A residual: the report does not tell which of two alike tensors the addition reads."""
    program = Program("blackhole", grid=(11, 10))
    y = put(program, DeviceOp("UnaryDeviceOperation", (program.tensor([1, 1, 512, 4096]),), (program.tensor([1, 1, 512, 4096]),), 40_000))  # fmt: skip
    z = multiply(program, y, 4096, 90_000)
    if again:
        put(program, DeviceOp("BinaryNgDeviceOperation", (z, y), (program.tensor(z.shape),), 90_000))
    outcome = check.ask(program)
    assert outcome.claim.rows.tolist() == ([1, 2] if again else [0, 1])


def test_a_pair_without_a_matmul_belongs_to_another_check(check):
    program = Program("blackhole", grid=(11, 10))
    y = put(program, DeviceOp("UnaryDeviceOperation", (program.tensor([1, 1, 512, 4096]),), (program.tensor([1, 1, 512, 4096]),), 40_000))  # fmt: skip
    put(program, DeviceOp("UnaryDeviceOperation", (y,), (program.tensor(y.shape),), 40_000))
    multiply(program, program.tensor([1, 1, 512, 2048]), 96, 52_000)
    assert check.ask(program).status == "clean"


def chain(rows, held=0):
    """Through three matmuls, beside a tensor in L1 that is read at the end."""
    program = Program("blackhole", grid=(11, 10))
    kept = program.tensor([1, 1, held or 32, 4096], placement=L1)
    if held:
        put(program, DeviceOp("TilizeDeviceOperation", (program.tensor([1, 1, 64, 4096]),), (kept,), 2_000))
    y = multiply(program, program.tensor([1, 1, rows, 1024]), 4096, 400_000)
    multiply(program, multiply(program, y, 4096, 700_000), 1024, 400_000)
    if held:
        put(program, DeviceOp("ReduceDeviceOperation", (kept,), (program.tensor([1, 1, held, 1]),), 2_000))
    return program


def test_half_of_l1_is_the_room_of_all_tensors_that_lie_there_together(check):
    room = 0.5 * 110 * check.case(pair()).safe_l1_bytes / 4096 / 2  # rows
    rows = int(0.45 * room / 32) * 32
    held = int((room - 2 * rows) / 32) * 32
    check.pair(lambda held: chain(rows, held), silent=held + 32, fires=held)


def test_a_matmul_of_the_models_input_reads_nobodys_output(check):
    program = Program("blackhole", grid=(11, 10))
    multiply(program, program.tensor([1, 1, 512, 4096]), 1024, 52_000)
    multiply(program, program.tensor([1, 1, 512, 2048]), 96, 52_000)
    assert check.ask(program).status == "clean"


def test_a_quarter_of_l1_is_the_room(check):
    room = 0.25 * 110 * check.case(pair()).safe_l1_bytes
    rows = int(room / 4096 / 2 / 32) * 32
    check.pair(lambda rows: pair(rows=rows, kernel_ns=(400_000, 400_000)), silent=rows + 32, fires=rows)


def test_a_tenth_of_both_times_is_felt(check):
    """9.6 us."""
    check.pair(lambda ns: pair(kernel_ns=(ns, 52_000)), silent=97_000, fires=96_000)
    check.pair(lambda ns: pair(kernel_ns=(50_000, ns)), silent=97_000, fires=96_000)


def test_several_are_one_claim(check):
    program = pair()
    pass_time(program, 1_000)
    put_pair(program, rows=544)
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 activations pass through DRAM to the next op (204 us")
    assert claim.rows.tolist() == [1, 2, 5, 6]


def test_the_one_between_two_is_spared_both_ways(check):
    program = Program("blackhole", grid=(11, 10))
    first = multiply(program, program.tensor([1, 1, 512, 1024]), 4096, 50_000)
    multiply(program, multiply(program, first, 4096, 90_000), 1024, 50_000)
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("2 activations pass through DRAM to the next op (190 us")
    share = 2 * PASSED / outcome.case.roofline.dram_bytes[1]
    assert outcome.claim.at_most_ns[1] == pytest.approx(90_000 * share)


def test_one_percent_is_worth_telling(check):
    def longer(share):
        program = pair()
        pass_time(program, saving / share - 111_000)
        return program

    saving = check.ask(pair()).at_most_ns
    check.pair(longer, silent=0.00995, fires=0.01005)


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no Matmul ops"


@for_all(("lost", "word"), [("_MEMORY", "_MEMORY"), ("CORE COUNT", "CORE COUNT"), ("ATTRIBUTES", "program_config")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), pair())), word)


def test_without_a_bandwidth_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(rewritten(tmp_path, pair(), DEVICE_ARCH="later_chip")), "architecture")


def relu(program, x, tiles, placement=DRAM):
    return put_in(program, unary("RELU", x, program.tensor([1, 1, 32, 32 * tiles], placement=placement), 1_000))


def most(folder, program, *pairs):
    ops = ops_of(folder, program)
    makers, readers = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return (most_in_l1(ops, Joins(Flow(ops)), makers, readers) / TILE).tolist()


def test_a_tensor_counts_from_its_maker_to_its_last_reader(tmp_path):
    program = Program()
    kept = relu(program, program.tensor([1, 1, 32, 32]), 7, L1)
    moved = relu(program, kept, 2)
    relu(program, moved, 3)
    put_in(program, binary("ADD", kept, kept, program.tensor([1, 1, 32, 32 * 7]), 1_000))
    last = relu(program, program.tensor([1, 1, 32, 32 * 5]), 4)
    relu(program, last, 6)
    assert most(tmp_path, program, (1, 2), (4, 5)) == [7 + 2, 4]


def test_tensors_that_are_to_move_count_together_where_they_meet(tmp_path):
    program = Program()
    first = relu(program, program.tensor([1, 1, 32, 32]), 2)
    relu(program, relu(program, first, 3), 4)
    assert most(tmp_path, program, (0, 1), (1, 2)) == [2 + 3, 2 + 3]
    assert most(tmp_path, program, (0, 1)) == [2]


def test_an_operand_in_l1_that_no_op_made_counts_for_its_readers(tmp_path):
    program = Program()
    table = program.tensor([1, 1, 32, 32 * 9], placement=L1)
    first = relu(program, program.tensor([1, 1, 32, 32]), 2)
    put_in(program, binary("ADD", first, table, program.tensor([1, 1, 32, 64]), 1_000))
    assert most(tmp_path, program, (0, 1)) == [2 + 9]


def test_what_lies_in_l1_already_counts_once(tmp_path):
    program = Program()
    relu(program, relu(program, program.tensor([1, 1, 32, 32]), 2, L1), 3)
    assert most(tmp_path, program, (0, 1)) == [2]


def test_no_tensors_hold_nothing(tmp_path):
    program = Program()
    relu(program, program.tensor([1, 1, 32, 32]), 2)
    assert most(tmp_path, program) == []


def test_an_output_like_both_operands_of_an_op_may_be_read_again(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 2)
    y = relu(program, relu(program, x, 3), 2)
    put_in(program, binary("ADD", y, x, program.tensor([1, 1, 32, 32 * 4]), 1_000))
    assert maybe_read_again(Joins(Flow(ops_of(tmp_path, program)))).tolist() == [True, False, True, False]


def test_operands_that_no_op_made_say_nothing_of_an_output(tmp_path):
    program = Program()
    put_in(program, binary("ADD", program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 64]), 1_000))  # fmt: skip
    relu(program, program.tensor([1, 1, 32, 32]), 3)
    assert not maybe_read_again(Joins(Flow(ops_of(tmp_path, program)))).any()
