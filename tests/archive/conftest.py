"""What the tests of the archive share: an archive has all the time it wants, also on a busy machine."""

import pytest

from ttnn_mcp.archive import memory_of_ops


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    monkeypatch.setattr(memory_of_ops, "PATIENCE_S", 60.0)
    memory_of_ops._say.cache_clear()  # what one test said, the next may have to say
