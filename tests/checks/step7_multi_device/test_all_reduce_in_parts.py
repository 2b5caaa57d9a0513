"""all-reduce-in-parts: pads and slices around a reduce-scatter and an all-gather."""

from __future__ import annotations

from tests.checks.asking import real_case
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.shared_reports import DEEPSEEK

RING = {"dim": 3, "num_links": 1, "ring_size": 8, "topology": "Topology::Linear", "cluster_axis": 1}


def put_parts(
    program, *, names=("Pad", "ReduceScatterMinimalAsync", "AllGatherAsync", "Slice"), elsewhere="", axis=True
):
    """gpt-oss: 2880 columns, padded for eight devices."""
    sizes = {
        "Pad": (3072, 30),
        "ReduceScatterMinimalAsync": (384, 90),
        "AllGatherAsync": (3072, 80),
        "Slice": (2880, 25),
    }
    x = program.tensor([1, 1, 32, 2880])
    for name in names:
        width, us = sizes.get(name, (x.shape[3], 10))
        attributes = {key: value for key, value in RING.items() if axis or key != "cluster_axis"} if us > 60 else {}
        op = DeviceOp(
            f"{name}DeviceOperation", (x,), (program.tensor([1, 1, 32, width]),), 1000 * us, attributes=attributes
        )
        x = put(program, op)
        if name == elsewhere:
            put(program, DeviceOp("ReduceDeviceOperation", (x,), (program.tensor([1, 1, 32, 1]),), 1_000))


def parts(**how):
    program = Program("wormhole_b0", devices=8)
    put(program, DeviceOp("MatmulDeviceOperation", (program.tensor([1, 1, 32, 512]),) * 2, (program.tensor([1, 1, 32, 2880]),), 20_000))  # fmt: skip
    put_parts(program, **how)
    return program


def test_a_pad_and_a_slice_around_two_exchanges_are_told(check):
    check.assert_sound(parts(), above=20)
    outcome = check.ask(parts())
    claim, case = outcome.claim, outcome.case
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([1, 4], [30_000, 25_000])
    assert claim.claim == (
        "All-reduces written as reduce-scatter and all-gather (1x), with 2 pads and slices around (55 us, 21.9%): "
        f"32x2880 -> 32x3072 at line {case.line(1)}"
    )
    assert claim.fix.startswith("x = ttnn.all_reduce(x, cluster_axis=1) on the unpadded tensor")
    assert {row for row, _ in cells(outcome)} == {case.line(row) for row in (1, 2, 3)}
    assert "ttnn.all_reduce(x) on" in check.ask(parts(axis=False)).claim.fix


EXCHANGES = ("ReduceScatterMinimalAsync", "AllGatherAsync")


@for_all(("names", "rows"), [(("Pad", *EXCHANGES), [1]), ((*EXCHANGES, "Slice"), [3])])
def test_one_of_both_is_enough(check, names, rows):
    assert check.ask(parts(names=names)).claim.rows.tolist() == rows


@for_all(
    "names",
    [EXCHANGES, ("Pad", "AllGatherAsync", "Slice"), ("Pad", "ReduceScatterMinimalAsync", "Slice"),
     ("Pad", "ReduceScatterMinimalAsync", "LayerNorm", "AllGatherAsync", "Slice"),
     ("Typecast", *EXCHANGES, "Softmax"), ("Pad", "AllGatherAsync", "AllGatherAsync", "Slice"),
     ("Pad", "ReduceScatterMinimalAsync", "AllGatherMatmulAsync", "Slice")],
    ids=str,
)  # fmt: skip
def test_other_sequences_are_none(check, names):
    assert check.ask(parts(names=names)).status == "clean"


@for_all(("elsewhere", "rows"), [("Pad", [5]), ("ReduceScatterMinimalAsync", []), ("AllGatherAsync", [1])])
def test_what_others_read_too_stays(check, elsewhere, rows):
    outcome = check.ask(parts(elsewhere=elsewhere))
    assert [row for claim in outcome.claims for row in claim.rows.tolist()] == rows


def test_an_exchange_of_the_models_input_has_no_pad(check):
    program = Program("wormhole_b0", devices=8)
    put_parts(program, names=EXCHANGES)
    put(
        program,
        DeviceOp("PadDeviceOperation", (program.tensor([1, 1, 32, 64]),), (program.tensor([1, 1, 32, 96]),), 9_000),
    )
    assert check.ask(program).status == "clean"


def test_one_percent_is_worth_telling(check):
    def longer(share):
        program = parts()
        pass_time(program, 55_000 / share - 245_000)
        return program

    check.pair(longer, silent=0.00995, fires=0.01005)


def test_one_device_is_not_applicable(check):
    program = Program("wormhole_b0")
    put_parts(program)
    assert check.ask(program).why == "one device"


def test_without_operands_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), parts())), "INPUT_n")


def test_real_exchanges_without_pads_are_none(check):
    assert check.ask(real_case(DEEPSEEK)).status == "clean"
