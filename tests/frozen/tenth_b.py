"""Models of a tenth set from ledgers outside TTNN's own repository; not yet in a set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.bitnet import BITNET
from tests.frozen.glm4_attention import GLM4_ATTENTION
from tests.frozen.solar import SOLAR
from tests.frozen.solar_prefill import SOLAR_PREFILL

if TYPE_CHECKING:
    from tests.frozen.layer import Layer

TENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Solar Open 100B": (*SOLAR, *SOLAR_PREFILL),
    "BitNet b1.58 2B": BITNET,
    "GLM 4, attention": GLM4_ATTENTION,  # a used model by another ledger
}
