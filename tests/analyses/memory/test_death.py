"""Whether a run died, by the tables of its report alone."""

import asyncio

from tests.analyses.memory.small_tables import asked, error, memory, operations, real
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.death import Death, death_of, went_wrong
from ttnn_mcp.readers.memory.report import read_memory_report


def died(errors=(), names=("ttnn.a", "ttnn.b"), **more):
    return death_of(memory(operations=operations(*names, **more), errors=tuple(errors)))


def test_an_error_in_the_last_operation_is_a_death():
    assert died([error(2, "ttnn.b", "no room")]) == Death(2, "ttnn.b", "no room")


def test_an_error_that_later_operations_outlived_is_none():
    assert died([error(1, "ttnn.a", "caught")]) is None
    assert died([error(2, "ttnn.b", "no room"), error(1, "ttnn.a", "caught")]) == Death(2, "ttnn.b", "no room")


def test_what_went_wrong_is_an_error_or_an_operation_that_never_ended():
    assert not went_wrong(memory(operations=operations("ttnn.a", "ttnn.b"), errors=()))
    assert went_wrong(memory(operations=operations("ttnn.a", "ttnn.b"), errors=(error(1, "ttnn.a", "caught"),)))
    assert went_wrong(memory(operations=operations("ttnn.a", "ttnn.b", never_ended=(0,)), errors=()))


def test_an_operation_that_the_report_lacks_died_after_the_last_one():
    assert died([error(9, "ttnn.c", "no room")]) == Death(None, "ttnn.c", "no room", 2)
    assert died([error(9, "ttnn.c", "no room")], names=()) == Death(None, "ttnn.c", "no room", None)


def test_the_last_operation_that_never_ended_is_a_death_without_words():
    assert died(never_ended=(1,)) == Death(2, "ttnn.b", "")
    assert died(never_ended=(0,)) is None
    assert died(names=()) is None


@for_all(
    ("names", "never_ended", "kind", "death"),
    [
        (("ttnn.a", "ttnn.b"), (), "RuntimeError", Death(2, "ttnn.b", "why")),
        (("ttnn.b", "ttnn.a", "ttnn.b"), (), "RuntimeError", Death(3, "ttnn.b", "why")),
        (("ttnn.b", "ttnn.b"), (0,), "RuntimeError", None),  # the one that never ended, and another ran after it
        (("ttnn.b", "ttnn.b"), (), "incomplete_operation", Death(None, "ttnn::b", "why", 2)),
        (("ttnn.b", "ttnn.b"), (1,), "incomplete_operation", Death(2, "ttnn.b", "why")),
        (("ttnn.a",), (), "RuntimeError", Death(None, "ttnn::b", "why", 1)),
    ],
)
def test_a_name_alone_means_the_last_operation_of_it(names, never_ended, kind, death):
    assert died([error(None, "ttnn::b", "why", kind)], names, never_ended=never_ended) == death


def test_the_sentence_says_where_and_why_and_no_more():
    assert Death(5, "ttnn.linear", "").sentence == "the run died in operation 5 ttnn.linear"
    assert Death(None, "ttnn.linear", "", 4).sentence == "the run died in ttnn.linear, after operation 4"
    assert Death(None, "ttnn.linear", "").sentence == "the run died in ttnn.linear"
    told = Death(5, "ttnn.linear", "TT_FATAL @ x.cpp:1\ninfo:\nOut of\nMemory\nbacktrace:\n --- y").sentence
    assert told == "the run died in operation 5 ttnn.linear: Out of Memory"


@for_all("name", ["aborted", "cb_clash", "out_of_l1", "views"])
def test_a_real_run_died_where_its_errors_table_says(name):
    folder = real(name)
    errors = asked(folder, "SELECT operation_id, operation_name, error_message FROM errors")
    death = death_of(asyncio.run(read_memory_report(folder)))
    if not errors:
        assert death is None
        return
    ((operation, called, message),) = errors
    assert (death.operation, death.name) == (operation, called)
    assert message.startswith(death.message)
    assert death.message
