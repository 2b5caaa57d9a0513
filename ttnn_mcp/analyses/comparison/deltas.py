"""How much the time of a group of ops, or of one sample, changed."""

from __future__ import annotations

from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Delta:
    """One group of ops on both sides: kernel time in ns, and number of ops."""

    key: str
    before_ns: int
    after_ns: int
    before_count: int
    after_count: int

    @property
    def delta_ns(self) -> int:
        """Change of kernel time in ns; positive is slower."""
        return self.after_ns - self.before_ns


@dataclass(frozen=True, slots=True)
class PerSample:
    """Kernel time in ns of one sample, where the batch differs; `batch` is None where that is not certain."""

    before_ns: float
    after_ns: float
    batch: tuple[int, int] | None

    @property
    def change_share(self) -> float:
        """Relative change of the time per sample; negative is faster."""
        return self.after_ns / self.before_ns - 1
