"""Where the blocks of a page run: TTNN, a device, and the names they find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.real.rig.devices import opened


@dataclass
class Stage:
    """TTNN, torch, and the namespace in which the blocks of a page run."""

    ttnn: Any
    torch: Any
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    def open(self, **options: Any) -> None:
        """Open the device that the blocks call `device`."""
        self.names |= {"ttnn": self.ttnn, "torch": self.torch, "device": opened(self.ttnn, **options)}
        self.names["hifi2"] = self.ttnn.init_device_compute_kernel_config(
            self.names["device"].arch(), math_fidelity=self.ttnn.MathFidelity.HiFi2
        )

    def close(self) -> None:
        """Close what is open."""
        if "mesh" in self.names:
            self.ttnn.close_mesh_device(self.names.pop("mesh"))
        if "device" in self.names:
            self.ttnn.close_device(self.names.pop("device"))

    def give(self, **values: Any) -> None:
        """Names for the next block."""
        self.names |= values

    def tensor(self, *shape: int, dtype: str = "bfloat16", layout: str = "TILE_LAYOUT", **where: Any) -> Any:
        """A tensor on the device."""
        where.setdefault("device", self.names.get("mesh", self.names.get("device")))
        return self.ttnn.zeros(shape, dtype=getattr(self.ttnn, dtype), layout=getattr(self.ttnn, layout), **where)

    def rows(self, *shape: int) -> Any:
        """A tensor on the device, one row a page."""
        return self.tensor(*shape, layout="ROW_MAJOR_LAYOUT")

    def host(self, *shape: int) -> Any:
        """A torch tensor."""
        return self.torch.rand(shape)
