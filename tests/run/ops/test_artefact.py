"""What is computed of a table: once for each set of arguments, and for nobody to write into."""

from threading import RLock
from types import SimpleNamespace

import numpy as np
import pytest

from ttnn_mcp.run.ops.artefact import artefact, known, stored


@pytest.fixture
def ops():
    return SimpleNamespace(lock=RLock(), artefacts={})


def test_it_is_computed_once_for_each_set_of_arguments(ops):
    asked = []
    add = artefact(lambda _, one, other=1: asked.append((one, other)) or one + other)
    assert [add(ops, 1), add(ops, 1), add(ops, 2), add(ops, 1, other=5)] == [2, 2, 3, 6]
    assert asked == [(1, 1), (2, 1), (1, 5)]


def test_an_array_is_for_all_and_so_for_none_to_write(ops):
    numbers = artefact(lambda _: np.zeros(3))(ops)
    with pytest.raises(ValueError, match="read-only"):
        numbers[0] = 1


def test_what_is_known_is_not_computed(ops):
    compute = artefact(lambda _: pytest.fail("computed"))
    assert stored(ops, compute) is None
    known(ops, compute, 7)
    assert compute(ops) == stored(ops, compute) == 7
