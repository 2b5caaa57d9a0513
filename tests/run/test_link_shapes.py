"""A link is confirmed by sizes: worked out by hand, one operation after the other."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.readers.printed.shapes import Shape
from ttnn_mcp.run.link import Launched, Linked, not_linked
from ttnn_mcp.run.link_shapes import confirmed
from ttnn_mcp.wire import Link


def checked(shown, written, *, launches=None, padded=None, linked=None):
    """The link of rows that show these shapes with operations 1, 2, ... that write those."""
    count = len(shown)
    lines = np.arange(2, 2 + count)
    shapes = np.array(shown)
    output = SimpleNamespace(logical=shapes, padded=shapes if padded is None else np.array(padded))
    performance = SimpleNamespace(ops=SimpleNamespace(lines=lines, outputs=[output]))
    tensors = {number: SimpleNamespace(shape=shape and Shape(shape)) for number, shape in written.items()}
    outputs = SimpleNamespace(of=lambda operation: (operation, 99))  # 99 is not listed
    memory = SimpleNamespace(tensors=SimpleNamespace(get=tensors.get), outputs=outputs)
    operations = tuple(range(1, 1 + count))
    before = linked or Linked(
        Link(status="linked", method="x", matched=count, of=count),
        dict(zip(lines.tolist(), operations, strict=True)),
    )
    return confirmed(before, performance, memory, Launched(launches or operations, (), ())), before


ONE, TWO = [1, 1, 32, 64], [1, 1, 64, 64]


def test_a_link_whose_sizes_fit_stays_as_it_is():
    after, before = checked([ONE, TWO], {1: (32, 64), 2: (64, 64)})
    assert after is before


def test_a_size_may_be_that_of_whole_tiles():
    after, before = checked([[1, 1, 19, 64]], {1: (19, 64)}, padded=[ONE])
    assert after is before
    after, before = checked([[1, 2, 32, 64]], {1: (2, 19, 33)})  # 2 x 32 x 64
    assert after is before


def test_lines_of_other_sizes_are_left_out_up_to_the_half():
    sizes = {1: (32, 64), 2: (32, 64), 3: (64, 64), 4: (64, 64)}
    after, _ = checked([ONE, TWO, TWO, ONE], sizes)
    assert after.operation_at == {2: 1, 4: 3}
    assert (after.link.status, after.link.matched, after.link.of) == ("linked", 2, 4)
    assert after.link.why == "2 ops whose tensors have other sizes are left out, the first at line 3"


def test_from_the_half_on_it_is_another_run():
    after, _ = checked([TWO, TWO, TWO, ONE, ONE], dict.fromkeys(range(1, 6), (32, 64)))
    assert (after.link.status, after.operation_at) == ("not_linked", {})
    assert "line 2 shows no tensor of the size that operation 1 writes, and so with 3 of 5 ops" in after.link.why


def test_three_of_eight_are_left_out():
    after, _ = checked([TWO] * 3 + [ONE] * 5, dict.fromkeys(range(1, 9), (32, 64)))
    assert after.link.matched == 5


@for_all("written", [{}, {2: (64, 64)}, {1: None, 2: (64, 64)}])
def test_an_operation_of_unknown_size_is_not_compared(written):
    after, before = checked([ONE, TWO], written)
    assert after is before


def test_an_operation_of_several_device_ops_is_not_compared():
    after, before = checked([ONE, TWO], {1: (8, 8), 2: (64, 64)}, launches=(1, 1, 2))
    assert after is before


def test_a_row_that_shows_no_size_is_not_refuted():
    after, before = checked([[0, 0, 0, 0], TWO], {1: (32, 64), 2: (64, 64)})
    assert after is before


def test_without_a_link_or_outputs_nothing_is_compared():
    none = not_linked("no reason")
    assert checked([TWO], {1: (32, 64)}, linked=none)[0] is none
    link = Linked(Link(status="linked", method="x", matched=1, of=1), {2: 1})
    performance = SimpleNamespace(ops=SimpleNamespace(lines=np.array([2]), outputs=[]))
    assert confirmed(link, performance, None, Launched((1,), (), ())) is link
