"""From where on a claim is told: 1 % of the window, or half of it where no accuracy is at stake."""

from __future__ import annotations

from itertools import count

from tests.checks.asking import Asker
from tests.checks.programs import prefill
from tests.checks.rows import put
from tests.profiles.model import DeviceOp


def joined_heads(program):
    x, y = program.tensor([16, 12, 1, 128]), program.tensor([16, 1, 1, 1536])
    put(program, DeviceOp("NLPConcatHeadsDeviceOperation", (x,), (y,), 20_000))


def test_what_may_cost_accuracy_must_save_one_percent(tmp_path):
    Asker("fidelity-above-operands", tmp_path, count()).share_pair(prefill, 0.01, of="saving")


def test_what_cannot_must_save_half_of_it(tmp_path):
    Asker("decode-heads-as-prefill", tmp_path, count()).share_pair(joined_heads, 0.005, of="saving")
