"""batches-through-dram: what ops pass on of many batches, where a few at a time fit L1."""

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, rewritten
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp, Placement
from tests.profiles.ops import matmul

BATCHES = [16, 4, 512, 512]  # 33.6 MB in BFLOAT16, 0.52 a batch; a quarter of the L1 of 64 cores is 21 MB
TOOK = 1_000_000
DRAM, L1 = Placement("DRAM"), Placement("L1")
CHAIN = ("Typecast", "Softmax")


def chain(
    names=CHAIN, *, shape=BATCHES, place=DRAM, ns=TOOK, matmul_ns=None, inner=64, after=None, read_twice=False,
    program=None, **attributes,
):  # fmt: skip
    """Scores of each batch, and what ops make of them one after the other; the last one of the shape `after`."""
    program = program or Program("wormhole_b0")
    scores = program.tensor(shape, placement=place)
    x, keys = program.tensor([*shape[:2], shape[2], inner]), program.tensor([*shape[:2], inner, shape[3]])
    put(program, matmul(x, keys, scores, matmul_ns or ns))
    for at, name in enumerate(names):
        last = at == len(names) - 1
        made = program.tensor((last and after) or shape, placement=place)
        if read_twice:
            put(program, DeviceOp("TransposeDeviceOperation", (scores,), (program.tensor([1, 1, 32, 32]),), 1_000))
        put(program, DeviceOp(f"{name}DeviceOperation", (scores,), (made,), ns, attributes=attributes))
        scores = made
    return program


def test_makers_and_readers_are_told_with_as_many_batches_as_fit(check):
    outcome = check.assert_sound(chain())
    assert outcome.rows.tolist() == [0, 1, 2]
    assert outcome.claim.startswith(
        "3 ops pass 64 batches on through DRAM, of which 40 fit L1 (3.0 ms, 99.9%): 33.6 MB"
    )
    assert "in a loop, 40 batches or rows at a time" in outcome.fix
    assert outcome.is_trial
    program = chain(("Softmax",))  # of what is passed on, however small the last result
    scores, out = program.device_ops[-1].outputs[0], program.tensor([16, 4, 512, 64])
    put(program, matmul(scores, program.tensor([16, 4, 512, 64]), out, 2 * TOOK))
    outcome = check.assert_sound(program)
    assert "of which 40 fit L1 (4.0 ms, 99.9%): 33.6 MB" in outcome.claim
    program = chain(shape=[1, 8, 2048, 2048], program=chain())  # other numbers, and larger ones
    many, few = sorted(check.ask(program).claims, key=lambda one: one.rows[0])
    assert "64 batches on through DRAM, of which 40 fit" in many.claim
    assert "8 batches on through DRAM, of which 2 fit" in few.claim
    assert "2 batches or rows at a time" in few.fix
    alike = chain(shape=[8, 8, 640, 640], program=chain())
    assert "of which 25 fit" in check.ask(alike).claim.claim


def test_four_fifths_or_what_comes_from_outside_is_the_bound(check):
    """Queries and keys, 33.6 MB, take 117 us at peak; arithmetic less."""
    program = chain(inner=256, matmul_ns=300_000)
    first, *others = check.ask(program).claim.at_most_ns.tolist()
    assert first == pytest.approx(300_000 - 116_508.4)
    assert others == [pytest.approx(0.8 * TOOK)] * 2


@for_all(
    ("how", "told"),
    [
        ({"shape": [8, 4, 512, 512]}, False),  # 16.8 MB fit
        ({"shape": [1, 16, 2048, 2048]}, True),  # a batch of 8.4 MB
        ({"shape": [1, 2, 4096, 4096]}, False),  # one of 33.6
        ({"shape": [1, 1, 4096, 4096]}, False),
        ({"place": L1}, False),
        ({"place": Placement("DRAM", "HEIGHT_SHARDED")}, False),
        ({"names": ("Transpose", "Softmax")}, False),
        ({"names": ("Unary",)}, True),
        ({"names": ("LayerNorm",)}, True),
        ({"names": ("Permute",)}, False),
        ({"names": ("Unary",), "after": [1, 1, 512, 512]}, False),
        ({"names": ("Unary",), "after": [16, 1, 512, 512]}, False),
        ({"read_twice": True}, False),
        ({"names": ("Softmax",), "dim": "3"}, True),
        ({"names": ("Softmax",), "dim": "2"}, True),
        ({"names": ("Softmax",), "dim": "-2"}, True),
        ({"names": ("Softmax",), "dim": "1"}, False),
        ({"names": ("Softmax",), "dim": "0"}, False),
        ({"names": ("Unary",), "dim": "0"}, True),
    ],
)
def test_what_could_stay_in_l1(check, how, told):
    assert check.ask(chain(**how)).fires is told


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(lambda program: chain(program=program), 0.01, of="saving")
    assert check.ask(chain(ns=50_000)).at_most_ns == 0  # quicker than their bytes


def test_without_placements_bandwidth_or_such_ops_nothing_is_told(check, tmp_path):
    assert check.ask(chain(), without="MEMORY").status == "cannot_tell"
    assert_cannot_tell(check.ask(rewritten(tmp_path, chain(), DEVICE_ARCH="later_chip")), "bandwidth")
    program = Program("wormhole_b0")
    x = program.tensor(BATCHES)
    put(program, DeviceOp("TransposeDeviceOperation", (x,), (program.tensor(BATCHES),), TOOK))
    assert check.ask(program).status == "not_applicable"
