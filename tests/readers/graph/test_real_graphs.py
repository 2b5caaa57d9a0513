"""Graphs that TTNN captured: told as the full reading tells them, with as many device ops as TTNN's own count."""

import sqlite3
from contextlib import closing

import pytest

from tests.oracles.captured_graph import parse_captured_graph
from tests.readers.graph.test_graph_memory import agree, read
from tests.real.stored_truth import REAL, folder_of, report_names, truth_of


def graphs_of(name):
    uri = f"{(folder_of(name) / 'db.sqlite').as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return [text for (text,) in connection.execute("SELECT captured_graph FROM captured_graph") if text]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", report_names())
def test_a_real_graph_is_told_as_in_full(name):
    completed = 0
    for text in graphs_of(name):
        agree(text)
        fast, full = read(text), parse_captured_graph(text, operation=7)
        assert [one.name for one in fast.device_ops] == [scope.name for scope in full.device_ops]
        assert [(one.at, one.message) for one in fast.errors] == [(one.at, one.message) for one in full.errors]
        completed += len(fast.completed)
    if folder_of(name).parent.parent == REAL:  # of older TTNN the stored count goes by other nodes
        assert completed == truth_of(name)["device_operations"]
