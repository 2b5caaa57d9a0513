"""Dumps of a device's memory: made after what TTNN 0.81.1 wrote on a mock n150, and cut to what is read."""

import os

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Program, write_performance_report
from ttnn_mcp.readers.memory_dump import is_dump, refused

DUMP = """\
,DRAM
,Total allocatable (B):,12872318208
FreeListOpt allocator info:
  Size class 17: (134217728 - inf) blocks: 1
Block table:
       Block      Address         Size       PrevID       NextID    Allocated
           0            0       176128         none            1          yes
           1       176128   1072517056            0         none           no
,L1
Block table:
       Block      Address         Size       PrevID       NextID    Allocated
           0      1385120         8192            1         none           no
           1      1381024         4096            2            0          yes
           3      1372832         8192            2            0          yes
           2            0      1372832         none            1           no
,L1_SMALL
,Total allocatable (B):,0
"""
SAID = (
    "p_detailed_memory_usage.csv is a dump of device memory, blocks without tensors; of a bank, DRAM has 176,128 B "
    "taken in 1 block and 1,072,517,056 B free in one piece; L1 has 12,288 B taken in 2 blocks and 1,372,832 B free "
    "in one piece. Give the db.sqlite of a memory report, which tells whose they are."
)


@pytest.fixture
def said(tmp_path):
    def of(text, name="p_detailed_memory_usage.csv"):
        (tmp_path / name).write_text(text)
        return str(refused(tmp_path / name))

    return of


def test_blocks_are_told_by_memory(said):
    assert said(DUMP) == SAID


def test_a_bank_that_is_half_full_is_told(said):
    half = ",L1\n0 0 1000 none none yes\n1 1000 1000 none none no\n"
    assert "L1 has 1,000 B taken in 1 block and 1,000 B free in one piece" in said(half)


def test_of_several_dumps_the_fullest_counts(said):
    """program_detailed_memory_usage.csv has one for each program that was compiled."""
    emptier = (
        DUMP.replace("1          yes", "1           no")
        .replace(",DRAM", "12,DRAM")
        .replace("        8192            2", "        1024            2")
    )
    assert said(DUMP + emptier) == SAID
    assert said(emptier + DUMP) == SAID


@for_all(("more", "read"), [(0, True), (1, False)])
def test_the_first_twenty_megabytes_are_read(said, more, read):
    head, last = ",L1\n", "\n9 0 1000 none none yes"
    text = head + "x" * (20_000_000 - len(head + last) + more) + last
    assert ("L1 has 1,000 B taken in 1 block" in said(text)) == read


@for_all(
    "text",
    [
        "",
        "nothing,here\n",
        ",L1\n0 0 \u0664 1 none yes\n",
        "0 0 8192 1 none yes\n",
        DUMP.replace(",DRAM", ",HBM").replace(",L1\n", ",X\n"),
    ],
)
def test_what_cannot_be_read_is_named_only(said, text):
    assert said(text).startswith(
        "p_detailed_memory_usage.csv is a dump of device memory, blocks without tensors. Give"
    )


def test_summaries_are_named_only(said):
    assert "without tensors. Give" in said(DUMP, "memory_usage_summary.csv")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "detailed_memory_usage.csv")
    assert "blocks without tensors. Give" in str(refused(tmp_path / "detailed_memory_usage.csv"))


def test_only_ttnns_own_names_are_dumps(tmp_path):
    names = (
        "x_l1_usage_summary.csv",
        "memory_usage_summary.csv",
        "detailed_memory_usage.csv",
        "ops_perf_results.csv",
    )
    assert [is_dump(tmp_path / name) for name in names] == [True, True, True, False]


async def test_open_run_says_so_whichever_report_it_was_given_as(tmp_path):
    dump = tmp_path / "p_detailed_memory_usage.csv"
    dump.write_text(DUMP)
    table = str(write_performance_report(tmp_path / "run", Program()))
    at = session(tmp_path)
    for reports in ((str(dump), None), (None, str(dump)), (table, str(dump))):
        with pytest.raises(Exception, match="L1 has 12,288 B taken in 2 blocks"):
            await at.open(*reports)
