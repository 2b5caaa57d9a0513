"""Attention that no graph prints enough of; what is modelled is held to captures of TTNN."""

from tests.analyses.from_graph.programs import KERNEL, modelled, tensor
from tests.for_all import for_all

MEMORY = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM)"
GRID = "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),"
SDPA = "SDPAParams(std::nullopt, {}, {}, {}, std::nullopt, std::nullopt, {}, 0, std::nullopt, {}, WindowedMode::None, 0)"
DECODE = "SdpaDecodeParams(1, 0, {{}}, 0.1, std::nullopt, {}, {}, {}, 128, {}, std::nullopt, std::nullopt)"
SQUARE, OF_TOKEN = (
    f"SDPAProgramConfig(<xy_pair>, std::nullopt, {q}, {k}, 0, 16, 1, std::nullopt, 0)"
    for q, k in ((64, 64), (0, 128))
)
X, CACHE, TOKEN = tensor(1, 8, 512, 64), tensor(32, 1, 1024, 128, dtype="b8"), tensor(1, 8, 8, 128)


def config(q, k, most=16):
    return f"SDPAProgramConfig(<xy_pair>, std::nullopt, {q}, {k}, 0, {most}, 1, std::nullopt, 0)"


def sdpa(*inputs, printed=SQUARE, causal=1, window="std::nullopt", grid=GRID):
    attributes = SDPA.format(MEMORY, printed, causal, KERNEL.format(0, 0), window)
    return modelled("SDPAOperation", inputs, X, attributes=attributes, program_config=grid)


def test_attention_over_sequences_is_told_where_its_form_is():
    assert sdpa(X, X, X) is not None
    assert sdpa(X, X, X, window=128) is not None
    assert sdpa(X, X, X, window=128, causal=0) is None
    assert sdpa(X, X, X, grid="") is None  # nobody prints its cores
    assert sdpa(X, X, X, printed="SDPAProgramConfig(<xy_pair>, std::nullopt, 64") is None
    assert sdpa(X, X) is None
    assert modelled("SDPAOperation", [X, X, X], X, attributes="SDPAParams(std::nullopt") is None


def test_latent_attention_reads_values_from_the_keys():
    q, keys, out = tensor(1, 16, 256, 576), tensor(1, 1, 256, 576), tensor(1, 16, 256, 512)
    printed = (
        f"SDPAParams(std::nullopt, {MEMORY}, std::nullopt, 1, std::nullopt, std::nullopt, {KERNEL.format(0, 0)}"
    )
    for told, is_modelled in (("1, 512, std::nullopt", True), ("0, std::nullopt, std::nullopt", False)):
        attributes = f"{printed}, {told}, WindowedMode::None, 0)"
        assert (modelled("SDPAOperation", [q, keys], out, attributes=attributes) is not None) == is_modelled


def joint(operands=6, printed=SQUARE, kernel=(0, 0), grid=GRID):
    attributes = f"JointSDPAParams(rear, 0.125, {MEMORY}, {printed}, {KERNEL.format(*kernel)})"
    return modelled("JointSDPADeviceOperation", [X] * operands, (X, X), attributes=attributes, program_config=grid)


def test_joint_attention_is_told_with_its_chunks_and_cores():
    assert joint() is not None
    unset = [config(0, 64), config(64, 0), config(64, "std::nullopt")]
    assert [joint(printed=printed) for printed in unset] == [None] * 3
    assert joint(operands=3) is None
    assert joint(kernel=(1, 0)) is None
    assert joint(grid="") is None


def decode(*inputs, printed=OF_TOKEN, latent="std::nullopt", grid=GRID):
    attributes = DECODE.format(MEMORY, printed, KERNEL.format(0, 0), latent)
    return modelled("SdpaDecodeDeviceOperation", inputs, TOKEN, attributes=attributes, program_config=grid)


def test_attention_of_a_token_is_told_with_its_cores():
    assert decode(TOKEN, CACHE, CACHE) is not None
    assert decode(TOKEN, CACHE, CACHE, latent=1) is None
    assert decode(TOKEN, CACHE) is None
    assert decode(TOKEN, CACHE, CACHE, grid="") is None
    assert decode(TOKEN, CACHE, CACHE, printed=config(0, 128, 1), grid="") is not None  # no cores share a head
    assert decode(TOKEN, CACHE, CACHE, printed="std::nullopt", grid="") is not None  # all of the chip
    assert modelled("SdpaDecodeDeviceOperation", [TOKEN] * 3, TOKEN, attributes="SdpaDecodeParams(1") is None


@for_all(("most", "bytes_per_core"), [(1, 187_392), (2, 193_536)])
def test_cores_do_not_matter_where_none_share_a_head(most, bytes_per_core):
    grids = [f"SDPAProgramConfig(compute_with_storage_grid_size=(x={x},y={y})," for x, y in ((8, 8), (4, 4))]
    q, cache = tensor(1, 4, 8, 128), tensor(32, 1, 1024, 128)
    printed = config(0, 128, most)
    assert {decode(q, cache, cache, printed=printed, grid=grid) for grid in grids} == {bytes_per_core}
