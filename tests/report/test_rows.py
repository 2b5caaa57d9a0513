"""Which ops a page shows: all, or those of the critical device where all are too many."""

from types import SimpleNamespace

from tests.asking import session
from tests.for_all import for_all
from tests.pairs import Model, write
from ttnn_mcp.report import rows
from ttnn_mcp.tools import answering
from ttnn_mcp.tools.tool import OfWindow

ANY = OfWindow.model_construct(run=None)


@for_all(("count", "device"), [(50_000, None), (50_001, 3)])
def test_a_page_shows_fifty_thousand_ops_at_most(monkeypatch, count, device):
    """As resources/report.md tells."""
    asked = []
    monkeypatch.setattr(
        rows.list_ops,
        "list_ops",
        lambda _, arguments: asked.append(arguments) or SimpleNamespace(spoken=dict),
    )
    rows.ops_of(SimpleNamespace(scope=SimpleNamespace(ops=range(count), critical_device=3)))
    assert [(each.limit, each.device, each.sort) for each in asked] == [(50_000, device, "order")]


async def test_the_kinds_are_those_of_the_device_that_the_others_wait_for(tmp_path):
    facts = answering.window_asked(await session(tmp_path).run(write(tmp_path / "run", Model(devices=2))), ANY)
    told = rows.window_rows(facts)
    assert sum(row[1] for row in told.kinds["groups"]["rows"]) == len(told.ops["ops"]["rows"]) / 2


async def test_ops_outside_the_layers_have_no_layer(tmp_path):
    facts = answering.window_asked(await session(tmp_path).run(write(tmp_path / "run", Model())), ANY)
    told = rows.window_rows(facts)
    assert len(told.layers) == len(told.stages) == len(told.ops["ops"]["rows"])
    assert sorted({each for each in told.layers if each is not None}) == [1, 2, 3, 4]
    assert told.layers[-1] is None  # the head
    counted = told.layers.count(1)
    assert counted == told.layers.count(4) == 10


async def test_a_run_without_layers_has_none(demo_answers):
    assert demo_answers.layer_of_op == [None] * len(demo_answers.ops["ops"]["rows"])
