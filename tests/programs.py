"""Small programs many tests share."""

from tests.profiles import Program, height_sharded


def block(devices: int = 1, layers: int = 2) -> Program:
    """Tilize, then per layer matmul, relu and a reshard; no two layers alike in shape."""
    program = Program("wormhole_b0", devices=devices)
    x = program.tensor([1, 1, 64, 64])
    for layer in range(1, layers + 1):
        w = program.weight([1, 1, 64 * layer, 64 * (layer + 1)])
        y = program.op(
            "MatmulDeviceOperation",
            [x, w],
            call="ttnn.linear",
            shape=[1, 1, 64, 64 * (layer + 1)],
            fidelity="HiFi2",
            kernel_ns=20_000 * layer,
        )
        x = program.op("UnaryDeviceOperation", [y], call="ttnn.relu", kernel_ns=4_000, gap_ns=1_500)
    program.op(
        "InterleavedToShardedDeviceOperation",
        [x],
        call="ttnn.to_memory_config",
        kernel_ns=3_000,
        placement=height_sharded(32, 64 * (layers + 1), (2, 1)),
    )
    return program
