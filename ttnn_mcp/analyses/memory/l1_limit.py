"""The L1 per core that tensors and circular buffers share on the run's chip."""

from __future__ import annotations

from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.run import Run

SAFE_SHARE = 0.95  # of the limit: the models of L1 use are good to about 5 %


@dataclass(frozen=True, slots=True)
class L1Limit:
    """Bytes per core above the base that firmware keeps.

    Attributes:
        limit_bytes: what circular buffers and tensors share.
        small_bytes: the part of it that `l1_small_size` reserved; 0 if unknown.
        read: whether it is the memory report's `devices.cb_limit`, not the architecture's figure.
        measured: False if the architecture's figure itself is inferred (Grayskull).
    """

    limit_bytes: int
    small_bytes: int
    read: bool
    measured: bool

    @property
    def safe_bytes(self) -> int:
        """The largest predicted use that still counts as safe."""
        return min(int(SAFE_SHARE * self.limit_bytes), self.limit_bytes - self.small_bytes)


def l1_limit(run: Run) -> L1Limit | None:
    """The limit from the memory report, otherwise of the architecture; None for an unknown architecture."""
    for device in run.memory.devices if run.memory else ():
        if device.cb_limit_bytes:
            return L1Limit(device.cb_limit_bytes, device.l1_small_bytes or 0, read=True, measured=True)
    chip = run.chip.architecture
    if chip is None:
        return None
    return L1Limit(chip.usable_l1_bytes, 0, read=False, measured=chip.first_cb_address_measured)


def first_program_address(memory: MemoryReport) -> int:
    """Address at which circular and dataflow buffers begin; it changes with releases; 0 if unknown."""
    device = next(iter(memory.devices), None)
    return (device.first_cb_address or 0) if device else 0
