"""What earlier runs say of an op: the same work, another run, the same chip and clock; and what the answers quote."""

import pytest

from tests.archive.runs import OP, archive_of, archived, model, remembering, report_of
from tests.asking import ask, session
from tests.checks.programs import prefill
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.wire import bytes_of

HERE, FASTER, SLOWER = model(93), model(61, block=8), model(110, block=16)


def rows(answer):
    table = answer["earlier"]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


@pytest.fixture
def asked(tmp_path):
    """`await asked(subject, *earlier)`: op_detail of the subject's matmul after the earlier programs were archived."""
    at = remembering(tmp_path)

    async def detail(subject, *earlier):
        reports = [
            report_of(tmp_path / f"earlier{day}", each, day=day) for day, each in enumerate(earlier, start=1)
        ]
        await archived(at, *reports)
        return await ask(at, "op_detail", run=str(report_of(tmp_path / "here", subject)), op=OP)

    detail.at = at
    return detail


async def test_op_detail_cites_what_was_faster_and_what_was_slower(asked):
    faster, slower = rows(await asked(HERE, FASTER, SLOWER))
    assert (faster["was"], faster["kernel_us"], faster["settings"]) == ("faster", 61, "in0_block_w=8")
    assert (faster["run"], faster["ops"], faster["runs"]) == ("ops_perf_results_2026_01_02_00_00_00.csv", 4, 1)
    assert (slower["was"], slower["kernel_us"], slower["settings"]) == ("slower", 110, "in0_block_w=16")
    assert {faster["noise_share"], slower["noise_share"]} == {0.02}


async def test_the_engine_is_not_loaded_for_an_archive_without_other_runs(asked, tmp_path, monkeypatch):
    await archived(asked.at, report_of(tmp_path / "same", HERE))
    opened = []
    monkeypatch.setattr(Archive, "connection", lambda _: opened.append("opened"))
    assert "earlier" not in await asked(HERE)
    assert not opened
    await asked(HERE, FASTER)
    assert opened


async def test_a_citation_is_a_cell_of_the_earlier_report(asked, tmp_path):
    (faster,) = rows(await asked(HERE, FASTER))
    lines = (tmp_path / "earlier1" / faster["run"]).read_text().splitlines()
    header, cells = lines[0].split(","), lines[faster["op"] - 1].split(",")
    assert float(cells[header.index("DEVICE KERNEL DURATION [ns]")]) / 1e3 == faster["kernel_us"]


@for_all(
    "earlier",
    [
        model(61, block=8, clock_ghz=0.8),
        model(61, block=8, arch="blackhole", clock_ghz=1.0),
        model(61, block=8, devices=2),
        model(61, block=8, m=2048),
    ],
    ids=["another clock", "another architecture", "another number of devices", "another shape"],
)
async def test_what_is_not_alike_is_never_cited(asked, earlier):
    assert "earlier" not in await asked(HERE, earlier)


async def test_a_clock_within_a_percent_is_the_same(asked):
    assert rows(await asked(HERE, model(61, block=8, clock_ghz=1.005)))


async def test_the_run_that_asks_is_no_earlier_one(asked, tmp_path):
    assert "earlier" not in await asked(HERE, HERE)


async def test_equal_settings_are_cited_as_the_same(asked):
    (again,) = rows(await asked(HERE, model(80)))
    assert (again["was"], again["settings"]) == ("faster", "the same")


async def test_within_the_noise_nothing_is_faster(asked):
    (near,) = rows(await asked(HERE, model(91.5, block=8)))
    assert near["was"] == "alike"


async def test_the_noise_is_that_of_the_noisier_side(asked):
    noisy = [model(us, block=8) for us in (58, 61, 75, 80)]
    (faster,) = rows(await asked(HERE, *noisy))
    assert 0.35 < faster["noise_share"] < 0.5
    assert (faster["was"], faster["runs"], faster["ops"]) == ("alike", 4, 16)


async def test_few_are_cited_and_never_the_faster_alone(asked):
    others = [model(us, block=block) for us, block in ((61, 8), (63, 4), (65, 16), (67, 1), (120, 32))]
    cited = rows(await asked(HERE, *others))
    assert [each["was"] for each in cited] == ["faster", "faster", "slower"]


async def test_op_detail_stays_within_its_bytes(asked):
    answer = await asked(HERE, *(model(us, block=block) for us, block in ((61, 8), (63, 4), (120, 32))))
    assert bytes_of(answer) <= 1_500


async def test_check_setting_says_how_a_value_did_before(asked, tmp_path):
    await asked(HERE, FASTER, SLOWER)
    question = {"run": str(next(tmp_path.glob("here/*.csv"))), "op": OP, "setting": "in0_block_w"}
    better = await ask(asked.at, "check_setting", **question, value=8)
    assert better["earlier"] == (
        "faster, 61.0 us with in0_block_w=8 (ops_perf_results_2026_01_02_00_00_00.csv, line 15); 93.0 here, noise 2%"
    )
    assert (await ask(asked.at, "check_setting", **question, value=16))["earlier"].startswith("slower, 110.0 us")
    assert "earlier" not in await ask(asked.at, "check_setting", **question, value=4)
    every = (await ask(asked.at, "check_setting", **question))["earlier"]
    assert "in0_block_w=8" in every
    assert "in0_block_w=16" in every


def of_prefill(**how):
    program = Program("wormhole_b0")
    program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 512])], kernel_ns=5_000)
    prefill(program, **how)
    return program


async def finding(at, report, check):
    answer = await ask(at, "optimization_check", run=str(report))
    return next(each for each in answer["findings"] if each["check"] == check)


async def test_a_finding_saves_at_least_what_its_change_saved_before(tmp_path):
    at, report = remembering(tmp_path), report_of(tmp_path / "here", of_prefill())
    before = await finding(at, report, "fidelity-above-operands")
    assert before["saving_us"]["at_least"] == 0
    await archived(at, report_of(tmp_path / "a", of_prefill(fidelity="HiFi2", kernel_ns=3_000_000), day=1))
    after = await finding(at, report, "fidelity-above-operands")
    assert after["saving_us"] == {
        "at_least": 4000 - 3000 * 1.02,
        "at_most": before["saving_us"]["at_most"],
        "expected": 1000,
        "interval": [4000 - 3000 * 1.02, 4000 - 3000 * 0.98],
        "basis": "an earlier run",
    }
    assert "3000.0 us with math_fidelity=HiFi2" in after["assumption"]
    assert "4000.0 here, noise 2%" in after["assumption"]
    assert after["evidence"][: len(before["evidence"])] == before["evidence"][:3]
    assert after["evidence"][-1] == {
        "source": "ops_perf_results_2026_01_02_00_00_00.csv",
        "row": 7,
        "column": "DEVICE KERNEL DURATION [ns]",
        "value": 3_000_000,
    }


@for_all(("kernel_ns", "outcome"), [(4_400_000, "was slower before"), (4_010_000, "gained nothing")])
async def test_a_change_that_did_not_help_before_is_doubted(tmp_path, kernel_ns, outcome):
    at, report = remembering(tmp_path), report_of(tmp_path / "here", of_prefill())
    await archived(at, report_of(tmp_path / "a", of_prefill(fidelity="HiFi2", kernel_ns=kernel_ns), day=1))
    doubted = await finding(at, report, "fidelity-above-operands")
    assert doubted["saving_us"]["at_least"] == 0
    assert outcome in doubted["caveat"]


@for_all("other", [{"fidelity": "LoFi"}, {"weights": "BFLOAT4_B"}])
async def test_another_change_than_the_advised_proves_nothing(tmp_path, other):
    at, report = remembering(tmp_path), report_of(tmp_path / "here", of_prefill())
    before = await finding(at, report, "fidelity-above-operands")
    await archived(at, report_of(tmp_path / "a", of_prefill(kernel_ns=3_000_000, **other), day=1))
    assert await finding(at, report, "fidelity-above-operands") == before


async def test_a_finding_on_many_ops_is_raised_by_each_op(tmp_path):
    at, report = remembering(tmp_path), report_of(tmp_path / "here", model(300, block=1))
    await archived(at, report_of(tmp_path / "a", model(150, block=4), day=1))
    raised = await finding(at, report, "matmul-small-blocks")
    assert raised["saving_us"]["at_least"] == pytest.approx(
        sum(300 * (1 + 0.001 * (at % 3)) - 150 * 1.02 for at in range(4)), abs=1.5
    )
    assert raised["saving_us"]["at_least"] < raised["saving_us"]["at_most"]


async def test_an_empty_archive_changes_no_answer(tmp_path):
    report = report_of(tmp_path / "here", model(300, block=1))
    empty, off = remembering(tmp_path / "one"), session(tmp_path / "two")
    assert off.archive is None
    for tool, more in (
        ("optimization_check", {}),
        ("op_detail", {"op": OP}),
        ("check_setting", {"op": OP, "setting": "in0_block_w", "value": 4}),
        ("open_run", {}),
    ):
        answers = [await ask(at, tool, run=str(report), **more) for at in (empty, off)]
        assert answers[0] == answers[1]
    assert archive_of(empty).known() == {}
