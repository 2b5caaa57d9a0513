"""conv-shard-layout-slow: only like convs are compared, either layout may win, and the other one must fit L1."""

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.checks.asking import real_case
from tests.checks.conv_programs import TUNED, of_unknown_chip, put_conv, with_conv, with_silent_conv, without_convs
from tests.for_all import for_all
from tests.profiles import Program
from tests.shared_reports import DEEPLAB, OFT
from ttnn_mcp.checks.step6_conv2d.conv_shard_layout_slow import NO_PEER, peers_of

HEIGHT = {"layout": "HEIGHT", "per_core": (1, 16), "block": (1, 24)}  # 2048 x 512 outputs on 64 cores, either way
BLOCK = {"layout": "BLOCK", "channel_cores": 8, "per_core": (8, 2), "block": (8, 3)}
ROWS, COLUMNS, INNER = 2048, 512, 72 * 32  # of the output, and of one sum
FLOP = 2 * ROWS * COLUMNS * INNER
SAFE_L1 = int(0.95 * (1_499_136 - 105_824))  # of a Wormhole core, above what firmware keeps
SHAPES = {  # 2048 x 512 outputs on 64 cores, either way
    "HEIGHT": {"layout": "HEIGHT", "grid": (8, 8), "per_core": (1, 16), "block": (1, 24)},
    "BLOCK": {"layout": "BLOCK", "grid": (8, 8), "channel_cores": 8, "per_core": (8, 2), "block": (8, 3)},
}
STARVED = {"per_core": (1, 16), "block": (1, 24), "inner": 72, "act_double": True}


def conv_in(program, layout, kernel_ns, **change):
    how = {"inner": 72, "act_double": True, "weights_double": True, **SHAPES[layout], **change}
    put_conv(program, kernel_ns=kernel_ns, **how)


def two(slow, fast, **change):
    """Kernel times in ns of a BLOCK conv and of the same in HEIGHT, the latter changed."""
    program = Program("wormhole_b0")
    conv_in(program, "BLOCK", slow)
    conv_in(program, "HEIGHT", fast, **change)
    return program


@for_all(("slow", "fast"), [("HEIGHT", "BLOCK"), ("BLOCK", "HEIGHT")])
@for_all("slow_first", [True, False])
def test_the_faster_layout_of_a_similar_conv_is_proposed_whichever_it_is(check, slow, fast, slow_first):
    program = Program("wormhole_b0")
    pair = [(slow, 260_000), (fast, 100_000)]
    for layout, kernel_ns in pair if slow_first else pair[::-1]:
        conv_in(program, layout, kernel_ns)
    claim = check.ask(program).claim
    line, other = (4, 5) if slow_first else (5, 4)  # of the second iteration
    assert f"TensorMemoryLayout.{fast}_SHARDED, reshard_if_not_optimal=True, act_block_h_override=" in claim.fix
    assert f")  # line {line}: " in claim.fix
    assert claim.at_most_ns.tolist() == [pytest.approx(160_000)]
    rates = f"{FLOP / 260_000 / 1e3:.1f} TFLOP/s against {FLOP / 100_000 / 1e3:.1f} of the {fast}_SHARDED conv"
    assert f"{slow}_SHARDED, {rates} at line {other}" in claim.claim
    assert len(claim.claim) <= 200
    assert [one.row for one in claim.evidence] == [line, line, other]
    assert claim.evidence[0].column == "ATTRIBUTES.memory_config.memory_layout"
    assert [one.value for one in claim.evidence[1:]] == [260_000, 100_000]
    assert claim.assumption == "reaches the faster conv's rate"
    assert f"op_detail(op={line})" in claim.verify


def test_twice_as_fast_is_the_line(check):
    check.pair(lambda slow: two(slow, 100_000), silent=199_000, fires=201_000)


def test_one_percent_of_the_window_is_the_line(check):
    def build(program):
        conv_in(program, "BLOCK", 300_000)
        conv_in(program, "HEIGHT", 100_000)

    check.share_pair(build, 0.01, of="saving")


# The slow conv is HEIGHT, of 4096 x 512 outputs and 72 tiles of inner size; another one is alike up to a factor of 2


def beside(**change):
    program = Program("wormhole_b0")
    conv_in(program, "HEIGHT", 2_000_000, per_core=(2, 16))
    conv_in(program, change.pop("layout", "BLOCK"), 400_000, **{"per_core": (16, 2), "block": (1, 3), **change})
    return program


@for_all(("silent", "fires"), [(33, 32), (7, 8)], ids=["more", "fewer"])
def test_rows_may_differ_by_a_factor_of_two(check, silent, fires):
    # 8 cores share the rows: 256 rows per tile, 8192 or 2048 at the line
    check.pair(lambda tiles: beside(per_core=(tiles, 2)), silent=silent, fires=fires)


@for_all(("silent", "fires"), [(145, 144), (35, 36)], ids=["more", "fewer"])
def test_the_inner_size_may_differ_by_a_factor_of_two(check, silent, fires):
    check.pair(lambda inner: beside(inner=inner), silent=silent, fires=fires)


def test_channels_may_differ_by_a_factor_of_two(check):
    # 8 cores share the channels: 256 per tile, 1024 at the line
    check.pair(lambda tiles: beside(per_core=(16, tiles)), silent=5, fires=4)
    # 4 cores do: 128 per tile, 256 at the line
    few = {"grid": (4, 8), "channel_cores": 4}
    check.pair(lambda tiles: beside(**few, per_core=(16, tiles)), silent=1, fires=2)


@for_all(
    "change",
    [{"fidelity": "HiFi4"}, {"weights": "BFLOAT16"}, {"layout": "HEIGHT", "per_core": (3, 16)}],
    ids=["fidelity", "weights", "layout"],
)
def test_convs_of_other_formats_or_of_the_same_layout_are_no_comparison(check, change):
    assert check.ask(beside()).fires
    assert check.ask(beside(**change)).status == "clean"


def test_a_conv_without_attributes_is_neither_slow_nor_a_comparison(check):
    for known, unknown in ((300_000, 50_000), (50_000, 300_000)):
        program = Program("wormhole_b0")
        conv_in(program, "BLOCK", known)
        conv_in(program, "HEIGHT", unknown)
        program.device_ops[-1].attributes = {}
        assert check.ask(program).status == "clean"


@for_all(("twice_the_rows", "at_best", "line"), [(101_000, 101_000 / 2, 11), (300_000, 100_000, 10)])
def test_the_fastest_of_several_like_convs_sets_the_rate(check, twice_the_rows, at_best, line):
    program = two(300_000, 140_000)
    for more in (0, 40_000):
        conv_in(program, "HEIGHT", 100_000 + more)  # the same again
        conv_in(program, "HEIGHT", twice_the_rows + more, per_core=(2, 16))
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0]
    assert claim.at_most_ns.tolist() == [pytest.approx(300_000 - at_best)]
    assert f"at line {line}" in claim.claim


def test_what_weights_from_dram_need_is_not_promised(check):
    weights_ns = 72 * 16 * 1088 / 288  # tiles of BFLOAT8_B at 288 GB/s: more than the arithmetic of 256 rows takes
    program = Program("wormhole_b0")
    conv_in(program, "BLOCK", 100_000, grid=(8, 4), per_core=(1, 2), block=(1, 3))  # 128 rows
    conv_in(program, "HEIGHT", 6_000, grid=(8, 1))  # 256 rows
    claim = check.ask(program).claim
    assert weights_ns > 6_000 / 2
    assert claim.at_most_ns.tolist() == [pytest.approx(100_000 - weights_ns)]


def test_one_tile_of_rows_per_core_is_starved_where_nothing_else_ran(check):
    claim = check.assert_sound(with_conv(**STARVED))
    assert "HEIGHT_SHARDED, 1 x 16 tiles per core; no BLOCK_SHARDED conv to compare with" in claim.claim
    assert "TensorMemoryLayout.BLOCK_SHARDED, reshard_if_not_optimal=True, act_block_h_override=256" in claim.fix
    assert claim.at_most_ns.tolist() == [pytest.approx(100_000 - FLOP * 2 / (64 * 4096))]  # at best the roofline
    assert "at best the roofline" in claim.assumption


def test_eight_tiles_of_columns_against_one_of_rows_is_the_line(check):
    check.pair(lambda across: with_conv(**{**STARVED, "per_core": (1, across)}), silent=7, fires=8)
    check.pair(lambda down: with_conv(**{**STARVED, "per_core": (down, 16)}), silent=2, fires=1)


WIDE = {"layout": "WIDTH", "channel_cores": 64, "per_core": (8, 1), "block": (8, 9), "act_double": True}


def test_one_tile_of_columns_per_core_is_starved_too(check):
    """Every core passes over all rows: SDXL's conv became more than twice as fast in BLOCK (tt-metal PR #23256)."""
    outcome = check.pair(lambda down: with_conv(**{**WIDE, "per_core": (down, 1)}), silent=7, fires=8)
    assert "WIDTH_SHARDED, 8 x 1 tiles per core; no BLOCK_SHARDED conv to compare with" in outcome.claim.claim
    check.pair(lambda across: with_conv(**{**WIDE, "per_core": (8, across)}), silent=2, fires=1)


def test_a_block_sharded_conv_is_not_starved_by_its_height(check):
    block = {**STARVED, "layout": "BLOCK", "channel_cores": 8, "block": (1, 3)}
    assert check.ask(with_conv(**block)).status == "clean"


def test_a_starved_conv_that_a_like_one_does_not_outrun_is_left_alone(check):
    assert check.ask(two(150_000, 100_000)).status == "clean"


def test_outrun_and_starved_convs_are_two_claims(check):
    program = two(300_000, 100_000)
    conv_in(
        program, "HEIGHT", 400_000, inner=288, block=(1, 96)
    )  # four times the inner size: like none of the others
    outrun, starved = check.ask(program).claims
    assert outrun.rows.tolist() == [0]
    assert starved.rows.tolist() == [2]
    assert "BLOCK_SHARDED, 16.1 TFLOP/s" in outrun.claim
    assert "HEIGHT_SHARDED, 1 x 16 tiles" in starved.claim


def test_the_other_layout_must_fit_l1(check):
    # BLOCK of 8 x 8 cores: output, two tiles of columns of weights, the block twice, tilized, twice row major, the input
    def needed(tiles):
        return 8 * 2 * 1088 + tiles * (2 * 1088 + 2 * 1088 + 1088 + 2 * 2048) + (ROWS + 128) * 64 * 2 // 64

    assert needed(136) <= SAFE_L1 < needed(137)

    def starved(inner):
        return with_conv(**{**STARVED, "inner": inner, "kernel_ns": 5_000_000})

    check.pair(
        starved, silent=24 * 136 + 1, fires=24 * 136
    )  # the inner size is shared by 8 cores and 3 window rows


def test_it_is_the_faster_convs_layout_that_must_fit(check):
    # HEIGHT would take 16 x 96 tiles of weights on each core, 1.7 MB; 8 x 8 cores share them in BLOCK
    wide = {"inner": 288}
    program = Program("wormhole_b0")
    conv_in(program, "HEIGHT", 400_000, **wide, block=(1, 96))
    conv_in(program, "BLOCK", 1_000_000, **wide, block=(8, 12))
    assert check.ask(program).status == "clean"


def test_the_heaviest_is_the_example(check):
    program = with_conv(**STARVED)
    put_conv(program, **{**STARVED, "kernel_ns": 150_000, "per_core": (1, 12)})
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 1]
    assert "2 convs (250 us" in claim.claim
    assert "at line 5, HEIGHT_SHARDED, 1 x 12 tiles" in claim.claim


def test_a_window_without_any_kernel_time_breaks_nothing(check):
    assert check.ask(with_conv(**TUNED, kernel_ns=0)).status == "clean"


def test_a_conv_of_no_measured_time_is_no_comparison(check):
    program = Program("wormhole_b0")
    conv_in(program, "HEIGHT", 2_000_000, per_core=(2, 16))
    conv_in(program, "BLOCK", 0, per_core=(16, 2), block=(1, 3))
    assert check.ask(program).status == "clean"


def test_a_conv_of_no_measured_time_does_not_hide_a_comparison(check):
    program = Program("wormhole_b0")
    conv_in(program, "HEIGHT", 2_000_000, per_core=(2, 16))
    conv_in(program, "BLOCK", 0, per_core=(16, 2), block=(1, 3))
    conv_in(program, "BLOCK", 400_000, per_core=(16, 2), block=(2, 3))
    conv_in(program, "HEIGHT", 400_000, per_core=(3, 16))  # what runs last is faster, and no comparison
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0]
    assert claim.at_most_ns.tolist() == [pytest.approx(1_600_000)]


def test_only_those_that_fit_are_spoken_of(check):
    program = with_conv(**{**STARVED, "inner": 24 * 175, "kernel_ns": 5_000_000})
    put_conv(program, **STARVED)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1]
    assert "at line 5" in claim.claim
    assert claim.at_most_ns.tolist() == [pytest.approx(100_000 - FLOP * 2 / (64 * 4096))]


def test_without_a_known_chip_or_its_cores_nothing_is_said_to_fit(check):
    unknown = of_unknown_chip()
    conv_in(unknown, "BLOCK", 300_000)
    conv_in(unknown, "HEIGHT", 100_000)
    assert check.ask(unknown, generation="C4").status == "cannot_tell"
    assert check.ask(two(300_000, 100_000), without="CORE COUNT").status == "cannot_tell"


def test_a_compilers_user_is_told_the_compilers_option(check):
    claim = check.ask(two(300_000, 100_000), generation="tt-torch").claim
    assert "optimization_level" in claim.fix
    assert "Conv2dConfig" not in claim.fix


def test_nothing_to_judge(check):
    none = check.ask(without_convs())
    assert none.status == "not_applicable"
    assert "Conv2d" in none.why
    silent = check.ask(with_silent_conv())
    assert silent.status == "cannot_tell"
    assert "ATTRIBUTES" in silent.why
    assert check.ask(with_conv(**TUNED)).status == "clean"


def test_deeplab_and_oft_have_no_layout_to_change(check):
    assert check.ask(real_case(DEEPLAB)).status == "clean"
    assert check.ask(real_case(OFT)).status == "clean"  # HEIGHT would be faster, but does not fit L1


def peers(folder, *convs, within=2.0):
    program = Program("wormhole_b0")
    for conv in convs:
        put_conv(program, **{"inner": 72, **conv})
    ops = ops_of(folder, program)
    return peers_of(ops, np.ones(len(ops)), within=within).tolist()


def test_a_peer_is_similar_of_another_layout_and_the_fastest_such(tmp_path):
    slow, quick, mid = (
        {**BLOCK, "kernel_ns": 9_000},
        {**HEIGHT, "kernel_ns": 2_000},
        {**HEIGHT, "kernel_ns": 4_000},
    )
    assert peers(tmp_path, slow, mid, quick) == [2, 0, 0]
    assert peers(tmp_path / "alike", quick, mid) == [NO_PEER, NO_PEER]


@for_all(("within", "found"), [(2.0, [1, 0]), (1.9, [NO_PEER, NO_PEER])])
def test_sizes_may_differ_by_the_factor_that_is_asked_for(tmp_path, within, found):
    assert peers(tmp_path, HEIGHT, {**BLOCK, "per_core": (16, 2)}, within=within) == found


def test_a_conv_whose_time_was_lost_is_no_peer_but_has_one(tmp_path):
    assert peers(tmp_path, {**HEIGHT, "kernel_ns": 0}, {**BLOCK, "kernel_ns": 5_000}) == [NO_PEER, NO_PEER]
    assert peers(tmp_path / "two", {**HEIGHT, "kernel_ns": 0}, HEIGHT, BLOCK) == [2, 2, 1]
