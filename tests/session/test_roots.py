"""A confined session opens and names only what lies under its roots, whatever leads out of them."""

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.errors import ReportMissing, RunUnknown, TtnnMcpError, shown
from ttnn_mcp.session.session import Session, Settings


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "secret" / "hidden"
    folder.mkdir(parents=True)
    return write_performance_report(folder, block()).rename(folder / "ops_perf_results_hidden.csv")


@pytest.fixture
def inside(tmp_path):
    folder = tmp_path / "served" / "mine"
    folder.mkdir(parents=True)
    path = write_performance_report(folder, block())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))  # another run than the one outside
    return path


@pytest.fixture
def confined(tmp_path):
    (tmp_path / "served").mkdir(exist_ok=True)
    return Session(Settings(roots=[tmp_path / "served"], confined=True, state=tmp_path / "state"))


async def test_links_out_of_the_roots_are_not_discovered(tmp_path, outside, inside, confined):
    (tmp_path / "served" / "link").symlink_to(outside.parent)
    (tmp_path / "served" / "mine" / "ops_perf_results_zzz.csv").symlink_to(outside)
    found = await confined.runs_under_roots()
    assert all("hidden" not in str(known.performance.resolve()) for known in found)
    listed = await ask(confined, "list_runs")
    assert "secret" not in str(listed)


async def test_a_link_that_is_the_newest_does_not_hide_the_run_inside(tmp_path, outside, inside, confined):
    (tmp_path / "served" / "newest").mkdir()
    (tmp_path / "served" / "newest" / "ops_perf_results.csv").symlink_to(outside)
    assert (await confined.run(None)).performance.csv.path.is_relative_to(tmp_path / "served" / "mine")


async def test_runs_that_others_opened_are_neither_listed_nor_opened_nor_told(tmp_path, outside, inside, confined):
    other = await session(tmp_path).run(str(outside))
    assert len(await session(tmp_path).registry.all()) == 1
    assert await confined.registry.all() == []
    listed = await ask(confined, "list_runs")
    assert listed["total"] == 1
    assert "hidden" not in str(listed)
    for wanted in (other.id, other.name):
        with pytest.raises(RunUnknown) as refusal:
            await confined.run(wanted)
        assert str(tmp_path) not in str(refusal.value)
        assert "secret" not in str(refusal.value)


async def test_the_same_contents_inside_are_opened_though_others_know_them_from_outside(
    tmp_path, outside, confined
):
    other = await session(tmp_path).run(str(outside))
    copy = tmp_path / "served" / "copy.csv"
    copy.write_bytes(outside.read_bytes())
    (tmp_path / "served" / "ops_perf_results.csv").write_bytes(outside.read_bytes())
    assert (await confined.run(other.id)).performance.csv.path.parent == tmp_path / "served"


@for_all(
    "written",
    [
        "{secret}/hidden/ops_perf_results_hidden.csv",
        "{secret}/hidden",
        "{secret}/missing",
        "{served}/../secret/hidden",
        "{served}/link",
        "{served}/link.csv",
        "{served}/link/ops_perf_results_hidden.csv",
        "{served}/chain",
        "{served}/loop",
        "/proc/self/{top}/{secret}/hidden",
        "/proc/1/{top}/etc/passwd",
        "/dev/zero",
        "/",
        "~",
        "../secret/hidden",
    ],
)
async def test_whatever_is_written_leads_nowhere_outside_and_names_nothing_there(
    tmp_path, outside, confined, monkeypatch, written
):
    served = tmp_path / "served"
    monkeypatch.chdir(served)
    (served / "link").symlink_to(outside.parent)
    (served / "link.csv").symlink_to(outside)
    (served / "chain").symlink_to(served / "link")
    (served / "loop").symlink_to(served / "loop")
    path = written.format(top="root", secret=tmp_path / "secret", served=served)
    for attempt in (confined.run(path), confined.open(path, None), confined.open(None, path)):
        with pytest.raises(TtnnMcpError) as refusal:
            await attempt
        told = str(refusal.value).replace(shown(path), "")
        assert "hidden" not in told
        assert "secret" not in told


async def test_a_folder_inside_whose_report_is_a_link_out_is_refused(tmp_path, outside, confined):
    folder = tmp_path / "served" / "folder"
    folder.mkdir()
    (folder / "ops_perf_results.csv").symlink_to(outside)
    with pytest.raises(ReportMissing, match="outside the served roots"):
        await confined.run(str(folder))


async def test_a_root_that_is_itself_a_link_is_served(tmp_path, inside):
    (tmp_path / "alias").symlink_to(tmp_path / "served")
    at = Session(Settings(roots=[tmp_path / "alias"], confined=True, state=tmp_path / "state"))
    assert (await at.run(None)).id == (await at.run(str(tmp_path / "alias" / "mine"))).id
