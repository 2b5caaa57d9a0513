"""The catalogue of checks, written by hand, in the order of the skill's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.checks.step1_data_formats import (
    cast_before_attention,
    fidelity_above_operands,
    fidelity_below_operands,
    fp32_accumulation,
    output_wider_than_consumer,
    packer_accumulation_off,
    pcc_below_bound,
    typecast_round_trip,
    wide_activations,
    wide_weights,
)
from ttnn_mcp.checks.step2_layouts import (
    argmax_on_few_cores,
    constant_converted_repeatedly,
    layout_conversion_share,
    one_element_operand,
    repeated_small_ops,
    reshape_not_a_view,
    tile_padding_waste,
    tilize_round_trip,
    tiny_row_reshape,
    topk_on_few_cores,
)
from ttnn_mcp.checks.step3_memory_sharding import (
    hot_operands_in_dram,
    l1_pressure,
    late_free,
    long_lived_l1_tensor,
    low_core_count,
    matmul_operands_in_l1_interleaved,
    matmul_program_config,
    minimal_matmul_on_few_rows,
    norm_on_few_cores,
    placement_round_trip,
    reshard_chain,
    sdpa_small_chunks,
    unfused_attention,
    weights_in_l1,
)
from ttnn_mcp.checks.step4_metal_trace import (
    stalled_on_host,
)
from ttnn_mcp.checks.step5_multi_cq import (
    input_transfer_exposed,
)
from ttnn_mcp.checks.step6_conv2d import (
    act_block_h_below_maximum,
    batch_norm_unfolded,
    conv_activation_unfused,
    conv_cores_idle,
    conv_data_movement,
    conv_double_buffer_off,
    conv_shard_layout_slow,
    conv_sliced_in_dram,
    weights_prepared_every_call,
)
from ttnn_mcp.checks.step7_multi_device import (
    collective_bandwidth,
    collective_share,
    collective_topology,
    device_imbalance,
    duplicate_gather,
)

if TYPE_CHECKING:
    from ttnn_mcp.checks.check import Check

CATALOGUE: tuple[Check, ...] = (
    wide_weights.CHECK,
    fidelity_above_operands.CHECK,
    fidelity_below_operands.CHECK,
    fp32_accumulation.CHECK,
    packer_accumulation_off.CHECK,
    wide_activations.CHECK,
    typecast_round_trip.CHECK,
    output_wider_than_consumer.CHECK,
    cast_before_attention.CHECK,
    pcc_below_bound.CHECK,
    layout_conversion_share.CHECK,
    tilize_round_trip.CHECK,
    constant_converted_repeatedly.CHECK,
    tile_padding_waste.CHECK,
    tiny_row_reshape.CHECK,
    reshape_not_a_view.CHECK,
    repeated_small_ops.CHECK,
    one_element_operand.CHECK,
    topk_on_few_cores.CHECK,
    argmax_on_few_cores.CHECK,
    matmul_operands_in_l1_interleaved.CHECK,
    low_core_count.CHECK,
    norm_on_few_cores.CHECK,
    placement_round_trip.CHECK,
    reshard_chain.CHECK,
    hot_operands_in_dram.CHECK,
    matmul_program_config.CHECK,
    minimal_matmul_on_few_rows.CHECK,
    unfused_attention.CHECK,
    sdpa_small_chunks.CHECK,
    l1_pressure.CHECK,
    late_free.CHECK,
    long_lived_l1_tensor.CHECK,
    weights_in_l1.CHECK,
    stalled_on_host.CHECK,
    input_transfer_exposed.CHECK,
    act_block_h_below_maximum.CHECK,
    conv_double_buffer_off.CHECK,
    conv_shard_layout_slow.CHECK,
    conv_data_movement.CHECK,
    conv_activation_unfused.CHECK,
    batch_norm_unfolded.CHECK,
    conv_sliced_in_dram.CHECK,
    conv_cores_idle.CHECK,
    weights_prepared_every_call.CHECK,
    device_imbalance.CHECK,
    collective_share.CHECK,
    collective_bandwidth.CHECK,
    duplicate_gather.CHECK,
    collective_topology.CHECK,
)
