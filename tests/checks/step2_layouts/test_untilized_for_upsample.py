"""untilized-for-upsample: conversions in front of an upsample that reads tiles."""

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, without
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.model import DeviceOp

SHARDS = height_sharded(1024, 64, (8, 8))


def put_upsample(
    program,
    *,
    first="Untilize",
    mode="nearest",
    also=False,
    side=256,
    us=298,
    place=DRAM,
    into=DRAM,
    reader="UpSample",
    channels=64,
    to=None,
):
    shape = [1, side, side, channels]
    x, y = program.tensor(shape, placement=place), program.tensor(shape, layout="ROW_MAJOR", placement=into)
    put(program, DeviceOp(f"{first}DeviceOperation", (x,), (y,), 1000 * us))
    wide = program.tensor([1, *(to or (2 * side, 2 * side)), channels], layout="ROW_MAJOR")
    put(program, DeviceOp(f"{reader}DeviceOperation", (y,), (wide,), 500_000, attributes={"mode": mode}))
    if also:
        rows = program.tensor([1, 1, 32, 96], layout="ROW_MAJOR")
        put(program, DeviceOp("SliceDeviceOperation", (y,), (rows,), 9_000))


def upsampling(**how) -> Program:
    program = Program("wormhole_b0")
    put_upsample(program, **how)
    return program


def test_an_untilize_for_an_upsample_is_told(check):
    claim = check.assert_sound(upsampling())
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([0], [298_000])
    assert claim.claim.startswith(
        "1 untilize op in front of an upsample that takes tiles (298 us, 37.3%): 256x256x64"
    )


def test_the_scales_are_those_of_the_op(check):
    assert "scale_factor=2, mode" in check.ask(upsampling()).claim.fix
    assert "scale_factor=(1, 3), mode" in check.ask(upsampling(to=(256, 768))).claim.fix


def test_tiles_are_full_and_scales_are_whole_numbers(check):
    """Real TTNN: "Tiled input must be tile-aligned", and tiles for integer scales only."""
    check.pair(lambda channels: upsampling(channels=channels), silent=60, fires=96)
    check.pair(lambda side: upsampling(side=side), silent=250, fires=192)
    check.pair(lambda to: upsampling(to=to), silent=(512, 384), fires=(256, 512))


def test_two_are_one_claim(check):
    program = upsampling()
    put_upsample(program, side=128, first="UntilizeWithUnpadding", us=700)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 2]
    assert claim.claim.startswith("2 untilize ops in front of an upsample that takes tiles (998 us")
    assert "128x128x64" in claim.claim


@for_all(
    "how",
    [{"first": "Unary"}, {"mode": "bilinear"}, {"also": True}, {"place": SHARDS}, {"into": SHARDS}],
    ids=["unary", "bilinear", "also read", "from shards", "into shards"],
)  # fmt: skip
def test_others_are_none(check, how):
    assert check.ask(upsampling(**how)).status == "clean"


def test_half_a_percent_is_worth_telling(check):
    check.share_pair(put_upsample, 0.005, of="saving")


def test_without_upsamples_or_operands(check, tmp_path):
    assert check.ask(upsampling(reader="Pool2D")).why == "no Upsample ops"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), upsampling())), "INPUT_n")
