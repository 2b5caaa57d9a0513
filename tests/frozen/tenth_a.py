"""Part of the tenth set, not in any set yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.kokoro import KOKORO
from tests.frozen.phi import PHI
from tests.frozen.phi_mesh import PHI_MESH

if TYPE_CHECKING:
    from tests.frozen.layer import Layer

TENTH_MODELS: dict[str, tuple[Layer, ...]] = {"Phi 3.5 mini": (*PHI, *PHI_MESH), "Kokoro's text encoder": KOKORO}
