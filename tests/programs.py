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


LAYERS = 6


def layered(slow_layer: int = 0, slow_ns: int = 20_000) -> Program:
    """An embedding, layers of norm, matmul, unary and add, and a head."""
    program = Program("wormhole_b0")
    x = program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 512])])
    for layer in range(1, LAYERS + 1):
        y = program.op("LayerNormDeviceOperation", [x])
        y = program.op(
            "MatmulDeviceOperation",
            [y, program.weight([1, 1, 512, 512])],
            kernel_ns=slow_ns if layer == slow_layer else 20_000,
            fidelity="HiFi2",
        )
        y = program.op("UnaryDeviceOperation", [y])
        x = program.op("BinaryNgDeviceOperation", [x, y])
    program.op(
        "MatmulDeviceOperation", [x, program.weight([1, 1, 512, 4096])], shape=[1, 1, 32, 4096], fidelity="HiFi2"
    )
    return program
