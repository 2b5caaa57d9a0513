"""Group norms at random: grids that divide the tensor and others, blocks, with and without weights."""

from __future__ import annotations

from typing import Any

from tests.real.rig.bench import TILE, Bench, Question


def group_norm(bench: Bench) -> dict[str, Any]:
    """One grid or one number of blocks; four in five grids are taken from those that may be legal."""
    one_of, ttnn, (x, y) = bench.one_of, bench.ttnn, bench.grid
    groups = one_of(8, 16, 32, 32)
    channels = one_of(*(TILE * wide for wide in (1, 2, 4, 8, 10, 12, 16, 20, 30, 40) if TILE * wide % groups == 0))
    case: dict[str, Any] = {
        "batch": one_of(1, 1, 2, 4), "rows": TILE * one_of(2, 4, 8, 9, 16, 32, 49, 64, 128), "channels": channels,
        "groups": groups, "grid": [one_of(*range(1, x + 1)), one_of(1, 2, 4, 8)], "num_out_blocks": one_of(1, 2, 3),
        "weights": one_of(True, False), "fp32": one_of(True, False),
    }  # fmt: skip
    setting, value = one_of(
        *(("num_out_blocks", size) for size in (1, 2, 3, 4, 5, 8, 16)),
        *(("grid", [one_of(1, 2, 4, 5, 8), one_of(*range(1, y + 1))]) for _ in range(4)),
    )
    now = {**case, setting: value}
    named: dict[str, Any] = {"core_grid": ttnn.CoreGrid(x=now["grid"][0], y=now["grid"][1])}
    named |= {"num_out_blocks": now["num_out_blocks"], "inplace": False, "num_groups": groups}

    def call(image: Any, *weights: Any) -> Any:
        kernel = bench.kernel(fp32=now["fp32"], packer=False)
        given = dict(zip(("weight", "bias"), weights, strict=False))
        return ttnn.group_norm(image, compute_kernel_config=kernel, **named, **given)

    def operands() -> list[Any]:
        image = bench.tensor(now["batch"], 1, now["rows"], channels)
        wide = (1, 1, channels // TILE, TILE)
        weights = [bench.tensor(*wide, layout="ROW_MAJOR_LAYOUT") for _ in range(2)]
        return [image, *(weights if now["weights"] else [])]

    return bench.trial(Question("group_norm", case, setting, value, operands, call, "GroupNorm"))
