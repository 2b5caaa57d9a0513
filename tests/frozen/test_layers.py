import csv
import re
from collections import Counter

import pytest

from tests.for_all import for_all
from tests.frozen import LAYERS, SETS
from tests.frozen.layer import COLD_THEN_WARM
from tests.profiles import write_performance_report

LEVERS = [lever for layer in LAYERS for lever in layer.levers]
COMMIT = re.compile(r"^https://github\.com/[\w.-]+/[\w.-]+/(blob|commit)/[0-9a-f]{40}(/[\w./-]+)?$")
of_each_layer = for_all("layer", LAYERS, ids=lambda layer: layer.id)


def kernel_us(layer, places=None):
    ops = layer.build().device_ops
    return sum(ops[place].kernel_ns for place in (range(len(ops)) if places is None else places)) / 1e3


@for_all(
    "models",
    SETS,
    ids=[f"set {number}" for number in range(1, len(SETS) + 1)],
)
def test_each_meeting_has_enough_dead_ends_and_gains_with_a_figure(models):
    levers = [lever for layers in models.values() for layer in layers for lever in layer.levers]
    kinds = Counter(lever.kind for lever in levers)
    assert set(kinds) == {"gain", "dead"}
    assert kinds["dead"] >= 40
    assert sum(lever.kind == "gain" and lever.saving_us is not None for lever in levers) >= 40


def test_ids_are_unique():
    assert len({layer.id for layer in LAYERS}) == len(LAYERS)
    assert len({lever.id for lever in LEVERS}) == len(LEVERS)
    names = [name for models in SETS for name in models]
    assert [name for name, count in Counter(names).items() if count > 1] == []  # verdicts are kept by name


def test_both_architectures_and_meshes_are_there():
    assert {layer.arch for layer in LAYERS} == {"wormhole_b0", "blackhole"}
    assert {1, 4, 8} <= {layer.devices for layer in LAYERS}


def test_every_source_has_its_commit():
    assert [one.id for one in (*LAYERS, *LEVERS) if not COMMIT.match(one.source)] == []


def test_every_pattern_compiles_and_asks_for_something():
    assert [lever.id for lever in LEVERS if re.compile(lever.names).search("")] == []


def test_every_lever_tells_what_was_measured():
    assert [lever.id for lever in LEVERS if not (lever.what and lever.note and lever.ops)] == []


def test_every_layer_tells_what_was_made_up():
    assert [layer.id for layer in LAYERS if not (layer.made_up and layer.ran and layer.levers)] == []


@of_each_layer
def test_levers_touch_ops_of_the_layer(layer):
    count = len(layer.build().device_ops)
    assert all(0 <= place < count for lever in layer.levers for place in lever.ops)
    assert all(len(set(lever.ops)) == len(lever.ops) for lever in layer.levers)


@of_each_layer
def test_saving_is_no_more_than_its_ops_took(layer):
    for lever in layer.levers:
        if lever.kind == "dead":
            assert lever.saving_us == 0
        elif lever.saving_us is not None:
            assert 0 < lever.saving_us <= kernel_us(layer, lever.ops) * 1.001


@of_each_layer
def test_pass_takes_what_the_source_tells(layer):
    assert 50 < kernel_us(layer) < 500_000
    if layer.pass_us is not None:
        assert kernel_us(layer) == pytest.approx(layer.pass_us, rel=0.05)


@of_each_layer
def test_layer_is_built_alike_each_time(layer):
    first, second = ([op.op_code for op in layer.build().device_ops] for _ in range(2))
    assert first == second


@for_all(
    "layer", LAYERS[::5], ids=lambda layer: layer.id, sampled=4
)  # who judges one (`make check`) counts the ops of each
def test_report_has_a_row_of_each_op_and_device_in_both_passes(layer, tmp_path):
    report = write_performance_report(tmp_path / layer.id, layer.build(), COLD_THEN_WARM)
    with next(report.glob("**/*.csv") if report.is_dir() else iter([report])).open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["DEVICE KERNEL DURATION [ns]"]]
    assert len(rows) == 2 * layer.devices * len(layer.build().device_ops)
    assert all(row["OP CODE"] for row in rows)
