"""What dies in a process of a pool. The process loads this module, and need not load a test."""

import os
import signal
from pathlib import Path

from ttnn_mcp.archive.adding import add_batch


def dies_once(folder, batch, provenance):
    """In a process of the pool: killed as by the kernel's memory killer, the first time."""
    mark = Path(folder).with_name("died")
    if not mark.exists():
        mark.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return add_batch(folder, batch, provenance)


def always_dies(_folder, _batch, _provenance):
    os.kill(os.getpid(), signal.SIGKILL)
