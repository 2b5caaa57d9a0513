"""Each known failure as tt-metal words it, and what is advised."""

from tests.for_all import for_all
from ttnn_mcp.shell.capture.failures import IN_OUTPUT, OutputWatch
from ttnn_mcp.shell.capture.profiled import again
from ttnn_mcp.shell.capture.target import Build

WORDS = {
    "Tracy tools were not found. Please make sure you are on a Tracy-enabled build (default).": "tools-missing",
    "tracy-csvexport was not found under /opt/bin": "tools-missing",
    "TT_METAL_DEVICE_PROFILER requires a Tracy-enabled build of tt-metal.": "not-a-tracy-build",
    "No profiling data could be captured. Please make sure you are on the correct build.": "not-a-tracy-build",
    "Cannot enable both debug printing and profiling": "conflict",
    "Unexpected FW start, core (1, 2), risc BRISC is reporting a second start of FW for op 7. Other cores might have "
    "their profiler buffer filled up.": "marker-ring",
    "End marker 21508 found without a corresponding start marker": "marker-ring",
    "AssertionError: Device data missing: Op 185344 not present in device perf report for device 0 (trace_id=1)": "trace-not-replayed",
    "AssertionError: Device data missing: Op 1044480 not present in cpp_device_perf_report.csv for device 0 (trace_id=None)": "buffer-full",
    "AssertionError: Device data mismatch: Expected 53396 but received 1213 ops on device 0.": "buffer-full",
    "\x1b[33mProfiler DRAM buffers were full, markers were dropped! device 0\x1b[0m": "buffer-full",
    "Instrumentation failure: Too many source locations.": "too-many-places",
    "Tracy capture tool (tracy-capture) exited with code 1 before writing a trace.": "capture-died",
    "tracy capture output file /a/b.tracy was not generated. Run in verbose (-v) mode": "capture-died",
    "No available port found": "no-port",
    "No device logs found": "no-device-log",
    "ModuleNotFoundError: No module named 'websockets'": "module-missing",
}  # fmt: skip
NEW = Build(
    "0.81.1", frozenset({"--op-support-count", "--dump-device-data-mid-run", "-v"}), joins=True, records_graph=True
)
OLD = Build(None, frozenset({"-v"}), joins=True, records_graph=False)


def heard(line):
    listener = OutputWatch()
    listener.heard(f"2026-01-02 03:04:05.678 | ERROR    | tracy:main:99 - {line}")
    return list(listener.found.values())


@for_all(("line", "name"), WORDS.items())
def test_a_known_failure_is_recognised(line, name):
    assert [failure.name for failure in heard(line)] == [name]


def test_a_module_that_was_only_tried_is_not_the_failure():
    listener = OutputWatch()
    listener.heard("ModuleNotFoundError: No module named 'pyarrow'")
    assert list(listener.found) == ["module-missing"]
    listener.heard("pandas.errors.EmptyDataError: No columns to parse from file")
    assert not listener.found


def test_of_several_modules_the_last_is_what_stopped_it():
    listener = OutputWatch()
    for line in (
        "ModuleNotFoundError: No module named 'tomllib'",
        "During handling of the above exception, another exception occurred:",
        "ModuleNotFoundError: No module named 'tomli'",
        "1 failed in 0.05s",
    ):
        listener.heard(line)
    assert [failure.what for failure in listener.found.values()] == ["Python misses the module tomli."]


def test_every_pattern_is_tried():
    assert len(set(WORDS.values())) == len(IN_OUTPUT)


@for_all(
    "line",
    [
        "1 passed in 0.05s",
        "INFO - Verifying tracy profiling tools",
        "device 0, 12 ops",
        "Tracy capture tool started",
    ],
)
def test_good_output_is_no_failure(line):
    assert heard(line) == []


def test_the_next_command_asks_for_room_for_all_ops():
    (failure,) = heard("Device data mismatch: Expected 53396 but received 1213 ops on device 0")
    assert again(failure, NEW, ["--op-support-count=2000", "-v"], False, ["pytest", "a b.py"]).endswith(
        "profile --tracy=-v --tracy=--op-support-count=67000 -- pytest 'a b.py'"
    )


def test_the_next_command_has_no_option_that_this_tracy_lacks():
    (failure,) = heard("Profiler DRAM buffers were full")
    assert again(failure, OLD, [], True, ["pytest"]).endswith("profile --memory -- pytest")
    assert "ReadDeviceProfiler" in failure.do


def test_the_next_command_leaves_out_variables_that_are_set(monkeypatch):
    (failure,) = heard("Cannot enable both debug printing and profiling")
    monkeypatch.setenv("TT_METAL_DPRINT_CORES", "0,0")
    monkeypatch.delenv("TT_METAL_WATCHER", raising=False)
    assert again(failure, NEW, [], False, ["pytest"]).startswith("env -u TT_METAL_DPRINT_CORES ")


def test_the_report_is_where_tracy_says():
    listener = OutputWatch()
    listener.heard("\x1b[32mINFO\x1b[0m - OPs csv generated at: /a b/ops_perf_results_1.csv\x1b[0m")
    assert listener.report == "/a b/ops_perf_results_1.csv"
