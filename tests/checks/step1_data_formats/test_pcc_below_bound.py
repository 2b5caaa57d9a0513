"""An op misses its PCC bound; the claim itself is held by tests/analyses/memory/test_accuracy.py."""

import sqlite3
from contextlib import closing

from tests.checks.asking import case_of_reports
from tests.profiles import write_run
from tests.programs import block


def test_a_run_without_comparisons_is_not_applicable(check):
    assert check.ask(block()).status == "not_applicable"
    assert "enable_comparison_mode" in check.ask(block(), memory="3.3").why


def test_ttnns_own_verdict_is_the_line(check, tmp_path):
    def compared(matches):
        made = write_run(tmp_path / f"matches{matches}", block())
        with closing(sqlite3.connect(made.memory)) as database, database:
            database.execute(
                "INSERT INTO local_tensor_comparison_records"
                " (tensor_id, golden_tensor_id, matches, desired_pcc, actual_pcc)"
                " SELECT tensor_id, 0, ?, 0.99, 0.98 FROM output_tensors LIMIT 1",
                (matches,),
            )
        return case_of_reports(made.performance, made.memory)

    check.pair(compared, silent=1, fires=0)
