"""Whole layers of public ledgers, each with what engineers measured: changes that gained, and dead ends.

An acceptance test: no check may be tuned to them, and they may not be tuned to what checks say.
"""

from tests.frozen.cosyvoice import COSYVOICE
from tests.frozen.evo50 import EVO50
from tests.frozen.flux2 import FLUX2
from tests.frozen.gpt_oss import GPT_OSS
from tests.frozen.laya import LAYA
from tests.frozen.layer import Layer, Lever
from tests.frozen.llama_8b import LLAMA_8B
from tests.frozen.llama_70b import LLAMA_70B
from tests.frozen.muse_decode import MUSE_DECODE
from tests.frozen.muse_mesh import MUSE_MESH
from tests.frozen.muse_prefill import MUSE_PREFILL

MODELS: dict[str, tuple[Layer, ...]] = {
    "Muse": (*MUSE_DECODE, *MUSE_PREFILL, *MUSE_MESH),
    "Llama 3.1 8B": LLAMA_8B,
    "Llama 3.3 70B": LLAMA_70B,
    "GPT-OSS": GPT_OSS,
    "LAYA": LAYA,
    "EVO 50": EVO50,
    "FLUX.2": FLUX2,
    "CosyVoice": COSYVOICE,
}
LAYERS = tuple(layer for layers in MODELS.values() for layer in layers)

__all__ = ["LAYERS", "MODELS", "Layer", "Lever"]
