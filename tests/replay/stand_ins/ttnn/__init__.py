"""A recording stand-in for TTNN: a matmul of any config, whose time, result and manners a test writes into STAND_IN.

STAND_IN is JSON: per in0_block_w ("chosen" without a config) a list of times in us, one per round, or "refuse", "die",
"kill", "torn" (killed while it writes its answer), "hang", "wrong", "short" and "nan" (its result is of another size, or no
number). What a build may lack is there where it is told: `graph` are the programs of a call, each with its bytes of
buffers, `trace` the times of a call in a traced replay, one per round, and `l1` what lies in L1; "blind" is a build
without profiler. `other_us` are the times of a call's other programs, `lost` the rounds of which a program is lost,
`processes` is a file that counts the processes of the sweep: `slower` are factors of their times, `mhz` their clocks.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import torch

__version__ = "0.0.stand-in"
MANNERS = json.loads(os.environ.get("STAND_IN", "{}"))
LOGGING = ("TT_METAL_DEVICE_PROFILER", "TT_METAL_PROFILER_MID_RUN_DUMP", "TT_METAL_PROFILER_CPP_POST_PROCESS")
KERNEL = "DEVICE KERNEL DURATION [ns]"
calls = []  # what was asked for, in order
operands = []  # what was put on the device
clock = [0.0]  # seconds that traced replays took
_launched, _ended, _read, _rounds, _captured, _traced = [], [], [], [], [], []
_slower = [1.0]


class Named:
    """Any name of TTNN: called, it keeps what it was given."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        return Named(f"{self.name}.{name}")

    def __call__(self, *given, **named):
        return SimpleNamespace(kind=self.name, given=given, **named)


class Device:
    def arch(self):
        return "Arch.WORMHOLE_B0"

    def compute_with_storage_grid_size(self):
        return SimpleNamespace(x=8, y=7)

    def clear_program_cache(self):
        calls.append("clear")


def open_device(device_id, **sizes):
    assert device_id == 0, sizes
    calls.append(f"open {sizes}")
    if "processes" in MANNERS:
        with Path(MANNERS["processes"]).open("a") as file:
            file.write(".")
        number = Path(MANNERS["processes"]).stat().st_size
        _slower[:] = MANNERS.get("slower", [])[number - 1 :][:1] or [1.0]
        if "mhz" in MANNERS:
            log = Path(os.environ["TT_METAL_PROFILER_DIR"], "logs", "profile_log_device.csv")
            log.parent.mkdir()
            log.write_text(f"ARCH: x, CHIP_FREQ[MHz]: {MANNERS['mhz'][number - 1]}, cores: 64\n")
    return Device()


def close_device(device):
    calls.append("close")


def set_fabric_config(config):
    calls.append(config.name)


def open_mesh_device(shape, **sizes):
    calls.append(f"mesh {shape.given}")
    return Device()


def close_mesh_device(device):
    calls.append("close mesh")


def from_torch(value, **kind):
    operands.append((value, {*kind}))
    return value


def zeros(shape, **kind):
    operands.append((None, {*kind}))
    return torch.Tensor([0.0] * 8, shape)


def empty(shape, **kind):
    return torch.Tensor([], shape)


def to_torch(value):
    return value


def get_memory_view(device, buffer):
    return SimpleNamespace(**MANNERS["l1"])


def matmul(a, b, program_config, **named):
    manner = MANNERS[str(program_config.in0_block_w) if program_config else "chosen"]
    calls.append("call")
    if manner == "refuse":
        raise RuntimeError("TT_FATAL: no\ninfo:\n \nit must divide K\nbacktrace:\n --- here")
    if manner == "die":
        sys.stderr.write("it fell over\n \n")
        sys.stderr.flush()
        os._exit(3)
    if manner == "hang":
        time.sleep(60)
    if manner in ("kill", "torn"):
        if manner == "torn":
            Path(sys.argv[sys.argv.index("--answer") + 1]).write_text('{"outcome": "measu')
        os.kill(os.getpid(), signal.SIGKILL)
    times = manner if isinstance(manner, list) else MANNERS["wrong_us"]
    is_traced = bool(_traced) and _traced[-1]["open"]
    if is_traced:
        _traced[-1]["calls"] += 1
    for name, size in ({} if is_traced else MANNERS.get("graph", {"MatmulDeviceOperation": 0})).items():
        _run(name, size, times if "matmul" in name.lower() else MANNERS["other_us"])
    result = b if manner == "wrong" else a @ b
    result = type(a)({"nan": [float("nan")] * 8, "short": [1.0]}.get(str(manner), result.numbers), (1, 1, 256, 512))
    result.memory_config = lambda: named["memory_config"].name
    return [result, None] if "several" in MANNERS else result


def _run(name, size, times):
    if _captured:
        _captured[-1].append({"node_type": "function_start", "params": {"name": name, "program_factory_type": "x"}})
        buffer = {"size": size, "core_range_set": "{[0-0 - 7-6]}"}
        _captured[-1].append({"node_type": "circular_buffer_allocate", "params": buffer})
    _launched.append(times)


def synchronize_device(device):
    _ended.extend(_launched)
    _launched.clear()


def ReadDeviceProfiler(device):  # noqa: N802 - TTNN's name
    _read[:] = _ended
    _rounds.extend([len(_ended)] * bool(_ended))
    _ended.clear()


def get_latest_programs_perf_data():
    """Of two chips, the second of which is the slower; the programs of each in no order, and one that was not timed."""
    if any(os.environ.get(name) != "1" for name in LOGGING):
        return None
    number = max(len(_rounds) - 2, 0)  # the first were warm
    programs = _read[1:] if number in MANNERS.get("lost", []) and len(_rounds) > 1 else _read
    none = [SimpleNamespace(program_analyses_results=results) for results in (None, {})]
    return {
        chip: [
            *none,
            *(_program(place, times[number % len(times)] * share) for place, times in _backwards(programs)),
        ]
        for chip, share in ((0, 0.5), (1, 1.0))
    }


def _backwards(programs):
    return reversed([*enumerate(programs)])


def _program(place, us):
    timed = SimpleNamespace(duration=us * 1e3 * _slower[0], start_timestamp=place)
    return SimpleNamespace(program_analyses_results={KERNEL: timed})


class Graph:
    RunMode = SimpleNamespace(NO_DISPATCH="dry", NORMAL="wet")

    def begin_graph_capture(self, mode):
        assert not _captured
        calls.append(mode)
        _captured.append([])

    def end_graph_capture(self):
        return _captured.pop()


def begin_trace_capture(device, cq_id):
    calls.append("trace")
    _traced.append({"open": True, "calls": 0, "rounds": 0})
    return len(_traced) - 1


def end_trace_capture(device, trace, cq_id):
    _traced[trace]["open"] = False


def execute_trace(device, trace, cq_id, blocking):
    one, times = _traced[trace], MANNERS["trace"]
    assert blocking
    assert not one["open"]
    calls.append("replay")
    clock[0] += times[one["rounds"] % len(times)] * one["calls"] / 1e6
    one["rounds"] += 1


def release_trace(device, trace):
    calls.append("release")


graph = Graph()
LACKING = {
    *(["begin_trace_capture"] if "trace" not in MANNERS else []),
    *(["graph"] if "graph" not in MANNERS else []),
    *(["get_memory_view"] if "l1" not in MANNERS else []),
    *(["get_latest_programs_perf_data"] if "blind" in MANNERS else []),
}
for name in LACKING:
    del globals()[name]


def __getattr__(name):
    if name in LACKING:
        raise AttributeError(name)
    return Named(name)
