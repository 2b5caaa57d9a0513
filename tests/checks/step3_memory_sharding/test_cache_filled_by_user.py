"""cache-filled-by-user: fills of single users."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

PART = [1, 8, 512, 128]


def fills(program, users=4, *, part=PART, between=("Slice",), ns=20_000):
    """Each user's keys, prepared and written."""
    cache = program.tensor([256, 8, 32, 128], "BFLOAT8_B")
    whole = put(program, DeviceOp("MadeUp", (program.tensor([1, 1, 32, 64]),), (program.tensor([users, 8, 512, 128]),), 5_000))  # fmt: skip
    for _ in range(users):
        x = whole
        for name in between:
            x = put(program, DeviceOp(f"{name}DeviceOperation", (x,), (program.tensor(part),), 15_000))
        put(program, DeviceOp("PagedFillCacheDeviceOperation", (cache, x), (cache,), ns))


def of(build, *args, **how):
    program = Program("blackhole")
    build(program, *args, **how)
    return program


def test_fills_by_user_are_one_call(check):
    claim = check.assert_sound(of(fills))
    assert claim.claim.startswith("4 fills write a cache user by user (140 us, 89.2% with slices): ")
    assert claim.rows.tolist() == [*range(1, 9)]
    slices, writes = claim.at_most_ns[::2], claim.at_most_ns[1::2]
    assert slices.tolist() == [15_000] * 4
    assert ((writes > 0) & (writes < 20_000)).all()
    assert "batch_idx_tensor=users" in claim.fix


def test_four_fills_are_the_line(check):
    check.pair(lambda users: of(fills, users), silent=3, fires=4)


def test_a_fill_of_several_users_is_what_is_wanted(check):
    check.pair(lambda part: of(fills, part=part), silent=[2, 8, 512, 128], fires=PART)


@for_all("kind", ["Slice", "Typecast", "Reshape"])
def test_what_prepares_a_users_rows_may_stand_between(check, kind):
    check.pair(lambda between: of(fills, between=between), silent=(kind,) * 4, fires=(kind,) * 3)
    check.pair(lambda between: of(fills, between=between), silent=("Unary",), fires=(kind,))


def test_slices_elsewhere_are_not_counted(check):
    program = Program("blackhole")
    for _ in range(2):
        put(program, DeviceOp("SliceDeviceOperation", (program.tensor(PART),), (program.tensor([1, 8, 32, 128]),), 1_000))  # fmt: skip
    fills(program)
    put(
        program,
        DeviceOp("SliceDeviceOperation", (program.tensor(PART),), (program.tensor([1, 8, 32, 128]),), 1_000),
    )
    assert check.ask(program).claim.rows.tolist() == [*range(3, 11)]


def unpaged(program, users=(0, 1, 2, 3), *, kind="FILL", name="UpdateKVCacheOperation"):
    """As ttnn.fill_cache writes them: a user's number in each row's attributes."""
    cache = program.tensor([32, 8, 1024, 128], "BFLOAT8_B")
    whole = put(program, DeviceOp("MadeUp", (program.tensor([1, 1, 32, 64]),), (program.tensor([4, 8, 512, 128]),), 5_000))  # fmt: skip
    for user in users:
        x = put(program, DeviceOp("SliceDeviceOperation", (whole,), (program.tensor(PART),), 15_000))
        attributes = {
            "batch_idx": user,
            "batch_offset": 0,
            "op_type": f"UpdateCacheOpType::{kind}",
            "update_idx": 0,
        }
        put(program, DeviceOp(name, (cache, x), (cache,), 20_000, attributes=attributes))


@for_all("name", ["UpdateKVCacheOperation", "UpdateCache"])
def test_a_cache_without_pages_has_no_call_for_all_users(check, name):
    claim = check.assert_sound(of(unpaged, name=name))
    assert claim.rows.tolist() == [*range(1, 9)]
    assert claim.fix.startswith("page the cache, [blocks,heads,64,d]: ttnn.experimental.paged_fill_cache(")
    assert check.ask(of(fills)).claim.fix.startswith("ttnn.experimental.paged_fill_cache(")


@for_all(
    ("silent", "fires"),
    [
        ({"users": (0, 1, 2)}, {"users": (0, 1, 2, 3)}),
        ({"users": (0, 0, 0, 0)}, {"users": (0, 0, 1, 1)}),
        ({"kind": "UPDATE"}, {"kind": "FILL"}),
        ({"kind": None}, {"kind": "FILL"}),
    ],
    ids=["three users", "one user", "updates", "who knows"],
)
def test_fills_without_pages_are_those_of_several_users(check, silent, fires):
    check.pair(lambda how: of(unpaged, **how), silent=silent, fires=fires)


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(fills, 0.005, of="time", arch="blackhole")


def test_a_run_without_paged_caches_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of(fills))), "INPUT_n")
