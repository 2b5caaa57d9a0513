"""What a comparison knows of its windows: whether they align, by what they group, which stages moved."""

from types import SimpleNamespace

import numpy as np

from tests.analyses.comparison.test_comparison import run_of
from tests.for_all import for_all
from tests.pairs import Model
from ttnn_mcp.analyses.comparison import comparison as room
from ttnn_mcp.analyses.comparison.batches import Work
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.grouping import Delta
from ttnn_mcp.analyses.comparison.matching_windows import measured
from ttnn_mcp.analyses.comparison.noise import Noise


def made(**known):
    """A comparison of which these properties are known."""
    found = Comparison.__new__(Comparison)
    found.__dict__.update(known)
    return found


def work(ratio=1.0, batch=None):
    return Work(ratio, batch, differs=False, share=0.0)


@for_all(
    ("ops", "alike", "ratio", "little"),
    [
        ((20, 40), 4, 1.0, True),
        ((20, 40), 5, 1.0, False),  # a quarter of the shorter window
        ((40, 20), 5, 1.0, False),
        ((10, 40), 0, 1.0, True),
        ((9, 40), 0, 1.0, False),  # too short for shares
        ((20, 40), 0, 8.0, False),  # another batch has other shapes throughout
    ],
)
def test_windows_have_little_in_common_where_few_ops_have_a_partner(ops, alike, ratio, little):
    aligned = SimpleNamespace(same_shape=np.arange(50) < alike)
    found = made(times=[np.zeros(count) for count in ops], _aligned=aligned, work=work(ratio))
    assert found.little_in_common is little


@for_all(
    ("shared", "told"),
    [
        ((True, False, 1.0), (True, "layers")),
        ((False, False, 1.0), (False, None)),
        ((True, True, 1.0), (False, None)),
        ((True, False, 8.0), (False, "layers")),
    ],
)
def test_windows_align_where_they_are_of_one_model(monkeypatch, shared, told):
    complete, little, ratio = shared
    monkeypatch.setattr(room, "blocks_of", lambda *_: "layers")
    alignment = SimpleNamespace(complete=complete)
    tokens = (SimpleNamespace(name=None), None)
    ops = (SimpleNamespace(of_family=lambda _: None), None)
    found = made(alignment=alignment, little_in_common=little, work=work(ratio), tokens=tokens, _ops=ops)
    assert (found.aligns, found.layers) == told


@for_all(
    ("of", "before_ns", "after_ns"),
    [(work(8.0, (1, 8)), 800.0, 200.0), (work(8.0), 800.0, 200.0), (work(4.0, (2, 8)), 400.0, 200.0)],
)
def test_a_sample_takes_its_share_of_the_window(of, before_ns, after_ns):
    found = made(work=of, times=(np.array([800]), np.array([1_600])))
    assert (found.per_sample.before_ns, found.per_sample.after_ns) == (before_ns, after_ns)
    assert found.per_sample.batch == of.batch
    assert made(work=work()).per_sample is None


def test_ops_are_grouped_by_name_category_layer_or_stage(monkeypatch):
    for name in ("layer_labels", "stage_labels"):
        monkeypatch.setattr(
            room, name, lambda *_, name=name: ([name], [name]) if name == "layer_labels" else [name]
        )
    known = {"_names": (["Matmul"], ["Softmax"]), "layers": None, "alignment": None, "before": None, "after": None}
    found = made(**known, times=(np.array([5]), np.array([7])))
    assert {by: {group.key for group in found.groups(by)} for by in ("op_code", "category", "layer", "stage")} == {
        "op_code": {"Matmul", "Softmax"},
        "category": {"matmul", "softmax"},
        "layer": {"layer_labels"},
        "stage": {"stage_labels"},
    }


def test_stages_of_both_sides_gained_or_lost_by_more_than_the_noise(monkeypatch):
    groups = [
        Delta("prefill", 1_000, 970, 1, 1),
        Delta("decode", 1_000, 1_030, 1, 1),
        Delta("sampling", 1_000, 1_020, 1, 1),
        Delta("encode", 1_000, 980, 1, 1),
        Delta("", 1_000, 500, 1, 1),
        Delta("denoise", 0, 500, 0, 1),
        Delta("other", 500, 0, 1, 0),
    ]
    monkeypatch.setattr(Comparison, "groups", lambda *_: groups)
    found = made(noise=Noise(0.02, "default", ""))
    assert found.stages_moved == (["prefill -3.0%"], ["decode +3.0%"])
    assert [stage.key for stage in found.stages] == ["prefill", "decode", "sampling", "encode"]


def test_an_iteration_beside_its_whole_file_is_not_judged_by_iterations(tmp_path):
    run = run_of(tmp_path, Model(layers=1))
    assert Comparison(measured(run), measured(run, "all")).noise.source == "default"
    assert Comparison(measured(run, 2), measured(run, 3)).noise.source == "iterations"
