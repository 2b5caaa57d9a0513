"""sharded-after-writing: moves into shards of what an op could have written there itself."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, Program, block_sharded, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import interleaved_to_sharded

SIDES = [1, 1, 512, 512]
BY_HEIGHT, BY_BLOCK = height_sharded(32, 512, 16), block_sharded(128, 128, (4, 4))


def moved(
    program,
    code="SliceDeviceOperation",
    *,
    place=BY_HEIGHT,
    to="BFLOAT16",
    read_twice=False,
    reader="MadeUp",
    source=DRAM,
):
    """A slice of 36 us, its move into shards of 20, and who reads the shards."""
    part = program.tensor(SIDES)
    put(program, DeviceOp(code, (program.tensor([1, 2, 512, 512], placement=source),), (part,), 36_000))
    if read_twice:
        put(program, DeviceOp("MadeUp", (part,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))
    shards = put(program, interleaved_to_sharded(part, program.tensor(SIDES, to, placement=place), 20_000))
    put(
        program,
        DeviceOp(
            f"{reader.partition(chr(32))[0]}DeviceOperation",
            (shards,),
            (program.tensor([1, 1, 32, 64], "UINT16"),),
            5_000,
        ),
    )


def of(*args, **how):
    program = Program("wormhole_b0")
    moved(program, *args, **how)
    return program


def test_the_slice_writes_the_shards(check):
    claim = check.assert_sound(of(), above=1)
    assert claim.claim.startswith("Moves into shards of what the op before could write in shards (1x, 20 us, ")
    assert claim.claim.endswith("behind Slice at line 5")
    assert claim.fix.startswith(
        "memory_config= of line 6 in the call of line 5 (Slice), and no ttnn.to_memory_config"
    )
    assert claim.at_most_ns.tolist() == [20_000]


@for_all(
    ("code", "place", "told"),
    [
        ("BinaryNgDeviceOperation", BY_BLOCK, True),
        ("LayerNormDeviceOperation", BY_BLOCK, True),
        ("RotaryEmbeddingDeviceOperation", BY_HEIGHT, True),
        ("RotaryEmbeddingDeviceOperation", BY_BLOCK, False),
        ("TypecastDeviceOperation", BY_HEIGHT, False),
        ("SdpaDecodeDeviceOperation", BY_HEIGHT, False),
        ("MatmulDeviceOperation", BY_HEIGHT, False),
    ],
)
def test_who_writes_shards(check, code, place, told):
    assert check.ask(of(code, place=place)).fires is told


@for_all(
    "how",
    [
        {"to": "BFLOAT8_B"},
        {"read_twice": True},
        {"reader": "Halo"},
        {"reader": "Halo behind a Move"},
        {"source": height_sharded(64, 512, 16)},
    ],
    ids=str,
)
def test_casts_tensors_that_others_read_and_inputs_of_convs_stay(check, how):
    check.pair(lambda one: of(**one), silent=how, fires={})


def test_what_no_op_of_the_window_wrote_is_not_told(check):
    program = Program("wormhole_b0")
    put(program, interleaved_to_sharded(program.tensor(SIDES), program.tensor(SIDES, placement=BY_HEIGHT), 20_000))
    pass_time(program, 1_000)
    assert check.ask(program).status == "clean"


def test_half_a_percent_of_the_window_is_worth_telling(check):
    check.share_pair(moved, 0.005, of="time")


def test_a_run_without_moves_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("_MEMORY",), of())), "MEMORY")
