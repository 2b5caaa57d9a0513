"""Tries settings at random shapes on a mock device, in the format that `tests.real.trials` judges.

    PYTHON -m tests.real.rig.sampled KIND SEED COUNT OUT        within the environment

Every seed gives other shapes and values, so that rules cannot have been fitted to them.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from tests.real.rig.bench import Bench
from tests.real.rig.devices import imported, opened
from tests.real.rig.sampled_caches import chunked, paged
from tests.real.rig.sampled_convs import conv, relaid, sliced
from tests.real.rig.sampled_group_norms import group_norm
from tests.real.rig.sampled_matmuls import banked, minimal, multicast
from tests.real.rig.sampled_others import attention, decode, norm, softmax
from tests.real.rig.sampled_sharded import conv_behind_conv, masked, matmul_on_shards
from tests.real.rig.sampled_shards import between_shards

FAMILIES = (
    conv, relaid, sliced, conv_behind_conv, multicast, banked, minimal, matmul_on_shards, between_shards, attention, masked, decode,
    paged, chunked, norm, group_norm, softmax,
)  # fmt: skip


def main(kind: str, seed: int, count: int, out: Path, *names: str) -> None:
    """Try that many settings of each family, or of the families named."""
    ttnn = imported(kind)
    device = opened(ttnn)
    bench = Bench(ttnn, device, kind, random.Random(f"{kind} {seed}"))  # noqa: S311 - a sample, not a secret
    asked = [family for family in FAMILIES if not names or family.__name__ in names]
    rows = []
    for number in range(count):
        for family in asked:
            sys.stderr.write(f"{family.__name__} {number}\n")
            rows.append(family(bench))
        out.write_text(json.dumps(rows, indent=0))
    ttnn.close_device(device)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]).absolute(), *sys.argv[5:])
