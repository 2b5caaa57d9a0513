"""Columns that are asked for one row: by id, and nothing where the report does not say."""

import numpy as np

from ttnn_mcp.readers.memory.columns import Coded, Device, Operations, TensorLinks, Tensors
from ttnn_mcp.readers.printed.shapes import Shape

NOTHING = Coded(np.array([-1, -1]), ())


def device(**told):
    fields = dict.fromkeys(Device.__dataclass_fields__)
    return Device(**{**fields, "id": 0, **told})


def test_a_row_is_found_by_its_id_and_no_other():
    operations = Operations(np.array([2, 5, 9]), ("a", "b", "c"), np.zeros(3))
    assert [operations.row(one) for one in (2, 5, 9)] == [0, 1, 2]
    assert [operations.row(one) for one in (1, 3, 10)] == [None, None, None]


def test_a_tensor_is_told_as_far_as_the_report_says():
    tensors = Tensors(
        ids=np.array([3, 7]),
        shapes=Coded(np.array([0, -1]), (Shape((32, 64)),)),
        dtypes=Coded(np.array([0, -1]), ("BFLOAT16",)),
        layouts=NOTHING,
        placements=NOTHING,
        devices=np.array([0, -1]),
        addresses=np.array([64, -1]),
        buffers=np.array([1, -1]),
        size_bytes=np.array([4096, -1]),
    )
    known, silent = tensors.get(3), tensors.get(7)
    assert (known.shape, known.dtype, known.layout) == (Shape((32, 64)), "BFLOAT16", None)
    assert (known.device, known.address, known.buffer, known.size_bytes) == (0, 64, "L1", 4096)
    assert (silent.shape, silent.device, silent.address, silent.buffer, silent.size_bytes) == (None,) * 5
    assert tensors.get(4) is None


def test_links_are_those_of_one_operation():
    links = TensorLinks(np.array([1, 1, 4]), np.array([8, 9, 10]))
    assert [links.of(one) for one in (1, 2, 4, 5)] == [(8, 9), (), (10,), ()]


def test_l1_small_is_what_a_bank_lacks():
    assert device(cb_limit_bytes=1000, l1_bank_bytes=900).l1_small_bytes == 100
    assert device(cb_limit_bytes=900, l1_bank_bytes=1000).l1_small_bytes == 0
    assert device(cb_limit_bytes=1000).l1_small_bytes is None
    assert device(l1_bank_bytes=1000).l1_small_bytes is None
