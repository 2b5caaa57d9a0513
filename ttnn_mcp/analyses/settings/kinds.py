"""The settings of an op by its kind."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.settings.conv import ConvSettings, conv_in, l1_of
from ttnn_mcp.analyses.settings.group_norms import GroupNormSettings, group_norm_in
from ttnn_mcp.analyses.settings.matmul import MatmulSettings
from ttnn_mcp.analyses.settings.matmul_printed import printed_matmul
from ttnn_mcp.analyses.settings.norms import NormSettings, norm_in
from ttnn_mcp.analyses.settings.sdpa import SdpaSettings, attention_in
from ttnn_mcp.analyses.settings.trial import Op, OpSettings
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.run.ops.op_names import canonical, family

NORMS = ("LayerNorm", "Softmax", "GroupNorm")
OPERANDS = 2  # the least number of inputs of such an op; a norm has one


def settings_of(op: Op, safe_bytes: float) -> OpSettings:
    """The settings of an op. A config that we suggest for a matmul takes at most `safe_bytes` of L1.

    Raises:
        QuestionRefused: it has no setting that can be judged.
    """
    code = op.table.texts("op_code")[0]
    kind, name = family(code), canonical(code)
    normed = name in NORMS
    if kind not in ("conv", "matmul", "attention") and not normed:
        raise QuestionRefused(
            f"{shown(name)} has no setting judged here: ask about a Conv2d, matmul or attention op, or a norm."
        )
    if len(op.table.inputs) < (1 if normed else OPERANDS) or not op.table.outputs:
        raise QuestionRefused(
            "This report has no operand columns, so no setting can be judged. Profile again with tracy -r."
        )
    if not (op.table.inputs[0].present[0] and op.table.outputs[0].present[0]):
        raise QuestionRefused("The report does not show what this op read and wrote, so no setting can be judged.")
    if any(one.present[0] and np.isnan(one.element_bytes[0]) for one in (*op.table.inputs, *op.table.outputs)):
        raise QuestionRefused(
            "A tensor of this op has no data type whose size is known, so no setting can be judged."
        )
    if name == "GroupNorm":
        return GroupNormSettings(op, group_norm_in(op))
    if normed:
        return NormSettings(op, norm_in(op))
    if kind == "attention":
        return SdpaSettings(op, attention_in(op))
    if kind == "matmul":
        return MatmulSettings(op, printed_matmul(op, safe_bytes))
    conv = conv_in(op)
    if conv is None:
        raise QuestionRefused(
            "This conv's ATTRIBUTES hold no block_config, so its L1 cannot be modelled. Profile with a tt-metal "
            "of 2025 or later."
        )
    return ConvSettings(op, conv)


def modelled_as_it_ran(op: Op, safe_bytes: float) -> int | None:
    """Bytes per core of the buffers of an op with the config that its row prints; None without model or config."""
    try:
        settings = settings_of(op, safe_bytes)
    except QuestionRefused:
        return None
    if isinstance(settings, ConvSettings):
        return sum(l1_of(settings.conv, settings.conv).buffers.values()) or None
    tries = (settings.tried(name, value).ran for name in settings.takes for value in settings.choices(name))
    return next((ran[0] for ran in tries if ran is not None), None)
