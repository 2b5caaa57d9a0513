"""Pipes and endless devices where reports are expected: each door says so, and none waits for them."""

import json
import os
import subprocess
import sys

import pytest

from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.readers.discover import DATABASE, DEVICE_LOG
from ttnn_mcp.readers.manifest import NAME as MANIFEST

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
SECONDS = 60  # each of the commands takes two


def zeros(path):
    path.symlink_to("/dev/zero")


SPECIAL = pytest.mark.parametrize("special", [os.mkfifo, zeros], ids=["pipe", "device"])


@pytest.fixture
def asked(tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "ttnn_mcp", *map(str, words), "--state", str(tmp_path / "state")]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=tmp_path, check=False)
        assert "Traceback" not in ran.stderr
        return ran.returncode, ran.stdout, ran.stderr

    return run


@pytest.fixture
def reports(tmp_path):
    """A sound report in a folder, beside which others are planted."""
    return write_performance_report(tmp_path / "reports" / "sound", block()).parent.parent


@SPECIAL
def test_the_list_of_runs_leaves_them_out(asked, reports, special):
    for name in ("ops_perf_results_2.csv", DATABASE):
        (reports / name).mkdir()
        special(reports / name / name)
    assert asked("runs", "--root", reports)[0] == 0
    assert json.loads(asked("call", "list_runs", "--root", reports)[1])["total"] == 1


@SPECIAL
def test_the_archive_names_them_and_keeps_the_others(asked, reports, special):
    special(reports / "ops_perf_results_2.csv")
    status, out, err = asked("archive", "add", reports, "--to", reports.parent / "archive")
    assert "1 run" in out, (status, err)
    assert "ops_perf_results_2.csv" in out + err
    assert "not a regular file" in out + err


@SPECIAL
def test_a_run_asked_by_its_id_when_one_took_its_place(asked, reports, special):
    [report] = reports.rglob("ops_perf*.csv")
    status, out, _ = asked("call", "open_run", f"performance={report}")
    run = json.loads(out)["id"]
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


@SPECIAL
def test_what_lies_beside_a_report_is_read_as_if_it_were_not_there(asked, reports, special):
    [report] = reports.rglob("ops_perf*.csv")
    for name in (DEVICE_LOG, MANIFEST, "cluster_descriptor.yaml", "config.json"):
        (report.parent / name).unlink(missing_ok=True)
        special(report.parent / name)
    for words in (("call", "open_run", f"performance={report}"), ("check", report)):
        assert asked(*words)[0] == 0
