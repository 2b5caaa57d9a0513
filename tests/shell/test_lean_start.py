"""numpy and pydantic start with less, and whoever asks for the rest gets it."""

import os
import sys
from types import ModuleType

import numpy as np
import pytest

from ttnn_mcp.shell.lean_start import NO_PLUGINS, ONE_THREAD, PLUGINS, TYPES, lean_start


@pytest.fixture(autouse=True)
def taken_back(monkeypatch):
    """What it changes is as before after a test."""
    for name, value in (ONE_THREAD, NO_PLUGINS):
        monkeypatch.setenv(name, value)
        monkeypatch.delenv(name)
    for name in ("numpy", TYPES, PLUGINS):
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name) or ModuleType(name))


def test_what_is_loaded_already_stays(monkeypatch):
    monkeypatch.setenv(ONE_THREAD[0], "7")
    before = {name: sys.modules[name] for name in (TYPES, PLUGINS)}
    lean_start()
    assert {name: sys.modules[name] for name in (TYPES, PLUGINS)} == before
    assert [os.environ[name] for name in (ONE_THREAD[0], NO_PLUGINS[0])] == ["7", NO_PLUGINS[1]]


def test_numpy_gets_a_name_for_its_annotations_and_all_others_its_types(monkeypatch):
    with monkeypatch.context() as before_numpy:
        before_numpy.delitem(sys.modules, "numpy")
        lean_start()
    stand_in = sys.modules[TYPES]
    with pytest.raises(AttributeError):
        _ = stand_in.__path__
    assert sys.modules[TYPES] is stand_in
    assert stand_in.NDArray is list
    assert TYPES not in sys.modules
    array_like = stand_in.ArrayLike
    types = sys.modules[TYPES]
    assert types is not stand_in
    assert stand_in.ArrayLike is types.ArrayLike is array_like
    assert stand_in.NDArray[np.float64] == types.NDArray[np.float64]
    assert sys.modules[TYPES] is types


def test_pydantic_has_no_plugins(monkeypatch):
    monkeypatch.delitem(sys.modules, PLUGINS)
    lean_start()
    assert sys.modules[PLUGINS].get_plugins() == ()
