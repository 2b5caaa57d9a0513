"""Two frames with the same cells: however few bytes either takes, and wherever it comes from."""

import numpy as np

from ttnn_mcp.readers.performance.frame import TextColumn


def check_same_cells(mine, other, but=()):
    """Fail unless both have the same columns, and in each the same texts or, to the last bit, the same numbers."""
    assert len(mine) == len(other)
    assert list(mine.columns) == list(other.columns)
    for name in set(mine.columns).difference(but):
        assert isinstance(mine.columns[name], TextColumn) == isinstance(other.columns[name], TextColumn), name
        if isinstance(mine.columns[name], TextColumn):
            assert cells(mine.texts(name)) == cells(other.texts(name)), name
        else:
            np.testing.assert_array_equal(mine.numbers(name), other.numbers(name), strict=True, err_msg=name)


def cells(column):
    """The text of each row; None for an empty cell."""
    return [column.distinct[code] if code >= 0 else None for code in column.codes.tolist()]
