"""`ttnn-mcp archive` at a shell."""

import json

import pytest

from tests.archive.reports import ROWS, report
from tests.for_all import for_all
from ttnn_mcp.archive.adding import Damage
from ttnn_mcp.archive.passes import Outcome
from ttnn_mcp.shell import archive_command
from ttnn_mcp.shell.cli import main


@pytest.fixture
def nightly(tmp_path):
    for day in (1, 2):
        report(tmp_path / "nightly", day, us=40 + day)
    return tmp_path


@pytest.fixture
def shell(nightly, capsys):
    """Runs a command of the archive; returns its status, what it printed and what it said on stderr."""

    def run(*words):
        try:
            status = main(["archive", *map(str, words), "--state", str(nightly / "state")])
        except SystemExit as ended:
            status = ended.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_reports_are_added_listed_and_forgotten(nightly, shell):
    there = nightly / "archive"
    status, out, _ = shell("add", nightly / "nightly", "--to", there, "--label", "small")
    assert status == 0
    assert not (nightly / "state").exists()  # the archive of this machine stays as it is: here there is none
    assert out.startswith(f"2 runs added with {2 * ROWS} ops in ")
    assert out.endswith("; 0 known\n")
    _, out, _ = shell("list", "--in", there, "--json")
    runs = json.loads(out)["runs"]
    assert [run["label"] for run in runs] == ["small", "small"]
    assert runs[0]["recorded_at"] > runs[1]["recorded_at"]
    _, out, _ = shell("list", "--in", there, "--limit", "1")
    assert out.startswith(runs[0]["run_key"][:8])
    assert "2026-01-02" in out
    assert (
        f"  {runs[0]['window_ops']:,} ops  {runs[0]['window_us'] / 1e3:,.3f} ms  " in out
    )  # both of one iteration
    assert runs[0]["window_ops"] < runs[0]["ops"]
    assert "small" in out
    status, out, _ = shell("forget", runs[0]["run_key"][:8], "--in", there)
    assert (status, out) == (0, "1 run removed\n")
    assert shell("list", "--in", there, "--label", "other")[1] == "The archive holds no such run.\n"


def test_damage_has_an_exit_status_of_its_own(nightly, shell):
    (nightly / "nightly" / "ops_perf_results_bad.csv").write_bytes(b"\0\1\2" * 50)
    status, out, _ = shell("add", nightly / "nightly", "--to", nightly / "archive", "--json")
    printed = json.loads(out)
    assert (status, printed["added"], printed["ops"], printed["known"]) == (3, 2, 2 * ROWS, 0)
    assert [damage["report"].endswith("ops_perf_results_bad.csv") for damage in printed["damaged"]] == [True]
    status, out, _ = shell("add", nightly / "nightly", "--to", nightly / "archive")
    assert status == 3
    assert "1 could not be read:\n" in out
    assert "2 known" in out


def test_without_a_place_it_is_the_archive_of_this_machine(nightly, shell):
    on = ("--archive-mb", "5")
    assert shell("add", nightly / "nightly", *on)[0] == 0
    assert (nightly / "state" / "archive").is_dir()
    assert len(json.loads(shell("list", "--json", *on)[1])["runs"]) == 2
    status, _, err = shell("list", "--archive-mb", "0")
    assert status == 1
    assert "switched off" in err


@for_all(
    ("words", "told"),
    [
        (("add", "{}/nightli", "--to", "{}/archive"), "Did you mean nightly?"),
        (("forget", "0123456789", "--in", "{}/archive"), "No run in the archive has the key"),
        (("forget", "0", "--in", "{}/archive"), "No run in the archive has the key"),
        (("add", "{}/nightly", "--label", "a/b"), "no slash"),
        (("add", "{}/nightly", "--jobs", "0"), "from 1 to"),
        (("add", "{}/nightly", "--jobs", "x"), "from 1 to"),
        (("add", "{}/nightly", "--jobs", "1_0"), "from 1 to"),
        (("add", "{}/nightly", "--jobs", "\u0663"), "from 1 to"),
        (("add", "{}/nightly", "--label", " "), "1 to 80 printable"),
        (("add", "{}/nightly", "--label", "a\nb"), "1 to 80 printable"),
        (("ad", "{}/nightly"), "invalid choice"),
    ],
)
def test_a_wrong_word_is_answered_with_what_is_right(nightly, shell, words, told):
    status, out, err = shell(*(word.format(nightly) for word in words))
    assert status in (1, 2)
    assert out == ""
    assert told in err


def test_help_names_the_exit_statuses(shell):
    status, out, _ = shell("add", "--help")
    assert status == 0
    assert "Exit status: 0" in out
    assert "--dask" in out


@pytest.fixture
def passed(monkeypatch):
    """Let a pass over reports come to this outcome; its orders."""
    orders = []

    def comes_to(outcome):
        monkeypatch.setattr(archive_command, "one_pass", lambda order, progress: orders.append(order) or outcome)
        return orders

    return comes_to


@for_all(
    ("count", "more"), [(1, []), (20, []), (21, ["  and 1 more (--json lists all)"])], ids=["one", "screen", "more"]
)
def test_damage_is_listed_as_far_as_a_screen_of_24_lines_shows_it(shell, passed, count, more):
    damaged = [Damage(f"report {number}", "is torn") for number in range(count)]
    passed(Outcome(new=2, ops=1000, damaged=damaged, left=1))
    status, out, _ = shell("add", "x", "--to", "there")
    first, *lines = out.splitlines()
    assert status == 3
    assert first.startswith("2 runs added with 1,000 ops in ")
    assert lines == [
        "1 run left to make room, the oldest first",
        f"{count} could not be read:",
        *(f"  report {number}: is torn" for number in range(min(count, 20))),
        *more,
    ]


def test_what_did_not_happen_is_not_told(shell, passed):
    passed(Outcome(new=1, ops=5, known=7))
    status, out, _ = shell("add", "x", "--to", "there")
    assert (status, out.count("\n")) == (0, 1)
    assert out.endswith("; 7 known\n")


def test_the_bound_of_an_archive_is_in_millions_of_bytes(shell, passed):
    orders = passed(Outcome())
    for words in (("--most-mb", "3"), ()):
        assert shell("add", "x", "--to", "there", *words)[0] == 0
    assert [order.most_bytes for order in orders] == [3_000_000, None]


@for_all(
    ("option", "most", "more"),
    [("--jobs", "256", "257"), ("--label", 80 * "a", 81 * "a")],  # 2 processors x 64 cores x 2 threads
    ids=["jobs", "label"],
)
def test_what_is_written_has_bounds(shell, passed, option, most, more):
    passed(Outcome())
    assert shell("add", "x", "--to", "there", option, most)[0] == 0
    assert shell("add", "x", "--to", "there", option, more)[0] == 2
