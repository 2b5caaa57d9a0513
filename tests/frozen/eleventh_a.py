"""Part A of an eleventh set: models that no earlier set has; not yet judged."""

from tests.frozen.flash_next import FLASH_NEXT
from tests.frozen.flash_next_mesh import FLASH_NEXT_MESH
from tests.frozen.gpt_oss_120b import GPT_OSS_120B
from tests.frozen.gpt_oss_120b_mesh import GPT_OSS_120B_MESH
from tests.frozen.layer import Layer

ELEVENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "GPT-OSS 120B": (*GPT_OSS_120B, *GPT_OSS_120B_MESH),
    "Qwen3.8 Flash Next": (*FLASH_NEXT, *FLASH_NEXT_MESH),
}
