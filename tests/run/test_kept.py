"""Results stored with a run are found by their type, and the first one stored is the one everybody gets."""

from ttnn_mcp.run.kept import Kept


class Figure(float):
    """A result."""


def test_a_result_is_found_by_its_type_and_key():
    kept = Kept()
    assert kept.get(Figure) is None
    figure, other = Figure(1), Figure(2)
    assert kept.store(figure) is figure
    assert kept.store(other, "window") is other
    assert kept.get(Figure) is figure
    assert kept.get(Figure, "window") is other
    assert kept.get(float) is None
    assert kept.holds("Figure")
    assert not kept.holds("float")


def test_the_first_result_stays():
    kept = Kept()
    first = kept.store(Figure(1))
    assert kept.store(Figure(2)) is first
