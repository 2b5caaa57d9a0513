"""Texts of rows, each stored once."""

import numpy as np

from ttnn_mcp.readers.performance.frame import TextColumn
from ttnn_mcp.run.ops.texts import Texts, no_texts, texts_of

COLUMN = TextColumn(np.array([2, -1, 0, 2]), ("a", "b", "c"))


def told(texts):
    return [texts[row] for row in range(len(texts))], texts.distinct


def test_a_column_is_taken_as_it_is_or_at_some_rows():
    assert told(texts_of(COLUMN)) == (["c", "", "a", "c"], ("a", "b", "c"))
    assert told(texts_of(COLUMN, np.array([0, 2, 3]))) == (["c", "a", "c"], ("a", "b", "c"))


def test_few_rows_hold_only_their_own_texts():
    assert told(texts_of(COLUMN, np.array([0, 1]))) == (["c", ""], ("c",))
    assert told(texts_of(COLUMN, np.array([0, 2]))) == (["c", "a"], ("a", "c"))
    assert told(texts_of(COLUMN, np.array([1]))) == ([""], ())
    assert told(texts_of(COLUMN, np.array([], dtype=np.int64))) == ([], ())


def test_an_empty_cell_has_no_text():
    texts = Texts(COLUMN.codes, COLUMN.distinct)
    assert texts.where(lambda text: text != "c").tolist() == [False, False, True, False]
    assert texts.among("c", "").tolist() == [True, False, False, True]
    assert told(texts.folded(str.upper)) == (["C", "", "A", "C"], ("A", "B", "C"))
    assert texts.occurring() == ["a", "c"]
    assert told(texts.take(np.array([1, 0])))[0] == ["", "c"]
    assert told(no_texts(2)) == (["", ""], ())
