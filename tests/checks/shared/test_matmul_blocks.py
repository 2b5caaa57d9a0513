"""What the checks of a matmul's program config share: their needs, and that a config is told of one problem only."""

from __future__ import annotations

import pytest

from tests.checks.asking import asker
from tests.checks.matmul_programs import ONE_WAY, config, deep, linear, of_linear, one_way
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, rewritten, timeless, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

PROGRAMS = {
    "matmul-in-many-steps": lambda: deep(kernel_ns=900_000),
    "matmul-multicast-one-way": one_way,
    "matmul-small-blocks": lambda: of_linear(program_config=config(block=1)),
    "matmul-without-config": lambda: of_linear(kernel_ns=150_000),
}
each = for_all("name", PROGRAMS)


@pytest.fixture
def telling(tmp_path):
    """The checks that tell of a program, each with the rows."""

    def rows_by_check(program):
        outcomes = {name: asker(name, tmp_path / name).ask(program) for name in PROGRAMS}
        return {name: outcome.claim.rows.tolist() for name, outcome in outcomes.items() if outcome.fires}

    return rows_by_check


@each
def test_each_tells_of_its_own_config_alone(telling, name):
    assert telling(PROGRAMS[name]()) == {name: [0]}


def test_small_blocks_and_guesses_are_told_apart(telling):
    program = of_linear(program_config=config(block=1))
    linear(program, m=2048, kernel_ns=300_000)
    assert telling(program) == {"matmul-small-blocks": [0], "matmul-without-config": [1]}


def test_tall_small_and_in_many_steps_are_one_claim(telling):
    assert list(telling(one_way(block=2))) == ["matmul-multicast-one-way"]
    small = of_linear(k=4096, program_config=config(block=1), kernel_ns=900_000)
    assert list(telling(small)) == ["matmul-small-blocks"]


@for_all(("rows", "name"), [(128, "matmul-multicast-one-way"), (96, "matmul-small-blocks")])
def test_small_blocks_of_a_1d_config_are_told_once(telling, rows, name):
    given = config(block=1, name=ONE_WAY)[:-1] + ",mcast_in0=1)"
    assert list(telling(of_linear(m=rows, k=2048, n=2048, kernel_ns=200_000, program_config=given))) == [name]


@each
def test_a_window_without_kernel_time_is_clean(name, tmp_path):
    check = asker(name, tmp_path)
    assert check.ask(timeless(PROGRAMS[name]())).status == "clean"


@each
def test_a_compiler_has_an_option_instead(name, tmp_path):
    check = asker(name, tmp_path)
    fix = check.ask(PROGRAMS[name](), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("chooses matmul configs")


@each
def test_a_run_without_matmuls_is_not_applicable(name, tmp_path):
    check = asker(name, tmp_path)
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no Matmul ops")


@each
@for_all(
    ("lost", "word"),
    [
        (("PUT_",), "INPUT_n"),
        (("INPUT_1", "INPUT_2"), "INPUT_n"),
        (("CORE COUNT",), "no CORE COUNT"),
        (("=CORE COUNT=",), "no CORE COUNT"),
        (("ATTRIBUTES",), "program_config in ATTRIBUTES"),
        (("MATH FIDELITY",), "MATH FIDELITY"),
    ],
)
def test_what_it_cannot_see_it_cannot_tell(tmp_path, lost, word, name):
    check = asker(name, tmp_path)
    assert_cannot_tell(check.ask(without(tmp_path, lost)), word)


@each
def test_an_unknown_chip_has_no_roofline_and_a_matmul_without_its_config_no_judge(tmp_path, name):
    check = asker(name, tmp_path)
    assert_cannot_tell(check.ask(rewritten(tmp_path, of_linear(), DEVICE_ARCH="quasar")), "DEVICE ARCH")
    program = Program("wormhole_b0")
    x, w, y = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 10_000))
    assert_cannot_tell(check.ask(program), "program_config in ATTRIBUTES")
