"""Which part of a kernel ran alone: by hand on made times, and never more than real reports hold."""

import asyncio

import numpy as np

from tests.asking import session
from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.inside_kernel.kernel_parts import PARTS, KernelParts, kernel_parts_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.ops.op_table import OpTable

KERNEL_NS = 10_000.0
HEADERS = {
    "NCRISC": "DEVICE NCRISC KERNEL DURATION [ns]",
    "BRISC": "DEVICE BRISC KERNEL DURATION [ns]",
    "TRISC0": "DEVICE TRISC0 KERNEL DURATION [ns]",
    "TRISC1": "DEVICE TRISC1 KERNEL DURATION [ns]",
    "TRISC2": "DEVICE TRISC2 KERNEL DURATION [ns]",
    "ERISC": "DEVICE ERISC KERNEL DURATION [ns]",
    "skew": "DEVICE KERNEL FIRST TO LAST START [ns]",
    "fw": "DEVICE FW DURATION [ns]",
    "front": "DEVICE COMPUTE CB WAIT FRONT [ns]",
    "back": "DEVICE COMPUTE CB RESERVE BACK [ns]",
    "max": "DEVICE KERNEL DURATION PER CORE MAX [ns]",
    "avg": "DEVICE KERNEL DURATION PER CORE AVG [ns]",
    "cores": "CORE COUNT",
}


def parts(folder, **times: float) -> KernelParts:
    """Of one op of 10 us on 4 cores with these times."""
    times = {"skew": 100, **times}
    cells = {
        "OP CODE": "UnaryDeviceOperation",
        "OP TYPE": "tt_dnn_device",
        "DEVICE ID": 0,
        "CORE COUNT": 4,
        "DEVICE KERNEL DURATION [ns]": int(KERNEL_NS),
        **{HEADERS[name]: value for name, value in times.items() if value is not None},
    }
    path = folder / "ops_perf_results_made.csv"
    path.write_text(f"{','.join(cells)}\r\n{','.join(map(str, cells.values()))}\r\n")
    return kernel_parts_of(OpTable.of(read_performance_csv(path)))


def bound(folder, **times: float) -> str:
    return parts(folder, **times).bound(0, KERNEL_NS)[0]


@for_all(
    ("times", "expected"),
    [
        ({"NCRISC": 10_000, "BRISC": 4_899}, "reader"),  # alone for 10,000 - 4,899 - 100 = 5,001 ns
        ({"NCRISC": 10_000, "BRISC": 4_900}, "cannot_tell"),  # 5,000 ns: half, not most
        ({"NCRISC": 4_000, "BRISC": 10_000}, "writer"),
        ({"NCRISC": 4_000, "BRISC": 3_000, "TRISC2": 9_950}, "compute"),
        ({"NCRISC": 4_000, "BRISC": 9_950, "TRISC2": 9_950}, "cannot_tell"),
        ({"NCRISC": 4_000, "BRISC": 3_000, "ERISC": 10_000}, "ethernet"),
        ({"NCRISC": 10_000}, "reader"),
        ({"NCRISC": 5_000, "BRISC": 2_000}, "cannot_tell"),  # nobody ran to the end: a part is missing
        ({"NCRISC": 9_897, "BRISC": 2_000}, "cannot_tell"),
        ({"NCRISC": 9_898, "BRISC": 2_000}, "reader"),  # with the skew, the end but for the rounding
        ({"NCRISC": 10_000, "BRISC": 4_000, "skew": None}, "cannot_tell"),  # it may have started late
        ({}, "cannot_tell"),
    ],
)
def test_a_part_is_the_bound_where_it_ran_alone_most_of_the_time(tmp_path, times, expected):
    assert bound(tmp_path, **times) == expected


@for_all(
    ("front", "back", "expected"),
    [
        (4 * 5_001, 0, "reader"),
        (4 * 5_000, 0, "cannot_tell"),
        (0, 4 * 5_001, "writer"),
        (0, 4 * 5_000, "cannot_tell"),
        (4 * 2_000, 4 * 2_899, "compute"),  # 9,800 us at least of 10,000 less 4,899
        (4 * 2_000, 4 * 3_001, "cannot_tell"),
        (0, 0, "cannot_tell"),  # the report writes 0 where nothing was measured
    ],
)
def test_measured_waits_decide_where_all_ran_to_the_end(tmp_path, front, back, expected):
    ran = {"NCRISC": 9_900, "BRISC": 10_000, "TRISC0": 9_900}
    assert bound(tmp_path, **ran, front=front, back=back) == expected


def test_waits_are_those_of_a_core_so_they_need_the_number_of_cores(tmp_path):
    assert bound(tmp_path, NCRISC=9_900, BRISC=10_000, TRISC0=9_900, front=6_000, cores=1) == "reader"
    assert bound(tmp_path, NCRISC=9_900, BRISC=10_000, TRISC0=9_900, front=6_000, cores=0) == "cannot_tell"


def test_without_times_of_processors_that_is_the_reason(tmp_path):
    assert parts(tmp_path).bound(0, KERNEL_NS)[1] == "the report has no times per processor"


def test_waits_of_compute_that_ended_early_do_not_make_it_the_bound(tmp_path):
    assert bound(tmp_path, NCRISC=9_900, BRISC=10_000, TRISC0=3_000, front=4, back=0) == "cannot_tell"


def test_a_part_that_ended_in_the_first_half_is_ruled_out(tmp_path):
    last = {"BRISC": 10_000, "TRISC0": 9_900}
    assert parts(tmp_path, NCRISC=4_899, **last).bound(0, KERNEL_NS)[1].startswith("not reader:")
    assert "waiting" in parts(tmp_path, NCRISC=4_900, **last).bound(0, KERNEL_NS)[1]


def test_what_ended_early_is_told_less_the_start_skew(tmp_path):
    seen = parts(tmp_path, NCRISC=6_000, BRISC=10_000, TRISC0=7_000, TRISC1=300)
    assert dict(zip(PARTS, seen.ended_ns[:, 0].tolist(), strict=True)) == {
        "reader": 3_900,
        "compute": 2_900,
        "writer": 0,
        "ethernet": 0,
    }
    assert seen.alone_ns[:, 0].tolist() == [0, 0, 2_900, 0]


def test_cores_are_as_uneven_as_the_longest_is_above_their_mean(tmp_path):
    seen = parts(tmp_path, NCRISC=10_000, max=9_900, avg=6_000, fw=11_500)
    assert seen.uneven_ns.tolist() == [3_900]
    assert seen.firmware_ns.tolist() == [1_500]
    assert parts(tmp_path, NCRISC=10_000, max=6_000, avg=6_001, fw=9_000).uneven_ns.tolist() == [0]


@for_all("name", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
def test_in_every_real_op_some_processor_runs_to_the_end(tmp_path, name):
    """The inequality that all this rests on: the longest processor's time and the start skew reach the kernel's end."""
    run = asyncio.run(session(tmp_path).run(str(shared(name))))
    ops = run.scope("all").ops
    processors = [ops.numbers(f"{each}_ns") for each in ("ncrisc", "brisc", "trisc0", "trisc1", "trisc2", "erisc")]
    longest = np.nan_to_num(np.stack(processors)).max(axis=0)
    assert (longest + ops.numbers("start_skew_ns") >= ops.numbers("kernel_ns") - 2).all()
    seen = kernel_parts_of(ops)
    assert ((seen.alone_ns > 0).sum(axis=0) <= 1).all()
    assert (seen.alone_ns <= ops.numbers("kernel_ns")).all()
