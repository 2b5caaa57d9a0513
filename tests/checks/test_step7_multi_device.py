"""Every check of step 7: what it answers where there are no devices to compare, or nothing that they exchanged."""

from itertools import count

from tests.checks.asking import Asker, real_case
from tests.checks.mesh_programs import Gather, attention, mesh, with_lost_rows, with_other_ops
from tests.checks.rows import pass_time
from tests.for_all import for_all
from tests.shared_reports import CLIP
from ttnn_mcp.checks import CATALOGUE

EVERY = [check.id for check in CATALOGUE if check.step == 7]
LAUNCH_BY_LAUNCH = (
    *("all-reduce-untried", "collective-bandwidth", "collective-share", "collective-topology"),
    *("device-imbalance", "exchange-workers-untried"),
)


@for_all("name", EVERY)
def test_one_device_has_no_other(tmp_path, name):
    check = Asker(name, tmp_path, count())
    program = mesh(devices=1)
    Gather(900_000).put(program)
    outcome = check.ask(program)
    assert (outcome.status, outcome.why) == ("not_applicable", "one device")


@for_all("name", EVERY)
def test_clip_ran_on_one_device(tmp_path, name):
    check = Asker(name, tmp_path, count())
    assert check.ask(real_case(CLIP)).why == "one device"


@for_all("name", LAUNCH_BY_LAUNCH)
def test_devices_with_other_rows_are_not_compared(tmp_path, name):
    check = Asker(name, tmp_path, count())
    lost = check.ask(with_lost_rows(tmp_path / "lost"))
    assert lost.status == "cannot_tell"
    assert "devices ran different ops (1 to 2 each): rows dropped" in lost.why
    other = check.ask(with_other_ops(tmp_path / "other"))
    assert other.status == "cannot_tell"
    assert "or a pipeline by design" in other.why


@for_all("name", EVERY)
def test_devices_that_exchange_nothing_and_do_the_same_are_clean(tmp_path, name):
    check = Asker(name, tmp_path, count())
    program = mesh()
    attention(program, 100_000)
    pass_time(program, 10_000)
    assert check.ask(program).status == "clean"


@for_all("name", EVERY)
def test_a_mesh_without_kernel_time_is_clean(tmp_path, name):
    check = Asker(name, tmp_path, count())
    program = mesh()
    attention(program, 0)
    assert check.ask(program).status == "clean"
