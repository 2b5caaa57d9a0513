"""sdpa-uneven-chunks: chunks of queries, and the core that has most of them."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

GRID = "compute_with_storage_grid_size=(x=11,y=10)"


def attending(
    chunk=128, *, heads=6, rows=2336, width=128, name="RingJointSDPA", kernel_ns=1_480_000, grid=GRID, keys=512,
    more="", causal=False, batch=1,
):  # fmt: skip
    """Wan 2.2: six heads of 2336 rows."""
    program = Program("blackhole")
    q, k, v, y = (program.tensor([batch, heads, rows, width]) for _ in range(4))
    config = f"SDPAProgramConfig({grid},q_chunk_size={chunk},k_chunk_size={keys}{more})"
    attributes = {"is_causal": causal, "program_config": config}
    op = DeviceOp(f"{name}DeviceOperation", (q, k, v), (y,), kernel_ns, fidelity="HiFi2", attributes=attributes)
    put(program, op)
    return program


def test_two_rounds_of_128_rows_are_one_of_160(check):
    """tt-metal measured 1480 and 1068 us."""
    outcome = check.ask(attending())
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 attention op gives the fullest core 256 rows of queries, not 160 (1.5 ms")
    assert claim.fix.startswith("program_config=ttnn.SDPAProgramConfig(")
    assert "q_chunk_size=160, k_chunk_size=512, " in claim.fix
    assert claim.at_most_ns.tolist() == [1_480_000 * (1 - 160 / 256)]
    assert claim.at_most_ns[0] / 1e3 >= 1480 - 1068.4
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "ATTRIBUTES.program_config")]


@for_all(
    ("name", "grid"),
    [
        ("RingJointSDPA", "(11, 10)"),  # the exchange has the other cores
        ("ScaledDotProductAttention", "device.compute_with_storage_grid_size()"),
    ],
)
def test_a_ring_keeps_its_grid(check, name, grid):
    assert f"compute_with_storage_grid_size={grid}, q_chunk_size=160" in check.ask(attending(name=name)).claim.fix


def test_where_each_core_has_several_chunks_a_few_rows_less_are_a_trial(check):
    """Of two chunks of 128 rows one of 192 stays, or one of 160; of one of 256 one of 192."""

    def expects(heads, chunk):
        return check.ask(attending(chunk, heads=heads)).claim.expected is not None

    assert (expects(8, 128), expects(6, 128), expects(8, 256)) == (False, True, True)


@for_all(
    ("printed", "approximate"),
    [("", True), ("std::nullopt", True), ("true", True), ("1", True), ("false", False), ("0", False)],
)
def test_the_exponent_stays_as_it_is(check, printed, approximate):
    """A config that leaves it open has the approximate one."""
    fix = check.ask(attending(more=f",exp_approx_mode={printed}" * bool(printed))).claim.fix
    assert f"exp_approx_mode={approximate})" in fix


@for_all(
    ("printed", "kept"),
    [
        ("", ")"),
        (",max_cores_per_head_batch=16", ")"),
        (",max_cores_per_head_batch=8,sub_core_grids=std::nullopt", ", max_cores_per_head_batch=8)"),
    ],
)
def test_cores_that_its_config_tells_stay(check, printed, kept):
    assert f"exp_approx_mode=True{kept}" in check.ask(attending(more=printed)).claim.fix


def test_texts_are_short(check):
    check.assert_sound(attending())


def test_two_of_a_kind_are_told_together(check):
    program = attending()
    put(program, attending(rows=2320, kernel_ns=900_000).device_ops[0])
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 attention ops give the fullest core 256 rows of queries, not 160 (2.4 ms")
    assert claim.rows.tolist() == [0, 1]


@for_all("chunk", [192, 224, 256])
def test_chunks_larger_than_needed_leave_cores_idle_too(check, chunk):
    """1184, 1261 and 1433 us: the fullest core has one chunk each time."""
    assert check.ask(attending(chunk)).at_most_ns == pytest.approx(1_480_000 * (1 - 160 / chunk))


def test_a_tenth_fewer_rows_are_the_line(check):
    """Five heads are 95 chunks of 128 rows, one on each core."""
    check.pair(attending, silent=160, fires=192)
    check.pair(lambda heads: attending(heads=heads), silent=5, fires=6)


def test_causal_chunks_differ_in_work(check):
    check.pair(lambda causal: attending(causal=causal), silent=True, fires=False)
    check.pair(lambda name: attending(name=name), silent="WindowedSDPA", fires="ScaledDotProductAttention")


@for_all("name", ["SdpaDecode", "FlashMLA"])
def test_a_cache_is_shared_out_otherwise(check, name):
    check.pair(lambda one: attending(name=one), silent=name, fires="ScaledDotProductAttention")


@for_all(
    "change",
    [{"grid": "compute_with_storage_grid_size=?"}, {"more": ",sub_core_grids={[(x=0,y=0) - (x=3,y=9)]}"}],
    ids=["no grid", "cores of its own"],
)
def test_without_a_grid_nobody_knows_the_rounds(check, change):
    assert check.ask(attending(**change)).status == "clean"


@for_all("config", [f"SDPAProgramConfig({GRID})", None], ids=["no chunk", "no config"])
def test_a_chunk_of_32_rows_is_even(check, config):
    """The default: no larger one leaves the fullest core fewer rows."""
    program = attending()
    program.device_ops[0].attributes = {"is_causal": False, "program_config": config}
    assert check.ask(program).status == "clean"


def test_a_chunk_that_does_not_fit_is_no_advice(check):
    """Heads 1024 wide: 160 rows of them and of keys fill L1."""
    check.pair(lambda width: attending(width=width), silent=1024, fires=128)


def test_a_chunk_below_the_present_one_fits(check):
    """The present one runs, whatever we count."""
    check.pair(lambda chunk: attending(chunk, width=1024), silent=128, fires=256)


ON_FIVE = {"heads": 1, "grid": "compute_with_storage_grid_size=(x=5,y=1)"}


@for_all("changed", [(1120, 256, 224), (1440, 384, 320)], ids=str)
def test_the_largest_chunk_told_has_224_rows(check, changed):
    """In chunks of 288, 1440 rows are one for each of five cores."""
    rows, now, then = changed
    assert f"core {now} rows of queries, not {then} (" in check.ask(attending(rows=rows, **ON_FIVE)).claim.claim


def test_five_microseconds_are_worth_a_word(check):
    tiny = {**ON_FIVE, "rows": 1120, "width": 32, "keys": 128}
    check.pair(lambda ns: attending(kernel_ns=ns, **tiny), silent=4_999, fires=5_000)


def test_only_attention_is_read(check):
    """Beside one whose chunks are even."""

    def beside(name):
        program = attending(160)
        put(program, attending(name=name).device_ops[0])
        return program

    check.pair(beside, silent="MadeUpOfNoFamily", fires="RingJointSDPA")


def test_without_attention_it_is_not_applicable(check):
    assert check.ask(attending(name="MadeUpOfNoFamily")).status == "not_applicable"


def test_arithmetic_stays(check):
    plain = "ScaledDotProductAttention"
    needed = check.case(attending(name=plain)).roofline.compute_ns[0]
    outcome = check.ask(attending(name=plain, kernel_ns=round(needed * 1.2)))
    assert outcome.at_most_ns == pytest.approx(needed * 0.2, rel=0.01)


def test_one_percent_of_the_window_is_worth_telling(check):
    attention = attending(name="ScaledDotProductAttention").device_ops[0]
    check.share_pair(lambda program: put(program, attention), 0.01, of="saving")


@for_all("lost", [("INPUT_",), ("ATTRIBUTES",)])
def test_without_operands_or_attributes_it_cannot_tell(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, lost, attending())), lost[0].rstrip("_"))


def test_the_line_of_a_tenth_holds_beside_others(check):
    program = attending()
    put(program, attending(160, rows=2320).device_ops[0])
    assert check.ask(program).claim.rows.tolist() == [0]
