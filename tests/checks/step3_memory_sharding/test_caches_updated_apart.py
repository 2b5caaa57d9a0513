"""caches-updated-apart: updates of keys beside values."""

from __future__ import annotations

import pytest

from tests.checks.rows import ONE_PASS, pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program, height_sharded
from tests.profiles.model import DeviceOp


def updates(program, *, between=(), second=(1, 32, 8, 128), times=(9_000, 7_000), dtype="BFLOAT8_B", count=2):
    """Keys, then values of a step."""
    put(program, DeviceOp("MadeUp", (program.tensor([1, 1, 32, 64]),), (program.tensor([1, 1, 32, 96]),), 1_000))
    place = height_sharded(32, 128, (8, 4))
    for number, shape in enumerate(([1, 32, 8, 128], [*second], [1, 32, 8, 128])[:count]):
        cache = program.tensor([256, 8, 32, 128], dtype if number else "BFLOAT8_B")
        x = program.tensor(shape, placement=place)
        for name in between if number else ():
            put(program, DeviceOp(f"{name}DeviceOperation", (program.tensor([1, 1, 32, 64]),), (program.tensor([1, 1, 32, 64]),), 1_000))  # fmt: skip
        put(program, DeviceOp("PagedUpdateCacheDeviceOperation", (cache, x), (cache,), times[number % 2]))


def of(**how):
    program = Program("blackhole")
    updates(program, **how)
    return program


def test_keys_and_values_are_updated_at_once(check):
    claim = check.assert_sound(of(), iterations=ONE_PASS, chosen="all")
    assert claim.claim.startswith("Updates of two caches run one after the other (1x) (16 us, ")
    assert claim.rows.tolist() == [1, 2]
    assert claim.at_most_ns.tolist() == [6_000, pytest.approx(4_667, abs=1)]
    assert "paged_fused_update_cache(k_cache" in claim.fix


@for_all(
    "how", [{"second": (1, 32, 4, 128)}, {"dtype": "BFLOAT16"}, {"between": ("Unary",)}, {"count": 1}, {"count": 3}]
)
def test_updates_of_other_kinds_stay(check, how):
    check.pair(lambda one: of(**one), silent=how, fires={}, iterations=ONE_PASS, chosen="all")


def test_half_a_percent_of_the_window_is_the_line(check):
    def program(others):
        made = of()
        pass_time(made, others)
        return made

    check.pair(program, silent=16_000 * 200, fires=16_000 * 195, iterations=ONE_PASS, chosen="all")


def test_a_run_without_paged_caches_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of())), "INPUT_n")
