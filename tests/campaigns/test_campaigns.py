"""A few of the campaigns that `make campaigns` plays by the thousand, and faults that would be seen."""

import pytest

from tests.campaigns.__main__ import AGENTS, faults
from tests.campaigns.campaign import Campaign, campaign
from tests.campaigns.device import Levers, Truth

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("agent", AGENTS)
async def test_no_agent_makes_the_loop_keep_a_loss_repeat_itself_or_stop_too_early(tmp_path, agent):
    for seed in (3, 11):
        ending = await campaign(tmp_path, agent, seed)
        assert faults(ending) == []
        assert ending.rounds


def test_every_fault_is_told():
    truth = Truth({"weights": 0.5}, {"weights": True})
    wrong = Campaign("greedy", truth, false_keeps=["a"], repeats=["b"], missed=["c"], rounds=40)
    assert [fault.split(":")[0] for fault in faults(wrong)] == [
        "kept falsely",
        "named again",
        "stopped too early",
        "no end after 40 rounds",
    ]


def test_the_best_program_has_the_levers_that_gain_and_keep_accuracy():
    names = Levers.__dataclass_fields__
    factor = dict.fromkeys(names, 1.2) | {"weights": 0.5, "fidelity": 0.8}
    truth = Truth(factor, dict.fromkeys(names, True) | {"fidelity": False})
    assert truth.best() == Levers(weights=True)
    assert truth.kernel_ns(truth.best()) < truth.kernel_ns(Levers())
