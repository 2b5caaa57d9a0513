"""Rows that are not read are told of: those without an id that TTNN counts to, and more devices than there can be."""

from tests.readers.memory.small_reports import TABLES, made
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.stream import read_snapshots

ODD = (-(2**63), -1, 2**40, "what", None)


def tensor(number):
    return number, "Shape([32, 32])", None, None, None, None, None, None


async def test_an_operation_or_tensor_without_a_sensible_id_is_left_out_and_told(tmp_path):
    folder = made(
        tmp_path / "r",
        operations=[(5, "ttnn.add", 0.1), *((odd, "ttnn.odd", 0.1) for odd in ODD), (0, "ttnn.first", 0.1)],
        tensors=[tensor(-7), tensor(3), tensor(2**63 - 1)],
        buffers=[(odd, 0, 64, 100, 1) for odd in (*ODD, 2**48 + 5, 5)],
        input_tensors=[(5, 0, -7), (5, 1, 3)],
    )
    report = await read_memory_report(folder)
    assert (report.operations.ids.tolist(), report.operations.names) == ([0, 5], ("ttnn.first", "ttnn.add"))
    assert report.tensors.ids.tolist() == [3]
    assert report.inputs.of(5) == (-1, 3)
    assert (await read_snapshots(report)).operations.tolist() == [*[-1] * 6, 5]
    assert report.caveats == (
        "left out, because TTNN counts to no such operation_id: rows of operations (5)",
        "left out, because TTNN counts to no such tensor_id: rows of tensors (2)",
    )


async def test_of_more_devices_than_there_can_be_the_first_are_read(tmp_path):
    tables = {**TABLES, "devices": "device_id int"}
    whole = await read_memory_report(made(tmp_path / "a", tables, devices=[(at,) for at in range(2047)]))
    assert (len(whole.devices), whole.caveats) == (2047, ())
    cut = await read_memory_report(made(tmp_path / "b", tables, devices=[(at,) for at in range(2049)]))
    assert len(cut.devices) == 2048
    assert cut.caveats == ("only the first 2048 rows of devices are read",)
