"""Whole layers of public ledgers, each with what engineers measured: changes that gained, and dead ends.

An acceptance test: no check may be tuned to them, and they may not be tuned to what checks say.
"""

from tests.frozen.ace_step import ACE_STEP
from tests.frozen.allam import ALLAM
from tests.frozen.alphafold2 import ALPHAFOLD2
from tests.frozen.arcee import ARCEE
from tests.frozen.bev import BEV
from tests.frozen.bevformer import BEVFORMER
from tests.frozen.bge_m3 import BGE_M3, BGE_M3_EIGHT
from tests.frozen.bitnet import BITNET
from tests.frozen.boltz import BOLTZ
from tests.frozen.boltz_wormhole import BOLTZ_WORMHOLE
from tests.frozen.chronos import CHRONOS
from tests.frozen.clef import CLEF
from tests.frozen.clm import CLM
from tests.frozen.coder_30b import CODER_30B, CODER_30B_MESH
from tests.frozen.conv_nets import CONV_NETS
from tests.frozen.cosmos import COSMOS
from tests.frozen.cosyvoice import COSYVOICE
from tests.frozen.deepseek_v4 import DEEPSEEK_V4
from tests.frozen.deepseek_v32 import DEEPSEEK_V32
from tests.frozen.deepseek_v41 import DEEPSEEK_V41
from tests.frozen.depth_anything3 import DEPTH_ANYTHING_3
from tests.frozen.diffusion_drive import DIFFUSION_DRIVE
from tests.frozen.diffusion_gemma import DIFFUSION_GEMMA
from tests.frozen.diffvae import DIFFVAE
from tests.frozen.dots_ocr import DOTS_OCR
from tests.frozen.dots_ocr_mesh import DOTS_OCR_MESH
from tests.frozen.dots_ocr_text import DOTS_OCR_TEXT
from tests.frozen.esmc import ESMC
from tests.frozen.esmfold import ESMFOLD
from tests.frozen.evo50 import EVO50
from tests.frozen.falcon3 import FALCON3_7B, FALCON3_10B
from tests.frozen.falcon3_mesh import FALCON3_7B_MESH, FALCON3_10B_MESH
from tests.frozen.fibo import FIBO
from tests.frozen.flash_next import FLASH_NEXT
from tests.frozen.flash_next_line import FLASH_NEXT_LINE
from tests.frozen.flash_next_mesh import FLASH_NEXT_MESH
from tests.frozen.flux2 import FLUX2
from tests.frozen.gaze import GAZE_LLE
from tests.frozen.gemma4_12b import GEMMA4_12B
from tests.frozen.gemma4_31b import GEMMA4_31B
from tests.frozen.gemma4_four import GEMMA4_FOUR
from tests.frozen.gemma4_mesh import GEMMA4_MESH
from tests.frozen.gemma4_pair import GEMMA4_PAIR
from tests.frozen.gemma_canvas import GEMMA_CANVAS
from tests.frozen.glm import GLM
from tests.frozen.glm_47 import GLM_47
from tests.frozen.glm_lite import GLM_LITE
from tests.frozen.gpt_oss import GPT_OSS
from tests.frozen.gpt_oss_120b import GPT_OSS_120B
from tests.frozen.gpt_oss_120b_mesh import GPT_OSS_120B_MESH
from tests.frozen.gpt_oss_demo import GPT_OSS_DEMO
from tests.frozen.granite import GRANITE
from tests.frozen.hunyuan import HUNYUAN
from tests.frozen.inworld import INWORLD
from tests.frozen.janus import JANUS
from tests.frozen.kev import KEV
from tests.frozen.kimi_k3 import KIMI_K3
from tests.frozen.kimi_linear import KIMI_LINEAR
from tests.frozen.kimi_linear_long import KIMI_LINEAR_LONG
from tests.frozen.kokoro import KOKORO
from tests.frozen.laguna import LAGUNA
from tests.frozen.laya import LAYA
from tests.frozen.layer import Layer, Lever
from tests.frozen.llama_1b import LLAMA_1B
from tests.frozen.llama_8b import LLAMA_8B
from tests.frozen.llama_70b import LLAMA_70B
from tests.frozen.ltx import LTX
from tests.frozen.mast3r import MAST3R
from tests.frozen.minimax_h3 import MINIMAX_H3
from tests.frozen.mistral_24b import MISTRAL_24B
from tests.frozen.mistral_medium import MISTRAL_MEDIUM
from tests.frozen.modernbert import MODERNBERT
from tests.frozen.molmo2 import MOLMO2
from tests.frozen.moonvit import MOONVIT
from tests.frozen.motif import MOTIF
from tests.frozen.muse_decode import MUSE_DECODE
from tests.frozen.muse_mesh import MUSE_MESH
from tests.frozen.muse_prefill import MUSE_PREFILL
from tests.frozen.music3 import MUSIC3
from tests.frozen.nemotron import NEMOTRON
from tests.frozen.nomic import NOMIC
from tests.frozen.north import NORTH
from tests.frozen.olmo import OLMO
from tests.frozen.openfold3 import OPENFOLD3
from tests.frozen.orb import ORB
from tests.frozen.ornith_9b import ORNITH_9B
from tests.frozen.ornith_35b import ORNITH_35B
from tests.frozen.phi import PHI
from tests.frozen.phi_mesh import PHI_MESH
from tests.frozen.pi05 import PI05
from tests.frozen.pi05_traced import PI05_TRACED
from tests.frozen.plbert import PLBERT
from tests.frozen.pplx_small import PPLX_SMALL
from tests.frozen.protenix import OPENDDE, PROTENIX
from tests.frozen.qwen3_8b import QWEN3_8B
from tests.frozen.qwen3_32b import QWEN3_32B
from tests.frozen.qwen3_32b_mesh import QWEN3_32B_MESH
from tests.frozen.qwen35_2b import QWEN35_2B
from tests.frozen.qwen36_27b import QWEN36_27B
from tests.frozen.qwen36_a3b import QWEN36_A3B
from tests.frozen.qwen36_four import QWEN36_FOUR
from tests.frozen.qwen38_galaxy import QWEN38_GALAXY
from tests.frozen.qwen38_pair import QWEN38_PAIR
from tests.frozen.qwen_4b import QWEN_4B
from tests.frozen.qwen_38 import QWEN_38
from tests.frozen.qwen_coder import QWEN_CODER
from tests.frozen.qwen_drafter import QWEN_DRAFTER
from tests.frozen.qwen_image_edit import QWEN_IMAGE_EDIT
from tests.frozen.qwen_small import QWEN_SMALL
from tests.frozen.qwen_vision import QWEN_VISION
from tests.frozen.qwen_wormhole import QWEN_WORMHOLE
from tests.frozen.rf_detr import RF_DETR
from tests.frozen.rfd3 import RFD3
from tests.frozen.rosettafold3 import ROSETTAFOLD3
from tests.frozen.sd35 import SD35
from tests.frozen.sdxl import SDXL
from tests.frozen.seamless import SEAMLESS
from tests.frozen.sentence_bert import SENTENCE_BERT
from tests.frozen.solar import SOLAR
from tests.frozen.solar_prefill import SOLAR_PREFILL
from tests.frozen.superpoint import SUPERPOINT
from tests.frozen.uma import UMA
from tests.frozen.vggt import VGGT
from tests.frozen.vibevoice import VIBEVOICE
from tests.frozen.vjepa2 import VJEPA2
from tests.frozen.voxtral import VOXTRAL
from tests.frozen.wan import WAN
from tests.frozen.wan_14b import WAN_14B
from tests.frozen.xtts import XTTS
from tests.frozen.xvla import XVLA
from tests.frozen.z_image import Z_IMAGE

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
SECOND_MODELS: dict[str, tuple[Layer, ...]] = {
    "GLM 4.7 Flash": GLM,
    "Qwen2.5 Coder 32B": QWEN_CODER,
    "Qwen3 4B": QWEN_4B,
    "Qwen3.8 27B": QWEN_38,
    "Llama 3.2 1B": LLAMA_1B,
    "Laguna XS 2.1": LAGUNA,
}
THIRD_MODELS: dict[str, tuple[Layer, ...]] = {
    "Mistral Small 24B": MISTRAL_24B,
    "Qwen3.5 9B, Qwen3.6 27B": QWEN_WORMHOLE,
    "Qwen's vision tower": QWEN_VISION,
    "Qwen's drafter": QWEN_DRAFTER,
    "ModernBERT": MODERNBERT,
}
FOURTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Nomic Embed v2": NOMIC,
    "Motif-3": MOTIF,
    "A speech model's ALBERT": PLBERT,
}
FIFTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "A camera model that sees from above": BEV,
    "Ornith 1.0 35B": ORNITH_35B,
    "Ornith 1.5 9B": ORNITH_9B,
    "Nemotron 3 Nano 30B": NEMOTRON,
    "Stable Diffusion 3.5 Large": SD35,
}
SIXTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Boltz-2": (*BOLTZ, *BOLTZ_WORMHOLE),
    "ESMFold2": ESMFOLD,
    "RFD3": RFD3,
    "Protenix-v2": PROTENIX,
    "OpenDDE": OPENDDE,
    "HunyuanImage-3.0": HUNYUAN,
    "Voxtral TTS": VOXTRAL,
}
SEVENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "MiniMax Music3": MUSIC3,
    "Falcon3 7B": (*FALCON3_7B, *FALCON3_7B_MESH),
    "Falcon3 10B": (*FALCON3_10B, *FALCON3_10B_MESH),
    "Seamless M4T v2": SEAMLESS,
    "VibeVoice 1.5B": VIBEVOICE,
}
EIGHTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "BEVFormer": BEVFORMER,
    "Wan 2.2 TI2V 5B": WAN,
    "Stable Diffusion XL": SDXL,
    "pi0.5": PI05,
    "North Mini Code 1.0": NORTH,
}
NINTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Qwen3 32B": (*QWEN3_32B, *QWEN3_32B_MESH),
    "Qwen3 Coder 30B": (*CODER_30B, *CODER_30B_MESH),
    "XTTS v2": XTTS,
    "GLM 4.7": GLM_47,
    "DeepSeek V4.1 Flash": DEEPSEEK_V41,
}
TENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Phi 3.5 mini": (*PHI, *PHI_MESH),
    "Kokoro's text encoder": KOKORO,
    "Solar Open 100B": (*SOLAR, *SOLAR_PREFILL),
    "BitNet b1.58 2B": BITNET,
}
ELEVENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "GPT-OSS 120B": (*GPT_OSS_120B, *GPT_OSS_120B_MESH),
    "Qwen3.8 Flash Next": (*FLASH_NEXT, *FLASH_NEXT_MESH),
}
TWELFTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Janus-Pro's vision tower": JANUS,
    "MiniMax-H3": MINIMAX_H3,
}
THIRTEENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "dots.ocr": (*DOTS_OCR, *DOTS_OCR_MESH, *DOTS_OCR_TEXT),
    "Mistral Medium 3.5": MISTRAL_MEDIUM,
    "OpenFold3": OPENFOLD3,
}
FOURTEENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Kimi K3": KIMI_K3,
    "Kimi Linear": (*KIMI_LINEAR, *KIMI_LINEAR_LONG),
    "ALLaM 7B": ALLAM,
    "Arcee Spark and AFM": ARCEE,
    "Qwen3 0.6B": QWEN_SMALL,
    "OLMo 3.1 32B": OLMO,
    "sentence-BERT": SENTENCE_BERT,
    "VGG UNet, UFLD v2 and MobileNetV2": CONV_NETS,
    "FIBO": FIBO,
    "Cosmos3": COSMOS,
}
FIFTEENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "ACE-Step 1.5": ACE_STEP,
    "Clef 27B": CLEF,
    "DeepSeek V3.2": DEEPSEEK_V32,
    "DeepSeek V4 Flash": DEEPSEEK_V4,
    "DiffusionDrive": DIFFUSION_DRIVE,
    "ESMC": ESMC,
    "Granite 4.0-H": GRANITE,
    "Inworld TTS": INWORLD,
    "Kev 9B": KEV,
    "Molmo2 8B": MOLMO2,
    "pplx-embed 0.6B": PPLX_SMALL,
    "V-JEPA 2-AC": VJEPA2,
    "Wan 2.1 14B": WAN_14B,
    "Z-Image Turbo": Z_IMAGE,
}
SIXTEENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "BGE-M3, 16 texts": BGE_M3,
    "BGE-M3, 8 texts": BGE_M3_EIGHT,
    "Chronos-2": CHRONOS,
    "CLM v0.1 8B": CLM,
    "DUSt3R, MASt3R": MAST3R,
    "Gaze-LLE": GAZE_LLE,
    "Gemma 4 12B, eight chips": GEMMA4_12B,
    "Gemma 4 26B, four chips": GEMMA4_MESH,
    "Gemma 4 26B, two and four chips": GEMMA4_PAIR,
    "Gemma 4 31B": GEMMA4_31B,
    "LTX-2.3": LTX,
    "LTX-2.5, its decoder": DIFFVAE,
    "MoonViT": MOONVIT,
    "RF-DETR": RF_DETR,
}
SEVENTEENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "Depth Anything 3": DEPTH_ANYTHING_3,
    "Orb-v3": ORB,
    "Qwen3 8B": QWEN3_8B,
    "Qwen3.5 2B": QWEN35_2B,
    "Qwen3.6 35B A3B": QWEN36_A3B,
    "SuperPoint": SUPERPOINT,
    "VGGT": VGGT,
    "X-VLA": XVLA,
}
EIGHTEENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "DiffusionGemma 26B": DIFFUSION_GEMMA,
    "DiffusionGemma 26B, another port": GEMMA_CANVAS,
    "Gemma 4 12B, four chips": GEMMA4_FOUR,
    "pi0.5, one trace": PI05_TRACED,
    "Qwen3.6 27B": QWEN36_27B,
    "Qwen3.6 35B A3B, four chips": QWEN36_FOUR,
    "Qwen3.8 27B, a Galaxy": QWEN38_GALAXY,
}
NINETEENTH_MODELS: dict[str, tuple[Layer, ...]] = {
    "AlphaFold 2": ALPHAFOLD2,
    "GLM 4.7 Flash, a Galaxy": GLM_LITE,
    "GPT-OSS, tt-metal's demo": GPT_OSS_DEMO,
    "Qwen-Image-Edit": QWEN_IMAGE_EDIT,
    "Qwen3.8 27B, two chips": QWEN38_PAIR,
    "Qwen3.8 Flash Next, a line of four": FLASH_NEXT_LINE,
    "RoseTTAFold 3": ROSETTAFOLD3,
    "UMA small": UMA,
}
SETS = (
    MODELS,
    SECOND_MODELS,
    THIRD_MODELS,
    FOURTH_MODELS,
    FIFTH_MODELS,
    SIXTH_MODELS,
    SEVENTH_MODELS,
    EIGHTH_MODELS,
    NINTH_MODELS,
    TENTH_MODELS,
    ELEVENTH_MODELS,
    TWELFTH_MODELS,
    THIRTEENTH_MODELS,
    FOURTEENTH_MODELS,
    FIFTEENTH_MODELS,
    SIXTEENTH_MODELS,
    SEVENTEENTH_MODELS,
    EIGHTEENTH_MODELS,
    NINETEENTH_MODELS,
)
LAYERS = tuple(layer for models in SETS for layers in models.values() for layer in layers)

__all__ = ["LAYERS", "SETS", "Layer", "Lever"]
