"""Pipes and endless devices where reports are expected: each door says so, and none waits for them."""

import json
import os
import subprocess
import sys
from threading import Timer

import pytest

from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.readers.discover import DATABASE, DEVICE_LOG
from ttnn_mcp.readers.manifest import NAME as MANIFEST

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
SECONDS = 60  # each of the commands takes a tenth of one


def zeros(path):
    path.symlink_to("/dev/zero")


SPECIALS = (os.mkfifo, zeros)


# One process for all commands of a test: to start one takes 0.3 s. It is another than the test's, which can end it.
SHELL = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from ttnn_mcp.shell import cli
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = cli.main(json.loads(line))
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture
def asked(tmp_path):
    shell = subprocess.Popen(
        [sys.executable, "-c", SHELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )

    def run(*words):
        late = Timer(SECONDS, shell.kill)
        late.start()
        print(json.dumps([*map(str, words), "--state", str(tmp_path / "state")]), file=shell.stdin, flush=True)
        answer = shell.stdout.readline()
        late.cancel()
        assert answer, f"no answer in {SECONDS} s, or a traceback above"
        status, out, err = json.loads(answer)
        assert "Traceback" not in err
        return status, out, err

    yield run
    with shell:
        shell.stdin.close()
        assert shell.wait(SECONDS) == 0


@pytest.fixture
def reports(tmp_path):
    """A sound report in a folder, beside which others are planted."""
    return write_performance_report(tmp_path / "reports" / "sound", block()).parent.parent


def test_the_list_of_runs_leaves_them_out(asked, reports):
    for number, special in enumerate(SPECIALS):
        for name in (f"ops_perf_results_2{number}.csv", DATABASE):
            (reports / f"{number}" / name).mkdir(parents=True)
            special(reports / f"{number}" / name / name)
    assert asked("runs", "--root", reports)[0] == 0
    assert json.loads(asked("call", "list_runs", "--root", reports)[1])["total"] == 1


def test_the_archive_names_them_and_keeps_the_others(asked, reports):
    for number, special in enumerate(SPECIALS):
        special(reports / f"ops_perf_results_2{number}.csv")
    status, out, err = asked("archive", "add", reports, "--to", reports.parent / "archive")
    assert "1 run" in out, (status, err)
    for number in range(len(SPECIALS)):
        assert f"ops_perf_results_2{number}.csv" in out + err
    assert "not a regular file" in out + err


def test_a_run_asked_by_its_id_when_one_took_its_place(asked, reports):
    [report] = reports.rglob("ops_perf*.csv")
    status, out, _ = asked("call", "open_run", f"performance={report}")
    run = json.loads(out)["id"]
    for special in SPECIALS:
        report.unlink()
        special(report)
        for words in (
            ("call", "list_ops", f"run={run}"),
            ("call", "open_run", f"performance={report}"),
            ("ops", report),
        ):
            status, out, err = asked(*words)
            assert status == 1
            assert "regular file" in err
    assert asked("runs")[0] == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("special", SPECIALS, ids=["pipe", "device"])
def test_what_lies_beside_a_report_is_read_as_if_it_were_not_there(asked, reports, special):
    [report] = reports.rglob("ops_perf*.csv")
    for name in (DEVICE_LOG, MANIFEST, "cluster_descriptor.yaml", "config.json"):
        (report.parent / name).unlink(missing_ok=True)
        special(report.parent / name)
    for words in (("call", "open_run", f"performance={report}"), ("check", report)):
        assert asked(*words)[0] == 0
