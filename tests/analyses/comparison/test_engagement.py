"""Of how many ops alike a change took hold, in which layers, and on which lines it did not."""

import pytest

from tests import lies
from tests.analyses.comparison.test_comparison import opened, run_of
from tests.pairs import Model
from tests.profiles import DRAM, Iteration, Program, height_sharded, write_performance_report
from tests.shared_reports import CLIP, shared
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.engagement import engaged_of
from ttnn_mcp.analyses.comparison.matching_windows import like_windows
from ttnn_mcp.analyses.comparison.places import LayersReached

LAYERS = 6
PASSES = (Iteration(cold=True), Iteration(), Iteration(kernel_scale=1.001))


def encoder(reached, **change):
    """Six layers of norm, matmul, relu, matmul, add, with a change to the first matmul of some of them."""
    program = Program()
    x = program.tensor([1, 1, 256, 256])
    for layer in range(1, LAYERS + 1):
        changes = change if layer in reached else {}
        h = program.op("LayerNormDeviceOperation", [x], fidelity="HiFi4", kernel_ns=9_000)
        weight = program.weight([1, 1, 256, 1024], changes.get("weights", "BFLOAT16"))
        config = f"MatmulProgramConfig(in0_block_w={changes.get('block', 2)};per_core_M=4)"
        fused = "relu" if changes.get("fused") else None
        h = program.op(
            "MatmulDeviceOperation",
            [h, weight],
            shape=[1, 1, 256, 1024],
            fidelity=changes.get("fidelity", "HiFi4"),
            placement=changes.get("placement", DRAM),
            cores=changes.get("cores", 64),
            attributes={"program_config": config, "user_fused_activation": fused},
            kernel_ns=changes.get("kernel_ns", 50_000),
        )
        if not fused:
            h = program.op("UnaryDeviceOperation", [h], placement=DRAM, kernel_ns=5_000)
        w = program.weight([1, 1, 1024, 256])
        down = program.op(
            "MatmulDeviceOperation",
            [h, w],
            shape=[1, 1, 256, 256],
            fidelity="HiFi4",
            placement=DRAM,
            cores=64,
            kernel_ns=40_000,
        )
        x = program.op("BinaryNgDeviceOperation", [down, x], kernel_ns=4_000)
    x = program.op("SoftmaxDeviceOperation", [x], kernel_ns=2_000)
    program.op("UnaryDeviceOperation", [x], kernel_ns=2_000)
    return program


@pytest.fixture
def engaged(tmp_path):
    def between(before, after):
        paths = (
            write_performance_report(tmp_path / name, made, PASSES) for name, made in (("a", before), ("b", after))
        )
        return engaged_of(Comparison(*like_windows(*map(opened, paths))))

    return between


CHANGES = {
    "data type": ({"weights": "BFLOAT8_B"}, "in1 BFLOAT16 -> BFLOAT8_B"),
    "fidelity": ({"fidelity": "LoFi"}, "fidelity HiFi4 -> LoFi"),
    "placement": ({"placement": height_sharded(32, 1024, (8, 1))}, "out0 DRAM_INTERLEAVED -> L1_HEIGHT_SHARDED"),
    "config": ({"block": 8}, "program_config.in0_block_w"),
    "cores": ({"cores": 32}, "cores 64 -> 32"),
    "fusion": ({"fused": True}, "Matmul + Unary -> Matmul"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("missing", [(), (1,), (1, 6), (2, 3, 4, 5, 6)])
def test_a_change_of_any_kind_is_counted_over_the_layers(engaged, kind, missing):
    change, what = CHANGES[kind]
    reached = {*range(1, LAYERS + 1)} - {*missing}
    of_matmul = [
        one for one in engaged(encoder(()), encoder(reached, kernel_ns=30_000, **change)) if one.op == "Matmul"
    ]
    found = next(one for one in of_matmul if what in one.what)
    assert found.kind == kind
    assert (found.took, found.of) == (len(reached), LAYERS)
    assert found.layers == LayersReached(len(reached), LAYERS, missing)
    assert len(found.missing) == len(missing)


def test_the_ops_it_missed_are_named_by_their_lines(engaged):
    [found] = engaged(encoder(()), encoder({1, 2, 4, 5}, weights="BFLOAT8_B"))
    window = 2 * (5 * LAYERS + 2) + 2  # the third pass begins there; the header is line 1
    assert found.missing == tuple(window + 5 * (layer - 1) + 1 for layer in (3, 6))


def test_ops_that_had_it_before_are_neither_reached_nor_missed(engaged):
    [found] = engaged(encoder({1, 2}, weights="BFLOAT8_B"), encoder({1, 2, 3, 4}, weights="BFLOAT8_B"))
    assert (found.took, found.of) == (2, 4)
    assert found.layers == LayersReached(2, 4, (5, 6))


def test_a_config_that_some_had_before_is_not_missing_there(engaged):
    [found] = engaged(encoder({1, 2}, block=8), encoder({1, 2, 3, 4}, block=8))
    assert (found.took, found.of, found.layers.missing) == (2, 4, (5, 6))


def test_another_matmul_of_the_layer_is_not_alike(engaged):
    """The matmul back has other shapes: it is not among the six."""
    [found] = engaged(encoder(()), encoder({1}, weights="BFLOAT8_B"))
    assert found.of == LAYERS


def test_an_insertion_is_counted_over_the_places_alike(tmp_path):
    runs = run_of(tmp_path / "a", Model()), run_of(tmp_path / "b", Model(reshard_in=3))
    first = engaged_of(Comparison(*like_windows(*runs)))[0]
    assert (first.kind, first.op, first.what, first.took, first.of) == ("added", "Reshard", "Reshard new", 1, 4)
    assert first.layers.missing == (1, 2, 4)


def test_a_trace_is_counted_over_the_window(tmp_path):
    recorded = (Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2)))
    paths = [
        write_performance_report(tmp_path / name, encoder(()), passes)
        for name, passes in (("a", PASSES), ("b", recorded))
    ]
    [found] = engaged_of(Comparison(*like_windows(*map(opened, paths))))
    assert (found.kind, found.took, found.of, found.missing) == ("trace", 32, 32, ())


def test_nothing_changed_is_nothing_engaged(engaged):
    assert engaged(encoder(()), encoder(())) == []


def test_weights_of_a_real_encoder_that_reached_two_of_its_layers(tmp_path):
    honest = lies.clip(shared(CLIP))
    rows = honest.changed()
    for number, row in enumerate(rows):
        if honest.widens(row) and honest.layer[number % 936] not in {4, 17}:
            row["INPUT_1_DATATYPE"] = "BFLOAT16"
    after = lies.store(tmp_path / "after.csv", rows)
    [found] = engaged_of(Comparison(*like_windows(opened(honest.path), opened(after))))
    assert (found.kind, found.op, found.took, found.of) == ("data type", "MinimalMatmul", 2, 32)
    assert found.layers.took == 2
    assert len(found.layers.missing) == 30
